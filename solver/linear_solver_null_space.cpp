// Vectors of the caller's that A takes to 0.

#include "ilux/base/instances.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/engine/machine/lu_device.hpp"

namespace ilux {

template <Scalar S>
void LinearSolver<S>::Impl::give_null_space(std::span<const S> columns, Index count)
{
    SolverOptions with = options_;
    with.krylov.null_space = "vectors";
    require_null_space_possible(with);
    null_space.give(columns, count);
}

template <Scalar S>
void LinearSolver<S>::set_null_space(std::span<const S> columns, Index count)
{
    auto fresh = impl_->anew();
    fresh->give_null_space(columns, count);
    impl_ = std::move(fresh);
}

#define ILUX_INSTANTIATE(S)                                                          \
    template void LinearSolver<S>::Impl::give_null_space(std::span<const S>, Index); \
    template void LinearSolver<S>::set_null_space(std::span<const S>, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
