#pragma once
// L U against B, entry by entry, for factors of any pattern and any order of summation.

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

/// |Δ| ≤ 2 (m + 3) u (|L||U| + |B|) for every entry of L U − B of m products, of complex ones three times that: a
/// product has the error of 2√2 real ones [higham_02, lemma 3.5].
/// @param val  L + U in the order of the pattern  @param values  the caller's
template <class S = double>
void expect_bound_of_elimination(const LuPattern& P, std::span<const NotDeduced<S>> val,
                                 std::span<const NotDeduced<S>> values)
{
    const double        factor = is_complex<S> ? 6 : 2;
    std::vector<S>      product(P.n);
    std::vector<double> bound(P.n);
    std::vector<Index>  terms(P.n);
    for (Index k = 0; k < P.n; ++k) {  // column k of L U with the computed factors, against B
        const auto add = [&](Offset first, Offset last, S u) {
            for (Offset p = first; p < last; ++p) {
                product[P.row[p]] += val[p] * u;
                bound[P.row[p]] += std::abs(val[p] * u);
                ++terms[P.row[p]];
            }
        };
        for (Offset q = P.col_ptr[k]; q <= P.diag[k]; ++q) {
            const Index i = P.row[q];
            product[i] += val[q];
            bound[i] += std::abs(val[q]);
            ++terms[i];
            add(P.diag[i] + 1, P.col_ptr[i + 1], val[q]);
        }
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) {
            const S b = P.in_scale[e] * values[P.in_source[e]];
            product[P.in_row[e]] -= b;
            bound[P.in_row[e]] += std::abs(b);
        }
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            const Index i = P.row[p];
            ASSERT_LE(std::abs(product[i]), factor * (terms[i] + 3) * eps * bound[i])
                << "column " << k << ", row " << i;
            product[i] = 0;
            bound[i] = terms[i] = 0;
        }
    }
}

}  // namespace ilux::test
