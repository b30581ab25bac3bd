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
Jacobi<T>::Jacobi(const CsrView<T>& A)
{
    require(A.rows() == A.cols(), [&] {
        return "a preconditioner needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
    inverse_.resize(A.rows());
    for (Index i = 0; i < A.rows(); ++i) {
        const T d = A.at(i, i);
        if (d == T(0)) ++zeros_;
        inverse_[i] = d == T(0) ? T(1) : T(1) / d;
    }
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

#define ILUX_INSTANTIATE(T) template class Jacobi<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
