#pragma once
// What tests of right-looking refactorization share: systems, the inputs scattered, and oracles.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/published/refactor_right.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/factor_checks.hpp"

namespace ilux::test {

/// Position of (r, k) in column k of L + U, which must hold it.
inline Offset position_of(const LuPattern& P, Index r, Index k)
{
    return std::lower_bound(P.row.begin() + P.col_ptr[k], P.row.begin() + P.col_ptr[k + 1], r) - P.row.begin();
}

/// The diagonal blocks of B, and room for F, which the methods do not touch: 7s.
template <class S = double>
std::vector<S> scattered(const LuPattern& P, std::span<const NotDeduced<S>> values)
{
    std::vector<S> start(P.nnz(), S(0));
    for (Index k = 0; k < P.n; ++k)
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e)
            start[position_of(P, P.in_row[e], k)] += values[P.in_source[e]] * P.in_scale[e];
    start.resize(P.nnz() + P.nnz_F(), 7.0);
    return start;
}

/// Left-looking elimination that goes on whatever the values.
template <class S>
std::vector<S> eliminated(const LuPattern& P, std::vector<S> val)
{
    for (Index k = 0; k < P.n; ++k) {
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            for (Offset q = P.diag[P.row[p]] + 1; q < P.col_ptr[P.row[p] + 1]; ++q) {
                S& x = val[position_of(P, P.row[q], k)];
                x = minus_product(x, val[q], val[p]);
            }
        for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) val[p] = DividedBy<S>(val[P.diag[k]])(val[p]);
    }
    return val;
}

/// Empty, or the first entry where |B − L U| ≤ γ_m |L||U| is broken, m the number of its products: what elimination
/// promises in any order of its sums [higham_02, lemma 8.4]. Of complex numbers a product has the error of 2√2 real
/// ones, a quotient of about 4 [higham_02, lemma 3.5].
template <class S>
std::string beyond_bound(const LuPattern& P, const std::vector<S>& B, std::span<const NotDeduced<S>> LU)
{
    using Wide = std::conditional_t<is_complex<S>, std::complex<long double>, long double>;
    std::vector<Wide>        product(P.n);
    std::vector<long double> size(P.n);
    std::vector<Index>       terms(P.n);
    const auto               add = [&](Index r, Wide term) {
        product[r] += term;
        size[r] += std::abs(term);
        ++terms[r];
    };
    for (Index k = 0; k < P.n; ++k) {
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p)
            product[P.row[p]] = size[P.row[p]] = terms[P.row[p]] = 0;
        for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) {
            const Index i = P.row[p];
            const Wide  u = LU[p];
            add(i, u);
            for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q) add(P.row[q], Wide(LU[q]) * u);
        }
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            const Index       r = P.row[p];
            const double      mu = (is_complex<S> ? 6 : 1) * terms[r] * (eps / 2);
            const long double bound = mu / (1 - mu) * size[r] * 1.001L;  // 0.001: long double rounds as well
            if (!(std::abs(Wide(B[p]) - product[r]) <= bound))
                return "row " + std::to_string(r) + ", column " + std::to_string(k) + ": off by " +
                       std::to_string(static_cast<double>(std::abs(Wide(B[p]) - product[r]) / bound)) + " bounds";
        }
    }
    return "";
}

struct IntegerSystem {
    LuFactors<>         F;      ///< pattern, and L and U as they were drawn
    std::vector<double> start;  ///< B, scattered
};

/// B = L U of small integers: sums are exact in any order, so that every elimination ends in these very bits.
inline IntegerSystem integer_system(Index n, Index per_column, std::uint64_t seed)
{
    Random random(seed);
    Dense  L{n, n, std::vector<double>(static_cast<std::size_t>(n) * n)}, U = L;
    for (Index k = 0; k < n; ++k) {
        L(k, k) = 1;
        U(k, k) = random.below(2) == 0 ? 2 : 4;  // positive: no quotient is −0
        for (Index e = 0; e < per_column; ++e) {
            const Index i = random.below(n);
            if (i != k) (i < k ? U : L)(i, k) = random.below(2) == 0 ? 1 : -2;
        }
    }
    const CsrMatrix<double> B = to_csr(multiply(L, U));
    IntegerSystem           system{factor(B), {}};
    const LuPattern&        P = *system.F.pattern;
    for (Index k = 0; k < n; ++k) {
        EXPECT_EQ(P.row_perm[k], k);
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p)
            system.F.val[p] = P.row[p] <= k ? U(P.row[p], k) : L(P.row[p], k);
    }
    system.start = scattered(P, B.val());
    return system;
}

template <class S>
struct BadStart {
    std::string    name;
    std::vector<S> start;
};

/// A zero pivot, an Inf and NaN, early and late.
template <class S>
std::vector<BadStart<S>> bad_starts(const LuPattern& P, const std::vector<S>& good)
{
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<BadStart<S>> all;
    for (const auto& [bad, at] : {std::pair{0.0, P.diag.front()},
                                  {inf, P.diag[P.n / 3]},
                                  {inf, P.col_ptr[P.n / 2]},
                                  {nan, P.diag[P.n / 2]},
                                  {nan, Offset{0}},
                                  {nan, P.diag[2 * P.n / 3]}}) {
        all.push_back({std::to_string(bad) + " at " + std::to_string(at), good});
        all.back().start[at] = bad;
    }
    return all;
}

/// Empty, or the first entry that is finite in one of them alone.
template <class S>
std::string spread(const std::vector<S>& expected, const std::vector<S>& found)
{
    for (std::size_t e = 0; e < found.size(); ++e)
        if (is_finite(expected[e]) != is_finite(found[e])) return "entry " + std::to_string(e);
    return "";
}

struct NamedTuning {
    std::string name;
    RightTuning tuning;
};

/// Every method, rule and mode, the modes switched off one by one, and as few work vectors as columns of `n` may have.
inline std::vector<NamedTuning> right_tunings(Index n)
{
    const std::size_t one = sizeof(double) * static_cast<std::size_t>(n);
    return {
        {"glu1", {.method = RightMethod::glu1}},
        {"glu1 relaxed", {.method = RightMethod::glu1, .dependencies = Dependencies::relaxed}},
        {"glu1, one column a level", {.method = RightMethod::glu1, .capacity = 1}},
        {"glu1, three columns a level", {.method = RightMethod::glu1, .capacity = 3}},
        {"glu1, memory for two columns", {.method = RightMethod::glu1, .work_bytes = 2 * one}},
        {"glu3", {}},
        {"glu3 relaxed", {.dependencies = Dependencies::relaxed}},
        {"glu3 without small blocks", {.small_blocks = false}},
        {"glu3 without streams", {.streams = false}},
        {"glu3, large blocks alone", {.small_blocks = false, .streams = false}},
        {"glu3, streams for levels of 40", {.stream_columns = 40}},
        {"glu3, memory for three columns", {.stream_columns = 8, .work_bytes = 3 * one}},
        {"glu3, no memory", {.work_bytes = 0}},
    };
}

}  // namespace ilux::test
