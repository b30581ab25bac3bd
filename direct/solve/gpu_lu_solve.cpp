#include "ilux/direct/solve/gpu_lu_solve.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/direct/solve/lu_forward_system.hpp"

namespace ilux {

template <Scalar S>
GpuLuSolve<S>::GpuLuSolve(Gpu& gpu, const LuPattern& pattern, const S* val, std::span<const ValueSlot> slot_of,
                          Transpose transpose, GpuSpTrsvEngine engine)
    : val_(val), plan_(gpu, lu_forward_system(pattern, slot_of, transpose), engine), one_(plan_.workspace(gpu))
{}

template <Scalar S>
void GpuLuSolve<S>::make_room(Gpu& gpu, Index rhs)
{
    if (rhs <= room_) return;
    gpu.make_current();
    several_ = plan_.workspace(gpu, rhs);
    room_ = rhs;
}

template <Scalar S>
void GpuLuSolve<S>::run(Gpu& gpu, const S* b, S* x, Index rhs)
{
    const std::size_t count = static_cast<std::size_t>(plan_.length()) * static_cast<std::size_t>(rhs);
    plan_.solve(gpu, {b, count}, {x, count}, rhs == 1 || room_ == 1 ? one_ : several_);
}

#define ILUX_INSTANTIATE(S) template class GpuLuSolve<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
