#include "ilux/precond/jacobi.hpp"

#include "ilux/base/error.hpp"

namespace ilux {

Jacobi::Jacobi(const CsrView<double>& A)
{
    require(A.rows() == A.cols(), [&] {
        return "a preconditioner needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
    inverse_.resize(A.rows());
    for (Index i = 0; i < A.rows(); ++i) {
        const double d = A.at(i, i);
        if (d == 0) ++zeros_;
        inverse_[i] = d == 0 ? 1 : 1 / d;
    }
}

void Jacobi::apply(Cpu& be, std::span<const double> r, std::span<double> z)
{
    const auto n = static_cast<std::ptrdiff_t>(inverse_.size());
#pragma omp parallel for schedule(static) num_threads(be.team(n > 16384))
    for (std::ptrdiff_t i = 0; i < n; ++i) z[i] = inverse_[i] * r[i];
}

void Jacobi::apply_adjoint(Cpu& be, std::span<const double> r, std::span<double> z) { apply(be, r, z); }

}  // namespace ilux
