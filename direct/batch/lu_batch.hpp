#pragma once
// Systems of one pattern, A_m x_m = b_m, by one sequence of pivots: many together on a GPU, or one by one on a host
// thread.

#include <memory>
#include <optional>
#include <span>

#include "ilux/direct/batch/gpu_batch_solver.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// On a GPU a member is a lane (GpuLuBatch), and room() of them are worked on together. On the host it is one member,
/// by one thread, with the bits of CpuRefactor, lu_solve and lu_refine; threads have a LuBatch each. A singular member,
/// or one that holds NaN, harms itself only. Which pivots are good enough is for the caller to say, by the monitors.
template <Scalar S = double>
class LuBatch {
public:
    /// @param gpu  null: the host; else it must outlive this
    /// @param members  that are wanted together, at least 1  @param most_bytes  that this may take, of the GPU or of
    /// the host
    /// @throws OutOfMemory where not even the least fits: 32 members on a GPU, one on the host; InvalidInput where a
    /// GPU
    ///         cannot count their factors, or has no thread block clusters; DeviceError for complex values and a GPU
    /// Cost: on the host CpuRefactor's plan, on a GPU the programs of GpuLuBatch.
    LuBatch(Gpu* gpu, std::shared_ptr<const LuSymbolic> symbolic, std::shared_ptr<const LuPattern> pattern,
            Index members, std::size_t most_bytes);

    Index room() const { return gpu_ ? gpu_->room() : 1; }  ///< members together, at most
    bool  on_gpu() const { return gpu_ != nullptr; }

    /// Factors of as many members as `done` has, at most room().
    /// @param values  member after member, each in the caller's order; to stay until the last solve  @param done  out:
    /// .monitor
    /// @throws InvalidInput when the number of values is another
    void refactor(std::span<const S> values, std::span<BatchMember> done);
    /// x_m ← A_m⁻¹ b_m, refined, for the members of the last refactor. x of one with a bad column is of no use.
    /// @param done  in: as refactor left it; out: .refine  @throws InvalidInput when lengths disagree
    void solve(std::span<const S> b, std::span<S> x, std::span<BatchMember> done);
    /// x_m ← A_m⁻¹ b_m for the same members, without refinement.
    void substitute(std::span<const S> b, std::span<S> x);

    std::size_t bytes() const { return host_ ? host_->bytes() : 0; }       ///< of the host
    std::size_t device_bytes() const { return gpu_ ? gpu_->bytes() : 0; }  ///< of the GPU

private:
    /// One member.
    struct Host {
        LuFactors<S>   factors;
        CpuRefactor<S> refactor;
        LuWorkspace<S> ws;

        std::size_t bytes() const { return factors.bytes() + refactor.bytes() + ws.bytes(); }
        bool        usable() const { return factors.monitor.bad_column < 0; }
    };
    void require_vectors(std::size_t count, std::span<const S> b, std::span<S> x) const;

    Cpu                               one_thread_{1};
    std::shared_ptr<const LuSymbolic> symbolic_;
    std::optional<Host>               host_;
    GpuBatchSolverPtr                 gpu_;
    std::span<const S>                values_;     // of the last refactor
    std::size_t                       count_ = 0;  // members of it
};

}  // namespace ilux
