#pragma once
// Complex systems that need pivoting, and dense arithmetic to judge their solutions by.

#include <cmath>
#include <complex>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

/// Unsymmetric in pattern and values: a diagonal that is now and then tiny, a cycle that makes the structural rank
/// full, and random entries.
inline CsrMatrix<Complex> complex_system(Index n, std::uint64_t seed)
{
    Random             random(seed);
    std::vector<Index> row, col;
    ComplexVector      val;
    const auto         add = [&](Index i, Index j, double size) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(std::polar(size, random.uniform(0, 6)));
    };
    for (Index i = 0; i < n; ++i) {
        add(i, i, i % 3 == 1 ? 1e-9 : 2);
        add(i, (i + 1) % n, 1);
        add(i, random.below(n), random.uniform(0.1, 1));
        if (i % 2 == 0) add(i, random.below(n), random.uniform(0.1, 1));
    }
    return CsrMatrix<Complex>::from_triplets(n, n, row, col, val);
}

/// The same pattern with no imaginary parts.
inline CsrMatrix<double> real_parts(const CsrMatrix<Complex>& A)
{
    std::vector<double> val;
    for (const Complex a : A.val()) val.push_back(a.real());
    return CsrMatrix<double>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                          {A.col().begin(), A.col().end()}, val);
}

inline ComplexVector widened(std::span<const double> x) { return {x.begin(), x.end()}; }

inline LuFactors<Complex> factor(const CsrMatrix<Complex>& A, const LuOptions& options = {})
{
    return gilbert_peierls<Complex>(analyse(view(A), options), A.val());
}

/// The orders at which words and vectors end.
constexpr Index orders[] = {0, 1, 2, 31, 32, 33, 90};

}  // namespace ilux::test
