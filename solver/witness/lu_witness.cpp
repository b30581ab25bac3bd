#include "ilux/solver/witness/lu_witness.hpp"

#include <fmt/core.h>

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar S>
LuWitness<S>::LuWitness(Cpu& be, const CsrView<S>& A) : be_(be), A_(A), workspace_(A.rows())
{
    lu_ = std::make_unique<Lu<S>>(be_, analyse<S>(view(A), {}, {}, be_));
    const LuReport done = lu_->factor(A.val());
    if (done.outcome != Outcome::converged) singular_ = done.reason;
}

template <Scalar S>
void LuWitness<S>::substitute(std::span<const S> r, std::span<S> z)
{
    lu_solve<S>(be_, lu_->factors(), r, z, workspace_, Transpose::no);
}

template <Scalar S>
bool LuWitness<S>::estimate(std::span<const S> r, std::span<S> d)
{
    if (!singular_.empty()) return false;
    substitute(r, d);
    return true;
}

template <Scalar S>
std::string LuWitness<S>::warning(std::span<const S> x, const Residual<S>& residual)
{
    if (!singular_.empty()) return fmt::format("A is singular, and x is one of many: an LU says {}", singular_);
    const Substitution<S> substitution = [&](std::span<const S> r, std::span<S> z) { substitute(r, z); };
    return rounding_warning<S>(A_, x, residual, substitution, room_);
}

#define ILUX_INSTANTIATE(S) template class LuWitness<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
