// KLU [davis_palamadai_10] as an oracle of pattern, values and monitors, with our permutations and scales.

#include <gtest/gtest.h>
#include <klu.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/tests/direct/hand_analysis.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// Compressed columns as KLU takes and gives them.
struct Columns {
    std::vector<int>    ptr, row;
    std::vector<double> val;
};

/// The diagonal blocks of B = R A(row_perm, col_perm) C, rows ascending, duplicates added.
Columns diagonal_blocks(const LuFactors<>& F, std::span<const double> values)
{
    const LuPattern& P = *F.pattern;
    Columns          B;
    B.ptr.push_back(0);
    for (Index k = 0; k < P.n; ++k) {
        std::vector<std::pair<Index, double>> column;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e)
            column.emplace_back(P.in_row[e], values[P.in_source[e]] * P.in_scale[e]);
        std::ranges::stable_sort(column, {}, &std::pair<Index, double>::first);
        for (const auto& [i, value] : column)
            if (std::ssize(B.row) > B.ptr.back() && B.row.back() == i) B.val.back() += value;
            else {
                B.row.push_back(i);
                B.val.push_back(value);
            }
        B.ptr.push_back(static_cast<int>(B.row.size()));
    }
    return B;
}

/// What KLU makes of B when it must take every pivot from the diagonal.
struct KluFactors {
    Columns L, U;  ///< rows ascending; L with its ones
    double  rgrowth = 0, rcond = 0;
};

KluFactors klu_on_the_diagonal(Columns B, bool refactor)
{
    const int  n = static_cast<int>(B.ptr.size()) - 1;
    klu_common common;
    klu_defaults(&common);
    common.tol = 0;
    common.scale = 0;
    common.btf = 0;
    auto* symbolic = klu_analyze_given(n, B.ptr.data(), B.row.data(), nullptr, nullptr, &common);
    auto* numeric = klu_factor(B.ptr.data(), B.row.data(), B.val.data(), symbolic, &common);
    EXPECT_EQ(common.status, KLU_OK);
    EXPECT_EQ(common.noffdiag, 0);

    KluFactors out;
    klu_sort(symbolic, numeric, &common);
    if (refactor) klu_refactor(B.ptr.data(), B.row.data(), B.val.data(), symbolic, numeric, &common);
    EXPECT_EQ(common.status, KLU_OK);
    for (auto* factor : {&out.L, &out.U}) {
        factor->ptr.resize(n + 1);
        factor->row.resize(factor == &out.L ? numeric->lnz : numeric->unz);
        factor->val.resize(factor->row.size());
    }
    klu_extract(numeric, symbolic, out.L.ptr.data(), out.L.row.data(), out.L.val.data(), out.U.ptr.data(),
                out.U.row.data(), out.U.val.data(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                &common);
    klu_rgrowth(B.ptr.data(), B.row.data(), B.val.data(), symbolic, numeric, &common);
    klu_rcond(symbolic, numeric, &common);
    out.rgrowth = common.rgrowth;
    out.rcond = common.rcond;
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
    return out;
}

/// The same pattern, and values that differ by no more than roundings explain: an entry of m updates contributes
/// 10 m u (|L||U|)_ij of its own, and passes on what its terms bring with them.
void expect_klu_agrees(const LuFactors<>& F, std::span<const double> values, bool refactor)
{
    ASSERT_EQ(F.monitor.bad_column, -1);
    const LuPattern&    P = *F.pattern;
    const auto          klu = klu_on_the_diagonal(diagonal_blocks(F, values), refactor);
    std::vector<double> size(P.n), updates(P.n), passed_on(P.n), bound(P.nnz());
    for (Index k = 0; k < P.n; ++k) {
        ASSERT_EQ(klu.U.ptr[k + 1] - klu.U.ptr[k], P.upper_count(k) + 1);
        ASSERT_EQ(klu.L.ptr[k + 1] - klu.L.ptr[k], P.lower_count(k) + 1);
        const double u_kk = std::abs(F.val[P.diag[k]]);
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            size[P.row[p]] = std::abs(F.val[p]) * (p > P.diag[k] ? u_kk : 1);
            updates[P.row[p]] = 1;
            passed_on[P.row[p]] = 0;
        }
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            const Index  i = P.row[p];
            const bool   in_L = p > P.diag[k];
            const double own = 10 * updates[i] * (eps / 2) * size[i] + passed_on[i];
            bound[p] = in_L ? (own + std::abs(F.val[p]) * bound[P.diag[k]]) / u_kk : own;
            const auto&  theirs = in_L ? klu.L : klu.U;
            const Offset q = in_L ? klu.L.ptr[k] + (p - P.diag[k]) : klu.U.ptr[k] + (p - P.col_ptr[k]);
            ASSERT_EQ(theirs.row[q], i) << "column " << k;
            ASSERT_LE(std::abs(theirs.val[q] - F.val[p]), bound[p]) << "row " << i << ", column " << k;
            if (p >= P.diag[k]) continue;
            for (Offset s = P.diag[i] + 1; s < P.col_ptr[i + 1]; ++s) {
                size[P.row[s]] += std::abs(F.val[s] * F.val[p]);
                updates[P.row[s]] += 1;
                passed_on[P.row[s]] += std::abs(F.val[s]) * bound[p] + std::abs(F.val[p]) * bound[s];
            }
        }
    }
    EXPECT_NEAR(F.monitor.rgrowth, klu.rgrowth, 1e-10 * klu.rgrowth);
    EXPECT_NEAR(F.monitor.rcond(), klu.rcond, 1e-10 * klu.rcond);
}

void expect_klu_agrees(const CsrMatrix<double>& A, HandAnalysis by = {})
{
    for (const auto scaling : {LuScaling::none, LuScaling::rows})
        for (const bool refactor : {false, true}) {
            by.options.scaling = scaling;
            SCOPED_TRACE(testing::Message() << "n " << A.rows() << ", refactor " << refactor);
            expect_klu_agrees(gilbert_peierls(analysed(A, by), A.val()), A.val(), refactor);
        }
}

TEST(Klu, FactorsOfRandomMatricesAgreeWithPivotsFarFromTheDiagonal)
{
    for (const Index n : {1, 2, 31, 32, 33, 200})
        for (const Index per_row : {1, 3, 8}) {
            HandAnalysis by{.row_perm = random_permutation(n, 1), .col_perm = random_permutation(n, 2)};
            by.options.pivot_tol = 1;
            expect_klu_agrees(random_dominant(n, per_row, n + per_row), by);
        }
}

TEST(Klu, FactorsOfMeshesAgree) { expect_klu_agrees(gallery::poisson2d(17, 12)); }

TEST(Klu, FactorsOfPowerGridsAndCircuitsAgree)
{
    expect_klu_agrees(gallery::power_grid({.n = 12}));
    expect_klu_agrees(gallery::mna_random({.n = 200, .decades = 3}));
}

}  // namespace
}  // namespace ilux::test
