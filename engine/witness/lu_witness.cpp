#include "ilux/engine/witness/lu_witness.hpp"

#include <fmt/core.h>

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar S>
std::unique_ptr<LuWitness<S>> LuWitness<S>::make(Cpu& be, const CsrView<S>& A)
{
    constexpr Index  most_unknowns = 1000;
    constexpr double most_flops = 2e7;  // about 20 ms
    if (A.rows() > most_unknowns) return nullptr;
    // Units of rows and of columns must not choose pivots: an LU of other rounding than A's does not see what A has
    // lost.
    const LuOptions careful{.ordering = LuOrdering::amd,
                            .matching = LuMatching::on,
                            .scaling = LuScaling::matching,
                            .pivot_tol = 1,
                            .supernodes = LuSupernodes::off};
    const auto      symbolic = analyse<S>(view(A), careful, {}, be);
    if (symbolic->report.flops > most_flops) return nullptr;
    return std::unique_ptr<LuWitness>(new LuWitness(be, A, symbolic));
}

template <Scalar S>
LuWitness<S>::LuWitness(Cpu& be, const CsrView<S>& A, const std::shared_ptr<const LuSymbolic>& symbolic)
    : be_(be), A_(A), lu_(std::make_unique<Lu<S>>(be_, symbolic)), workspace_(A.rows())
{
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
    return known_answer_warning<S>(be_, A_, x, residual, substitution, room_);
}

#define ILUX_INSTANTIATE(S) template class LuWitness<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
