#pragma once
// Where the numbers of a series of systems live: on the host, or on a GPU.

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/lu/gpu_lu.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/direct/supernodal/front_refactor.hpp"

namespace ilux {

/// A system with the matrix that is refactored: on a GPU one launch can do both.
template <Scalar S>
struct SystemToSolve {
    std::span<const S> b;  ///< n
    std::span<S>       x;  ///< n
};

/// Values of one system after another, factors by given pivots, and solutions. It alone knows where they are, and moves
/// them. Policy (which pivots, when new ones) is Lu's.
template <Scalar S>
class LuNumbers {
public:
    LuNumbers(Cpu& be, std::shared_ptr<const LuSymbolic> symbolic);

    /// Factors by one sequence of pivots.
    class Factors {
    public:
        /// @param chosen  by gilbert_peierls, on the host
        explicit Factors(LuFactors<S> chosen) : host_(std::move(chosen)) {}

        const LuPattern&    pattern() const { return *host_.pattern; }
        const auto&         shared_pattern() const { return host_.pattern; }
        const PivotMonitor& monitor() const { return host_.monitor; }
        bool                by_fronts() const { return host_.fronts != nullptr; }
        const auto&         fronts() const { return host_.fronts; }
        bool        on_gpu() const { return on_gpu_; }  ///< the last numbers are there, and solutions come from there
        std::size_t bytes() const;
        std::size_t device_bytes() const { return gpu_ ? gpu_->bytes() : 0; }

    private:
        friend class LuNumbers;
        mutable LuFactors<S>            host_;  ///< pattern and monitor always; numbers where on_host_
        std::optional<CpuRefactor<S>>   refactor_ = {};
        std::optional<FrontRefactor<S>> front_refactor_ = {};
        GpuLuFactorsPtr<S>              gpu_ = {};
        bool                            on_gpu_ = false;
        mutable bool                    on_host_ = true;
    };

    /// From now on values are kept on the GPU, too, and factors are renewed there.
    /// @throws InvalidOption when options.refactor is cpu; OutOfMemory, DeviceError
    void use_gpu(Gpu& gpu);
    bool on_gpu() const { return gpu_ != nullptr; }
    /// Values and factors are of the host again. Not while there are factors on the GPU.
    void leave_gpu();
    /// "cpu", or the method of a GPU; "none" where there is a GPU and `factors` is null or has not been there.
    std::string_view method(const Factors* factors) const;

    std::span<S> next_values();  ///< where the next system's values may be written
    void         upload_next();  ///< begins to bring them to the GPU, if there is one
    /// They become values(). Costs no copy where they were written to next_values().
    /// @param there  the same on the GPU; none: they are brought
    void take(std::span<const S> values, DeviceSpan<const S> there = {});
    /// next_values() ← values that are on the GPU. @throws InvalidInput without one, or for another number of values
    void               copy_next(DeviceSpan<const S> values);
    std::span<const S> values() const { return values_; }
    MatrixView<S>      matrix() const;  ///< the caller's pattern with values()

    /// Makes what refactor() needs for these pivots, if it is not there.
    void prepare(Factors& factors);
    /// Brings numbers just chosen on the host to where refactor() leaves them. They stay on the host where a pivot
    /// becomes 0 by rounding in the GPU's order.
    void settle(Factors& factors);
    /// Numbers and monitor of values() by these pivots.
    /// @param system  solved by the same launch on a GPU; may be null
    /// @return the refinement of its x where it was solved
    /// @param stop  asked by fronts on the host; then the monitor says so
    /// @throws OutOfMemory, and InvalidInput for fronts that are too large, where pivots come to a GPU for the first
    /// time
    std::optional<RefineReport> refactor(Factors& factors, const SystemToSolve<S>* system, const StopToken& stop = {});
    /// Numbers of values() by fronts, pivots chosen within each. Scales are of these values.
    /// On a GPU from the beginning, where there is one.
    /// @throws OutOfMemory, on the host with the prediction where they would pass the analysis's memory_limit; nothing
    /// is allocated then; InvalidInput for fronts that are too large for a GPU
    Factors by_fronts(std::shared_ptr<const FrontPlan> plan, const LuOptions& options, const StopToken& stop);

    /// val, f_val and monitor; those of a GPU are brought by the first call, which no other thread's may meet.
    const LuFactors<S>& on_host(const Factors& factors) const;

    /// x ← A⁻¹ b or A⁻ᵀ b, refined, for as many right-hand sides as b holds, on the host. Serves several threads at
    /// once, each with its own backend and workspace, once on_host() was called. @return what the worst right-hand side
    /// reached
    RefineReport solve_on_host(Cpu& be, const Factors& factors, std::span<const S> b, std::span<S> x,
                               LuWorkspace<S>& ws, Transpose transpose) const;
    /// The same where the factors are. Where the GPU's measure is above `tolerance`, the host has the last word.
    RefineReport solve(Factors& factors, std::span<const S> b, std::span<S> x, LuWorkspace<S>& ws, Transpose transpose,
                       double tolerance);

    /// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b, refined, where b, x and the factors are on the GPU. @return what was reached; nothing
    /// where the factors are not there
    std::optional<RefineReport> solve_on_gpu(Factors& factors, DeviceSpan<const S> b, DeviceSpan<S> x,
                                             Transpose transpose);
    /// values() on the GPU; none without one.
    DeviceSpan<const S> device_values() const { return gpu_ ? gpu_->current_on_device() : DeviceSpan<const S>(); }

    std::size_t device_bytes() const { return gpu_ ? gpu_->bytes() : 0; }

private:
    void require_room(const FrontRefactor<S>& refactoring);

    Cpu                               be_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    GpuLuPtr<S>                       gpu_;
    std::vector<S>                    own_values_;  ///< without a GPU
    std::span<const S>                values_;
    std::vector<RefineReport>         reached_;  ///< on a GPU, by right-hand side
};

}  // namespace ilux
