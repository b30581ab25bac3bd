#include "ilux/precond/jacobi.hpp"

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// z_i ← entry(i) r_i.
template <class T, class Entry>
void times_diagonal(Cpu& be, std::span<const T> r, std::span<T> z, Entry&& entry)
{
    const auto n = static_cast<std::ptrdiff_t>(r.size());
#pragma omp parallel for schedule(static) num_threads(be.team(n > 16384))
    for (std::ptrdiff_t i = 0; i < n; ++i) z[i] = entry(i) * r[i];
}

}  // namespace

template <Scalar T>
Jacobi<T>::Jacobi(const CsrView<T>& A, const Cpu& be)
{
    require(A.rows() == A.cols(), [&] {
        return "a preconditioner needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
    inverse_.resize(A.rows());
    Index zeros = 0;
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() > 50'000)) reduction(+ : zeros)
    for (Index i = 0; i < A.rows(); ++i) {
        const T d = A.at(i, i);
        zeros += d == T(0);
        inverse_[i] = d == T(0) ? T(1) : T(1) / d;
    }
    zeros_ = zeros;
}

template <Scalar T>
void Jacobi<T>::apply(Cpu& be, std::span<const T> r, std::span<T> z)
{
    times_diagonal(be, r, z, [this](std::ptrdiff_t i) { return inverse_[i]; });
}

template <Scalar T>
void Jacobi<T>::apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z)
{
    times_diagonal(be, r, z, [this](std::ptrdiff_t i) { return conj(inverse_[i]); });
}

template <Scalar T>
template <class Wide>
Jacobi<T>::Jacobi(const Jacobi<Wide>& wide, const SingleScales& scales) : zeros_(wide.zeros())
{
    inverse_.resize(wide.inverse().size());
    for (std::size_t i = 0; i < inverse_.size(); ++i) {
        const T d = T(divided(wide.inverse()[i], scales.of_row(i), scales.of_col(i)));
        inverse_[i] = is_finite(d) && d != T(0) ? d : T(1);
    }
}

#define ILUX_INSTANTIATE(T)              \
    template class Jacobi<T>;            \
    template class Jacobi<single_of<T>>; \
    template Jacobi<single_of<T>>::Jacobi(const Jacobi<T>&, const SingleScales&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
