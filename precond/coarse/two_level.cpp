#include "ilux/precond/coarse/two_level.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar T>
TwoLevel<T>::TwoLevel(const LinearOperator<Cpu, T>& A, Preconditioner<Cpu, T>& M,
                      std::shared_ptr<const CoarseLevel<T>> coarse, bool symmetric)
    : A_(A), M_(M), Q_(std::move(coarse)), symmetric_(symmetric), left_(A.size()), part_(A.size())
{}

template <Scalar T>
void TwoLevel<T>::apply(Cpu& be, std::span<const T> r, std::span<T> z)
{
    const auto add = [&](Preconditioner<Cpu, T>& one) {
        A_.apply(be, z, left_);
        axpby<T>(be, 1, r, -1, left_);
        one.apply(be, left_, part_);
        axpy<T>(be, 1, part_, z);
    };
    Q_.apply(be, r, z);
    add(M_);
    if (symmetric_) add(Q_);
}

/// M₂⁻ᴴ = M⁻ᴴ + Qᴴ (I − Aᴴ M⁻ᴴ): what comes last comes first.
template <Scalar T>
void TwoLevel<T>::apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z)
{
    const auto add = [&](Preconditioner<Cpu, T>& one) {
        A_.apply_adjoint(be, z, left_);
        axpby<T>(be, 1, r, -1, left_);
        one.apply_adjoint(be, left_, part_);
        axpy<T>(be, 1, part_, z);
    };
    if (symmetric_) {
        Q_.apply_adjoint(be, r, z);
        add(M_);
    } else M_.apply_adjoint(be, r, z);
    add(Q_);
}

#define ILUX_INSTANTIATE(T) template class TwoLevel<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
