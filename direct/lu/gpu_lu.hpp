#pragma once
// L and U by given pivots on a GPU: numbers, and refined solutions.

#include <array>
#include <memory>
#include <vector>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/gpu/gpu_refactor.hpp"
#include "ilux/direct/lu/lu_factored.hpp"
#include "ilux/direct/solve/gpu_lu_refine.hpp"

namespace ilux {

/// Right-hand sides, their solutions, and what refinement needs.
template <Scalar S>
struct GpuLuVectors {
    GpuLuVectors() = default;
    explicit GpuLuVectors(std::size_t size) : host_b(size), host_x(size), b(size), x(size), r(size), d(size) {}

    HostBuffer<S>   host_b, host_x;
    DeviceBuffer<S> b, x, r, d;
};

/// Vectors and residuals of the systems of one pattern. Serves one host thread at a time.
template <Scalar S = double>
class GpuLuWorkspace final : public LuDevice<S> {
public:
    static constexpr std::size_t most_together = 64;  ///< bounds the memory, the host's that is page-locked above all

    GpuLuWorkspace(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic);

    std::unique_ptr<LuFactored<S>> hold(LuFactors<S>& chosen, const Cpu& host) override;
    std::size_t                    bytes() const override;

    Gpu&             gpu() { return gpu_; }
    GpuLuVectors<S>& vectors(std::size_t count) { return count == 1 ? one_ : several_; }
    GpuResidual<S>&  residual(Transpose transpose);
    /// How many of `count` right-hand sides can be worked on together; there is room for them then.
    std::size_t make_room(GpuSubstitution<S>& solve, GpuResidual<S>& residual, std::size_t count);
    /// Refines x of `count` systems, which are vectors(count).x. @param measured  their residuals are there, and known
    /// @param finish  as gpu_refine has it
    template <class Finish>
    void refine(GpuSubstitution<S>& solve, GpuResidual<S>& residual, const S* values, bool measured, std::size_t count,
                Finish&& finish);
    /// refine(), and x reach host_x, for which this waits. @param measured  they are there, too
    void refine_for_host(GpuSubstitution<S>& solve, GpuResidual<S>& residual, const S* values, bool measured,
                         std::span<RefineReport> reports);

private:
    Gpu&                                           gpu_;
    std::shared_ptr<const LuSymbolic>              symbolic_;
    GpuLuVectors<S>                                one_, several_;  // graphs know those of one: they stay in place
    std::array<std::unique_ptr<GpuResidual<S>>, 2> residual_;       // of A and Aᵀ
    std::vector<GpuRefined>                        going_;
};

/// Factors, and what solves with them; a refactorization is a launch of a graph, and so is one with its solution.
template <Scalar S = double>
class GpuLu final : public LuFactored<S> {
public:
    /// Does what LuDevice::hold says.
    GpuLu(GpuLuWorkspace<S>& ws, LuFactors<S>& chosen, const Cpu& host);

    bool             of_gpu() const override { return true; }
    bool             on_gpu() const override { return on_gpu_; }
    std::string_view method() const override { return numbers_->method(); }
    std::size_t      device_bytes() const override;

    /// Waits, as all below.
    void refactor(const SystemValues<S>& values, const StopToken& stop) override;
    /// Refactors, solves and measures in one launch, and refines further where that is needed.
    std::optional<RefineReport> refactor_and_solve(const SystemValues<S>& values, std::span<const S> b, std::span<S> x,
                                                   const StopToken& stop) override;
    /// The numbers stay on the host where a pivot becomes 0 by rounding in this order.
    void settle(const SystemValues<S>& values) override;

    /// All of them together, up to most_together and to what half of the free memory holds; each has the bits it has
    /// alone. Allocates when more come together than before. The host solves for those whose backward error is above
    /// `tolerance`, or would have to be scaled to be measured.
    RefineReport solve(const LuHost<S>& host, const SystemValues<S>& values, std::span<const S> b, std::span<S> x,
                       Transpose transpose, double tolerance) override;
    /// Its x is complete when the stream is there.
    std::optional<RefineReport> solve(const SystemValues<S>& values, DeviceSpan<const S> b, DeviceSpan<S> x,
                                      Transpose transpose) override;
    const LuFactors<S>&         on_host() const override;

private:
    PivotMonitor run(const SystemValues<S>& values);
    template <class Enqueue>
    void                launch(GpuGraph& graph, const Enqueue& enqueue);
    GpuSubstitution<S>& substitution(Transpose transpose, bool filled = true);
    void solve_there(const SystemValues<S>& values, std::span<const S> b, std::span<S> x, Transpose transpose);

    GpuLuWorkspace<S>&                                 ws_;
    std::unique_ptr<GpuRefactor<S>>                    numbers_;
    std::array<std::unique_ptr<GpuSubstitution<S>>, 2> solve_;                        // with A and Aᵀ
    std::array<bool, 2>                                filled_ = {};                  // with the last numbers
    std::array<GpuGraph, 2>                            refactor_graph_, step_graph_;  // by slot of the values
    std::vector<RefineReport>                          reached_;                      // by right-hand side
    bool                                               on_gpu_ = false;
    mutable bool                                       on_host_ = true;
};

}  // namespace ilux
