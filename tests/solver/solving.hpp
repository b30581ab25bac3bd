#pragma once
// What the tests of LinearSolver share.

#include <cmath>
#include <span>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux::test {

inline SolverOptions serial(SolverOptions options = {})
{
    options.threads = 1;
    options.device = DeviceChoice::cpu;
    return options;
}

inline std::vector<double> times(const CsrMatrix<double>& A, std::span<const double> x)
{
    std::vector<double> b(x.size());
    Cpu                 cpu(1);
    spmv(cpu, 1, A, x, 0, b);
    return b;
}

/// For which a preconditioner that compensates is exact.
inline std::vector<double> times_ones(const CsrMatrix<double>& A)
{
    return times(A, std::vector<double>(static_cast<std::size_t>(A.rows()), 1.0));
}

/// 1.9 and 0.1 times what is above and below the diagonal.
inline CsrMatrix<double> unsymmetric(CsrMatrix<double> A)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            A.val()[p] *= A.col()[p] > i ? 1.9 : A.col()[p] < i ? 0.1 : 1;
    return A;
}

/// A matrix whose values differ from those of A by a per mille or two.
inline CsrMatrix<double> slightly_changed(CsrMatrix<double> A)
{
    for (std::size_t p = 0; p < A.val().size(); ++p) A.val()[p] *= 1 + 1e-3 * static_cast<double>(p % 3);
    return A;
}

/// ‖b − A x‖₂ / ‖b‖₂ by the test's own sums.
inline double residual_of(const CsrView<double>& A, std::span<const double> x, std::span<const double> b)
{
    double r2 = 0, b2 = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        double r = b[i];
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) r -= A.val()[p] * x[A.col()[p]];
        r2 += r * r;
        b2 += b[i] * b[i];
    }
    return std::sqrt(r2 / b2);
}

}  // namespace ilux::test
