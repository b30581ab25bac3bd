#include "ilux/precond/mlilu/mlilu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::identical;
using test::to_dense;

void expect_near(const Vector& x, const Vector& y)
{
    EXPECT_LE(test::relative_difference(x, y), 1e-14)
        << testing::PrintToString(x) << " is not " << testing::PrintToString(y);
}

const Vector hand_rhs{6, 7, 6, 9};

TEST(MlIlu, WithoutDroppingSolvesTheHandExample)
{
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save})
        for (Estimator estimator : {Estimator::greedy, Estimator::look_ahead}) {
            auto options = by_hand(0, off_diagonal);
            options.estimator = estimator;
            const auto  mlilu = build(hand_example(), options);
            const auto& levels = mlilu.report().levels;
            ASSERT_EQ(levels.size(), 2);
            EXPECT_EQ(levels[0].accepted, estimator == Estimator::greedy ? 3 : 2);
            EXPECT_TRUE(mlilu.report().dense);
            EXPECT_EQ(mlilu.report().deficiency, 0);
            MlIluPreconditioner M(mlilu);
            expect_near(applied(M, hand_rhs), {32. / 7, -5. / 7, 13. / 7, -1. / 7});
            expect_near(applied(M, hand_rhs, true), {76. / 7, -74. / 7, 39. / 14, 19. / 7});
        }
}

TEST(MlIlu, SavingTheBlocksTheHandExampleErrsInOneDiagonalEntry)
{
    MlIluPreconditioner M(build(hand_example(), by_hand(0.3, OffDiagonal::save)));
    expect_near(applied(M, hand_rhs), {47. / 12, -5. / 12, 41. / 24, -1. / 12});
    expect_near(applied(M, hand_rhs, true), {22. / 3, -37. / 6, 17. / 8, 11. / 6});
    Dense expected = to_dense(hand_example());
    expected(1, 1) = 5.5;
    EXPECT_LE(largest_difference(inverse(as_dense(M)), expected), 1e-13);
}

TEST(MlIlu, KeepingTheFactorsTheHandExampleLosesOneEntry)
{
    MlIluPreconditioner M(build(hand_example(), by_hand(0.3, OffDiagonal::keep)));
    expect_near(applied(M, hand_rhs), {7. / 6, 5. / 6, 13. / 12, 1. / 6});
    Dense expected = to_dense(hand_example());
    expected(1, 2) = 0;
    EXPECT_LE(largest_difference(inverse(as_dense(M)), expected), 1e-13);
    EXPECT_LE(largest_difference(inverse(as_dense(M, true)), test::transposed(expected)), 1e-13);
}

TEST(MlIlu, ReportsTheHandExample)
{
    const auto  keep = build(hand_example(), by_hand(0, OffDiagonal::keep));
    const auto& first = keep.report().levels.at(0);
    EXPECT_EQ(first.n, 4);
    EXPECT_EQ(first.postponed, 1);
    EXPECT_EQ(first.nnz_L, 2);
    EXPECT_EQ(first.nnz_U, 1);
    EXPECT_EQ(first.nnz_G, 3);
    EXPECT_EQ(first.nnz_F, 3);
    EXPECT_EQ(first.inverse_L, 2.5);
    EXPECT_EQ(first.inverse_U, 2);
    EXPECT_EQ(first.depth_L, 2);
    EXPECT_EQ(first.depth_U, 2);
    EXPECT_EQ(keep.report().stored, 2 + 1 + 3 + 3 + 3 + 1);
    EXPECT_EQ(keep.report().fill, 1);  // A has 13 entries, too
    EXPECT_EQ(keep.report().structural_rank, 4);
}

std::vector<MlIluOptions> exact_options()
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save})
        for (double kappa : {1., 3., 1e10}) {
            const MlIluOptions base{.drop_tol = 0,
                                    .schur_drop_tol = 0,
                                    .setup = MlIluSetup::crout,
                                    .inverse_bound = kappa,
                                    .off_diagonal = off_diagonal};
            all.insert(all.end(), 4, base);
            all[all.size() - 3].estimator = Estimator::look_ahead;
            all[all.size() - 2].ordering = Ordering::none;
            all[all.size() - 2].matching = MatchingChoice::on;
            all[all.size() - 1].matching = MatchingChoice::off;
            all[all.size() - 1].dense_order = 0;
            all.push_back(base);
            all.back().depth_bound = {kappa > 5 ? 2 : 1};
            all.push_back(base);
            all.back().setup = MlIluSetup::rounds;
        }
    return all;
}

std::string text(MlIluOptions o)
{
    std::string all;
    for_each_field(o, [&](const std::string& name, auto& field, Range, std::string_view) {
        all += name + "=" + field_text(field) + " ";
    });
    return all;
}

TEST(MlIlu, IsExactWithoutDropping)
{
    for (Index n : awkward_sizes)
        for (const auto& [name, A] : regular_matrices(n, n + 1))
            for (const auto& options : exact_options()) {
                MlIluPreconditioner M(build(A, options));
                const Vector        b = multiply(to_dense(A), Vector(n, 1.));
                const Vector        bt = multiply(test::transposed(to_dense(A)), Vector(n, 1.));
                EXPECT_LE(test::backward_error(A, applied(M, b), b), 1e-10)
                    << name << " of " << n << ", " << text(options);
                EXPECT_LE(test::backward_error(transpose(A), applied(M, bt, true), bt), 1e-10)
                    << "transposed: " << name << " of " << n << ", " << text(options);
            }
}

TEST(MlIlu, IsExactHoweverRowsAndColumnsAreScaled)
{
    for (Index n : {2, 33, 60})
        for (double decades : {3., 20., 75.})
            for (bool on_diagonal : {false, true}) {
                const auto   A = random_regular(n, 3, n, on_diagonal);
                const Vector r = sizes(n, decades, 1), c = sizes(n, decades, 2), y = test::random_vector(n, 3);
                auto         graded = A;  // r A c; its solution is y / c
                scale_rows_cols(graded, r, c);
                const Vector Ay = multiply(to_dense(A), y);
                Vector       b = Ay;
                for (Index i = 0; i < n; ++i) b[i] *= r[i];
                MlIluPreconditioner M(build(graded, {.drop_tol = 0, .schur_drop_tol = 0}));
                Vector              x = applied(M, b);
                for (Index i = 0; i < n; ++i) x[i] *= c[i];
                EXPECT_LE(test::backward_error(A, x, Ay), 1e-10)
                    << "n = " << n << ", 1e±" << decades << ", entries of size on the diagonal " << on_diagonal;
            }
}

TEST(MlIlu, IsExactOverManyLevels)
{
    const auto A = gallery::poisson2d(15, 15);
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto mlilu = build(A, {.drop_tol = 0,
                                     .schur_drop_tol = 0,
                                     .setup = MlIluSetup::crout,
                                     .inverse_bound = 1,
                                     .ordering = Ordering::none,
                                     .off_diagonal = off_diagonal});
        EXPECT_GE(mlilu.report().levels.size(), 3);
        MlIluPreconditioner M(mlilu);
        const Vector        b = test::random_vector(A.rows(), 1);
        EXPECT_LE(test::backward_error(A, applied(M, b), b), 1e-13);
        EXPECT_LE(test::backward_error(A, applied(M, b, true), b), 1e-13);
    }
}

TEST(MlIlu, WithoutABoundIsOneLevelOfAMMatrix)
{
    const auto mlilu = build(gallery::poisson2d(20, 20),
                             {.drop_tol = 1e-2, .setup = MlIluSetup::crout, .inverse_bound = 1e300, .growth_bound = 0});
    EXPECT_EQ(mlilu.report().levels.size(), 1);
    EXPECT_FALSE(mlilu.report().dense);
    EXPECT_EQ(mlilu.report().levels[0].accepted, 400);
}

TEST(MlIlu, SolvesConsistentSingularSystemsWithoutDropping)
{
    for (Index n : awkward_sizes)
        for (const auto& [name, A] : singular_matrices(n, n + 1)) {
            MlIluPreconditioner M(build(A, {.drop_tol = 0, .schur_drop_tol = 0}));
            const Vector        b = multiply(to_dense(A), Vector(n, 1.));
            EXPECT_LE(test::backward_error(A, applied(M, b), b), 1e-10) << name << " of " << n;
        }
}

TEST(MlIlu, CountsTheRankThatIsMissing)
{
    const auto zero = build(CsrMatrix<>::from_triplets(9, 9, {}, {}, {}));
    EXPECT_EQ(zero.report().structural_rank, 0);
    EXPECT_EQ(zero.report().deficiency, 9);
    for (auto defect : {gallery::Defect::empty_row, gallery::Defect::empty_column, gallery::Defect::crowd}) {
        const auto A = gallery::structurally_singular({.n = 50, .deficiency = 3, .defect = defect});
        const auto report = build(A, {.drop_tol = 0, .schur_drop_tol = 0}).report();
        EXPECT_EQ(report.structural_rank, 47);
        EXPECT_EQ(report.deficiency, 3);
    }
}

TEST(MlIlu, SeesThatTwoRowsAreEqual)
{
    // What elimination leaves of the second of them is rounding alone, and must not pass for a pivot.
    for (Index n : {2, 3, 10, 31, 32, 33, 60})
        for (std::uint64_t seed : {1, 2, 3, 4, 5}) {
            const auto A = singular_matrices(n, seed).back().A;
            EXPECT_EQ(build(A, {.drop_tol = 0, .schur_drop_tol = 0}).report().deficiency, 1) << n << ", seed " << seed;
        }
}

std::vector<MlIluOptions> dropping_options()
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save, OffDiagonal::automatic}) {
        all.push_back({.drop_tol = 0.05,
                       .schur_drop_tol = 0.01,
                       .setup = MlIluSetup::crout,
                       .inverse_bound = 3,
                       .off_diagonal = off_diagonal});
        all.push_back({.drop_tol = 0.3,
                       .schur_drop_tol = 0.1,
                       .setup = MlIluSetup::crout,
                       .inverse_bound = 2,
                       .matching = MatchingChoice::on,
                       .ordering = Ordering::rcm,
                       .off_diagonal = off_diagonal,
                       .estimator = Estimator::look_ahead,
                       .dense_order = 2});
        all.push_back({.setup = MlIluSetup::crout, .off_diagonal = off_diagonal, .scaling = false});
        all.push_back({.schur_drop_tol = 0.1, .setup = MlIluSetup::rounds, .off_diagonal = off_diagonal});
        all.push_back({.setup = MlIluSetup::rounds, .compensation = Compensation::on, .inverse_bound = 2});
    }
    return all;
}

TEST(MlIlu, TransposeIsTheTransposedMap)
{
    for (Index n : awkward_sizes) {
        auto matrices = regular_matrices(n, n + 5);
        for (const auto& singular : singular_matrices(n, n + 5)) matrices.push_back(singular);
        for (const auto& [name, A] : matrices)
            for (const auto& options : dropping_options()) {
                MlIluPreconditioner M(build(A, options));
                const Dense         X = as_dense(M), Y = test::transposed(as_dense(M, true));
                EXPECT_LE(largest_difference(X, Y), 1e-10 * largest(X)) << name << " of " << n << ", " << text(options);
            }
    }
}

/// D⁻¹ of order n, of a vector that holds the inverses.
Dense undo(std::span<const double> d)
{
    Vector one_over(d.begin(), d.end());
    for (double& value : one_over) value = 1 / value;
    return diagonal(one_over);
}

/// M = Dr⁻¹ P [B̃ F; G GB̃⁻¹F + M'] Qᵀ Dc⁻¹ (save) or with F = L_B D U_F, G = L_G D U_B (keep); M' that of the next
/// level.
Dense assembled(const MlIluFactors<>& factors, std::size_t l = 0)
{
    if (l == factors.levels.size()) {
        const auto& dense = factors.dense;
        Dense       X = zeros(dense.size(), dense.size());
        Vector      e(dense.size()), x(dense.size()), work(dense.workspace());
        for (Index j = 0; j < dense.size(); ++j) {
            e.assign(e.size(), 0);
            e[j] = 1;
            dense.solve(e, x, work);
            for (Index i = 0; i < dense.size(); ++i) X(i, j) = x[i];
        }
        return inverse(X);
    }
    const MlIluLevel<>& level = factors.levels[l];
    const Dense         LD = multiply(with_unit_diagonal(to_dense(level.L_B)), undo(level.d_inv));
    const Dense         U = with_unit_diagonal(to_dense(level.U_B)), B = multiply(LD, U);
    Dense               F = to_dense(level.upper), G = to_dense(level.lower), GF;
    if (level.keep) {
        const Dense D = undo(level.d_inv);
        GF = multiply(multiply(G, D), F);
        F = multiply(LD, F);
        G = multiply(multiply(G, D), U);
    } else {
        GF = multiply(G, multiply(inverse(B), F));
    }
    Dense inner = zeros(level.n, level.n);
    put(inner, 0, 0, B);
    put(inner, 0, level.nB, F);
    put(inner, level.nB, 0, G);
    put(inner, level.nB, level.nB, plus(GF, assembled(factors, l + 1)));
    const auto p = inverse_permutation(level.p), q = inverse_permutation(level.q);
    return multiply(multiply(undo(level.row_scale), permuted(inner, p, q)), undo(level.col_scale));
}

TEST(MlIlu, AppliesTheInverseOfItsAssembledFactors)
{
    Index levels = 0;
    for (Index n : awkward_sizes) {
        auto matrices = regular_matrices(n, n + 9);
        for (const auto& singular : singular_matrices(n, n + 9)) matrices.push_back(singular);
        for (const auto& [name, A] : matrices)
            for (const auto& options : dropping_options()) {
                const auto          mlilu = build(A, options);
                MlIluPreconditioner M(mlilu);
                const auto          assembly = test::to_csr(assembled(mlilu.factors()));
                const Vector        r = test::random_vector(n, 2);
                EXPECT_LE(test::backward_error(assembly, applied(M, r), r), 1e-9)
                    << name << " of " << n << ", " << text(options);
                EXPECT_LE(test::backward_error(transpose(assembly), applied(M, r, true), r), 1e-9)
                    << "transposed: " << name << " of " << n << ", " << text(options);
                levels = std::max(levels, static_cast<Index>(mlilu.report().levels.size()));
            }
    }
    EXPECT_GE(levels, 4);
}

TEST(MlIlu, DropsOnlyWhereItsVariantMay)
{
    // The second level is dense, hence exact. keep: the (2,2) block of M is C but for the τ_S drops; save: F and G
    // exact.
    for (std::uint64_t seed : {1, 2, 3})
        for (double schur_drop_tol : {0., 0.05}) {
            const auto   A = random_regular(40, 4, seed, true);
            MlIluOptions options{.drop_tol = 0.2,
                                 .schur_drop_tol = schur_drop_tol,
                                 .setup = MlIluSetup::crout,
                                 .inverse_bound = 3,
                                 .matching = MatchingChoice::off,
                                 .scaling = false,
                                 .dense_order = 40};
            for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
                options.off_diagonal = off_diagonal;
                const auto          mlilu = build(A, options);
                MlIluPreconditioner M(mlilu);
                const auto&         level = mlilu.factors().levels.at(0);
                const Index         nB = level.nB, nC = level.n - nB;
                ASSERT_GT(nC, 2);
                ASSERT_EQ(mlilu.report().levels.size(), 2);
                const Dense error =
                    plus(permuted(inverse(as_dense(M)), level.p, level.q), permuted(to_dense(A), level.p, level.q), -1);
                const Dense B = block(error, 0, nB, 0, nB), C = block(error, nB, nC, nB, nC);
                EXPECT_GT(largest(B), 1e-3);  // something was dropped
                for (Index i = 0; i < nB; ++i) EXPECT_NEAR(B(i, i), 0, 1e-10);
                if (off_diagonal == OffDiagonal::save) {
                    EXPECT_LE(largest(block(error, 0, nB, nB, nC)), 1e-9);
                    EXPECT_LE(largest(block(error, nB, nC, 0, nB)), 1e-9);
                } else {
                    const Dense LDU =
                        multiply(multiply(to_dense(level.lower), undo(level.d_inv)), to_dense(level.upper));
                    const Dense S = plus(block(permuted(to_dense(A), level.p, level.q), nB, nC, nB, nC), LDU, -1);
                    for (Index i = 0; i < nC; ++i)
                        EXPECT_LE(largest(block(C, i, 1, 0, nC)),
                                  schur_drop_tol * largest(block(S, i, 1, 0, nC)) + 1e-9);
                    EXPECT_EQ(largest(C) > 1e-6, schur_drop_tol > 0);
                }
            }
        }
}

}  // namespace
}  // namespace ilux
