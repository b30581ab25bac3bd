#pragma once
// Values, right-hand sides and solutions of a batch on a GPU: factors by given pivots, refined solutions.

#include <memory>
#include <span>
#include <vector>

#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/batch/gpu_lu_batch.hpp"
#include "ilux/direct/solve/gpu_lu_refine.hpp"
#include "ilux/direct/solve/refine_loop.hpp"

namespace ilux {

/// What became of a member of a batch.
struct BatchMember {
    PivotMonitor monitor;
    RefineReport refine;  ///< of its x; not finite where the monitor has a bad column
};

/// Serves one host thread at a time.
class GpuBatchSolver {
public:
    /// Costs the programs of GpuLuBatch, once for the pivots.
    /// @param gpu      must outlive this
    /// @param members  that are wanted together  @param most_bytes  of the device that all of it may take
    /// @throws as GpuLuBatch, and OutOfMemory where too little of the host's memory can be locked
    GpuBatchSolver(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic, std::shared_ptr<const LuPattern> pattern,
                   Index members, std::size_t most_bytes);

    Index room() const { return batch_.members(); }  ///< members at most, as many as fit

    /// Factors of as many members as `done` has, at most room(); waits.
    void refactor(std::span<const double> values, std::span<BatchMember> done);
    /// x_m ← A_m⁻¹ b_m for the members of the last refactor, refined as lu_refine does; allocates nothing but a few
    /// numbers.
    void solve(std::span<const double> b, std::span<double> x, std::span<BatchMember> done);
    /// Solves for as many members as b holds, without refinement.
    void substitute(std::span<const double> b, std::span<double> x);

    std::size_t bytes() const;  ///< on the device

    static constexpr std::size_t most_locked_bytes = std::size_t{1}
                                                     << 29;  ///< of the host, unless 32 members need more

private:
    DeviceSpan<double> used(DeviceBuffer<double>& of, std::size_t count) { return DeviceSpan<double>(of).first(count); }
    void               upload_vectors(std::span<const double> b);
    void               download_vectors(std::span<double> x);

    Gpu&                              gpu_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    std::size_t                       n_, nnz_;
    GpuResidual<>                     residual_;
    GpuLuBatch<double>                batch_;
    HostBuffer<double>                host_values_, host_vectors_;
    DeviceBuffer<double>              values_, b_, x_, r_, d_;
    std::vector<detail::RefineLoop>   loop_;  // by member
};

/// Made and deleted by functions, so that what owns it compiles without CUDA.
struct GpuBatchSolverDeleter {
    void operator()(GpuBatchSolver* solver) const noexcept;
};
using GpuBatchSolverPtr = std::unique_ptr<GpuBatchSolver, GpuBatchSolverDeleter>;
GpuBatchSolverPtr make_gpu_batch_solver(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic,
                                        std::shared_ptr<const LuPattern> pattern, Index members,
                                        std::size_t most_bytes);

}  // namespace ilux
