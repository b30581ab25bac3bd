#include "ilux/direct/gpu_lu_solve.hpp"

#include "ilux/direct/lu_forward_system.hpp"

namespace ilux {

GpuLuSolve::GpuLuSolve(Gpu& gpu, const LuPattern& pattern, std::span<const DotProgram::Slot> slot_of,
                       Transpose transpose, GpuSpTrsvEngine engine)
    : plan_(gpu, lu_forward_system(pattern, slot_of, transpose), engine), workspace_(plan_.workspace(gpu))
{}

void GpuLuSolve::run(Gpu& gpu, const double* b, double* x, Index rhs)
{
    const std::size_t count = static_cast<std::size_t>(plan_.length()) * static_cast<std::size_t>(rhs);
    plan_.solve(gpu, {b, count}, {x, count}, workspace_);
}

}  // namespace ilux
