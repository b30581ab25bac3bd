#pragma once
// The matrix of small-signal (AC) analysis, G + jωC, at one frequency after another.

#include <complex>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A = G + jωC with ω = 2πf. The pattern is the union of both and stays; an entry that only one of them stores counts
/// as 0 in the other.
class AcMatrix {
public:
    /// @param G, C  n×n, copied. A is that of f = 0 afterwards.
    /// @throws InvalidInput unless both are square and of one order
    /// O(n + nnz(G) + nnz(C))
    AcMatrix(const CsrView<double>& G, const CsrView<double>& C);

    /// Gives A the values of a frequency, in the same arrays. @param f  in Hz
    /// @throws InvalidInput for a negative, infinite or NaN f, and where an entry overflows; A is then as it was
    /// O(nnz(A))
    void set_frequency(double f);

    const CsrMatrix<std::complex<double>>& A() const { return A_; }

private:
    CsrMatrix<std::complex<double>> A_;  // its real parts are G and never change
    std::vector<double>             C_;  // in the order of A
};

}  // namespace ilux
