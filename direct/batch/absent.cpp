// gpu_batch_solver.hpp in a build without CUDA: no Gpu can be made there, so no batch is on one.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/batch/gpu_batch_solver.hpp"

namespace ilux {

using detail::absent;

void GpuBatchSolverDeleter::operator()(GpuBatchSolver*) const noexcept {}

GpuBatchSolverPtr make_gpu_batch_solver(Gpu&, std::shared_ptr<const LuSymbolic>, std::shared_ptr<const LuPattern>,
                                        Index, std::size_t)
{
    absent();
}

void        GpuBatchSolver::refactor(std::span<const double>, std::span<BatchMember>) { absent(); }
void        GpuBatchSolver::solve(std::span<const double>, std::span<double>, std::span<BatchMember>) { absent(); }
void        GpuBatchSolver::substitute(std::span<const double>, std::span<double>) { absent(); }
std::size_t GpuBatchSolver::bytes() const { absent(); }

}  // namespace ilux
