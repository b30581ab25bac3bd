#include "ilux/precond/coarse/two_level.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {

template <Backend B, Scalar T>
void TwoLevel<B, T>::set(B& be, std::shared_ptr<const CoarseLevel<B, T>> coarse)
{
    Q_.reset();
    positive_ = coarse->positive;
    lumped_ = coarse->lumped;
    Q_.emplace(be, std::move(coarse), parts_.adjoinable);
}

template <Backend B, Scalar T>
void TwoLevel<B, T>::apply(B& be, ConstSpan<B, T> r, Span<B, T> z)
{
    if (!Q_) return parts_.M->apply(be, r, z);
    if (positive_) return around(be, r, z, false);
    corrector_.begin(be, {*Q_}, r, z, false);
    corrector_.go_on(be, {*parts_.M}, r, z, false);
}

/// M₂⁻ᴴ = M⁻ᴴ + Qᴴ (I − Aᴴ M⁻ᴴ): what comes last comes first.
template <Backend B, Scalar T>
void TwoLevel<B, T>::apply_adjoint(B& be, ConstSpan<B, T> r, Span<B, T> z)
{
    if (!Q_) return parts_.M->apply_adjoint(be, r, z);
    if (positive_) return around(be, r, z, true);
    corrector_.begin(be, {*parts_.M}, r, z, true);
    corrector_.go_on(be, {*Q_}, r, z, true);
}

template <Backend B, Scalar T>
void TwoLevel<B, T>::around(B& be, ConstSpan<B, T> r, Span<B, T> z, bool adjoint)
{
    const WeightedStep<B, T> M{*parts_.M, step_beside_coarse(lumped_)}, Q{*Q_};
    corrector_.around(be, lumped_ ? M : Q, lumped_ ? Q : M, r, z, adjoint);
}

#define ILUX_INSTANTIATE(B, T) template class TwoLevel<B, T>;
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
