#include "ilux/precond/coarse/two_level.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar T>
TwoLevel<T>::TwoLevel(const LinearOperator<Cpu, T>& A, Preconditioner<Cpu, T>& M,
                      std::shared_ptr<const CoarseLevel<T>> coarse, bool symmetric)
    : n_(A.size()), M_(M), Q_(std::move(coarse)), symmetric_(symmetric), corrector_(A)
{}

template <Scalar T>
void TwoLevel<T>::apply(Cpu& be, std::span<const T> r, std::span<T> z)
{
    corrector_.begin(be, Q_, r, z, false);
    corrector_.go_on(be, M_, r, z, false);
    if (symmetric_) corrector_.go_on(be, Q_, r, z, false);
}

/// M₂⁻ᴴ = M⁻ᴴ + Qᴴ (I − Aᴴ M⁻ᴴ): what comes last comes first.
template <Scalar T>
void TwoLevel<T>::apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z)
{
    if (symmetric_) {
        corrector_.begin(be, Q_, r, z, true);
        corrector_.go_on(be, M_, r, z, true);
    } else corrector_.begin(be, M_, r, z, true);
    corrector_.go_on(be, Q_, r, z, true);
}

#define ILUX_INSTANTIATE(T) template class TwoLevel<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
