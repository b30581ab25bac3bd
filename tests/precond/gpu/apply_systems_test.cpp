#include "ilux/precond/gpu/apply_systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/tests/precond/gpu/apply_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::eps;
using test::identical;
using test::to_dense;

Vector swept_by(const MlIlu<>& mlilu, const Vector& r, bool transposed = false)
{
    return applied_systems(systems_of<double>(mlilu, transposed), r);
}

void expect_close(const Vector& x, const Vector& y)
{
    EXPECT_LE(test::relative_difference(x, y), 1e-14)
        << testing::PrintToString(x) << " is not " << testing::PrintToString(y);
}

TEST(ApplySystems, SolveTheHandExample)
{
    const Vector r{6, 7, 6, 9};
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto exact = build(hand_example(), by_hand(0, off_diagonal));
        expect_close(swept_by(exact, r), {32. / 7, -5. / 7, 13. / 7, -1. / 7});
        expect_close(swept_by(exact, r, true), {76. / 7, -74. / 7, 39. / 14, 19. / 7});
    }
    const auto save = build(hand_example(), by_hand(0.3, OffDiagonal::save));
    expect_close(swept_by(save, r), {47. / 12, -5. / 12, 41. / 24, -1. / 12});
    expect_close(swept_by(save, r, true), {22. / 3, -37. / 6, 17. / 8, 11. / 6});
    const auto keep = build(hand_example(), by_hand(0.3, OffDiagonal::keep));
    expect_close(swept_by(keep, r), {7. / 6, 5. / 6, 13. / 12, 1. / 6});
}

TEST(ApplySystems, OfTheHandExampleAreTwoKeptAndFourSaved)
{
    // B = {1, 3, 4}, C = {2}. L_B: l41 = 1, l43 = 1/2; L_G: l21 = 1, l23 = 1/4, l24 = 1/5. U_B: u14 = 1;
    // U_F: u12 = 2, u32 = 1/2, u42 = -1/5. Backwards: C, 4, 3, 1.
    const auto keep = systems_of<double>(build(hand_example(), by_hand(0, OffDiagonal::keep)), false);
    ASSERT_EQ(keep.steps.size(), 3u);
    const auto L = to_dense(keep.steps[0].system.L), U = to_dense(keep.steps[2].system.L);
    EXPECT_LE(largest_difference(L, {4, 4, {0, 0, 0, 0, 0, 0, 0, 0, 1, .5, 0, 0, 1, .25, .2, 0}}), 1e-15);
    EXPECT_LE(largest_difference(U, {4, 4, {0, 0, 0, 0, -.2, 0, 0, 0, .5, 0, 0, 0, 2, 1, 0, 0}}), 1e-15);
    EXPECT_TRUE(keep.steps[1].dense);
    ASSERT_EQ(keep.W.size(), 1u);
    EXPECT_NEAR(keep.W[0], 10. / 7, 1e-14);
    const auto save = systems_of<double>(build(hand_example(), by_hand(0, OffDiagonal::save)), false);
    EXPECT_EQ(save.steps.size(), 1u + 2 + 1 + 2);  // gathered once, W in the middle
}

/// Options that reach one level and many, keep, save and both mixed, with and without a dense level.
std::vector<MlIluOptions> apply_variants()
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save, OffDiagonal::automatic}) {
        all.push_back({.off_diagonal = off_diagonal});
        all.push_back({.drop_tol = 0, .schur_drop_tol = 0, .inverse_bound = 1, .off_diagonal = off_diagonal});
        all.push_back({.drop_tol = 0.05,
                       .schur_drop_tol = 0.01,
                       .inverse_bound = 1.5,
                       .matching = MatchingChoice::on,
                       .ordering = Ordering::rcm,
                       .off_diagonal = off_diagonal,
                       .dense_order = 0});
        all.push_back({.drop_tol = 0.3, .inverse_bound = 1e300, .growth_bound = 0, .off_diagonal = off_diagonal});
    }
    for (auto& options : all) options.setup = MlIluSetup::crout;
    all.push_back({.setup = MlIluSetup::rounds});
    return all;
}

std::vector<Named> varied_matrices()
{
    std::vector<Named> all{
        {"poisson2d", gallery::poisson2d(15, 13)},
        {"convdiff3d", gallery::convdiff3d({.n = 7})},
        {"recirculating2d", gallery::recirculating2d({.n = 20})},
        {"stokes2d", gallery::stokes2d({.n = 5})},
        {"random", random_regular(200, 4, 1)},
        {"one with a bad scale", random_regular(150, 3, 2)},
    };
    scale_rows_cols(all.back().A, sizes(150, 40, 1), sizes(150, 40, 2));
    for (Index n : {0, 1, 2, 33}) {
        for (auto& named : regular_matrices(n, n + 3)) all.push_back(std::move(named));
        for (auto& named : singular_matrices(n, n + 3)) all.push_back(std::move(named));
    }
    for (auto& [name, A] : all) name += " of order " + std::to_string(A.rows());
    return all;
}

/// Which levels keep, as k, and save, as s; a d at the end for the dense level.
std::string shape(const MlIluFactors<>& factors)
{
    std::string text;
    for (const auto& level : factors.levels) text += level.keep || level.nB == level.n || level.nB == 0 ? 'k' : 's';
    return text + (factors.dense.size() > 0 ? "d" : "");
}

TEST(ApplySystems, ApplyWhatTheCpuAppliesLevelByLevel)
{
    std::set<std::string> shapes;
    for (const auto& [name, A] : varied_matrices())
        for (const auto& options : apply_variants()) {
            const auto          mlilu = build(A, options);
            const auto&         dense = mlilu.factors().dense;
            MlIluPreconditioner M(mlilu);
            const Vector        r = test::random_vector(A.rows(), 5);
            shapes.insert(shape(mlilu.factors()));
            for (bool transposed : {false, true}) {
                const auto   systems = systems_of<double>(mlilu, transposed);
                const Vector z = applied_systems(systems, r, [&](std::span<double> x) {
                    Vector work(dense.workspace());
                    transposed ? dense.solve_adjoint(x, x, work) : dense.solve(x, x, work);
                });
                EXPECT_TRUE(within(z, applied(M, r, transposed), 20 * eps, majorant(systems, r)))
                    << name << (transposed ? ", transposed: " : ": ") << shape(mlilu.factors());
            }
        }
    const auto reached = [&](const char* part) {
        return std::ranges::any_of(shapes,
                                   [&](const std::string& found) { return found.find(part) != std::string::npos; });
    };
    for (const char* whole : {"", "k", "kd", "sd"}) EXPECT_TRUE(shapes.contains(whole)) << whole;
    for (const char* part : {"kkkkk", "sssss", "ks", "sk", "ssk"}) EXPECT_TRUE(reached(part)) << part;
}

TEST(ApplySystems, InvertTheMatrixWhereNothingWasDropped)
{
    for (const auto& [name, A] :
         {Named{"poisson2d", gallery::poisson2d(12, 12)}, Named{"stokes2d", gallery::stokes2d({.n = 5})},
          Named{"random", random_regular(150, 4, 3)}})
        for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save})
            for (double kappa : {1., 3., 1e10}) {
                const auto mlilu =
                    build(A,
                          {.drop_tol = 0, .schur_drop_tol = 0, .inverse_bound = kappa, .off_diagonal = off_diagonal});
                const Vector b = test::random_vector(A.rows(), 1);
                EXPECT_LE(test::backward_error(A, swept_by(mlilu, b), b), 1e-12) << name << ' ' << kappa;
                EXPECT_LE(test::backward_error(transpose(A), swept_by(mlilu, b, true), b), 1e-12)
                    << name << ' ' << kappa;
            }
}

TEST(ApplySystems, HoldTheInverseOfTheDenseLevel)
{
    for (Index n : {1, 2, 33, 70}) {
        auto matrices = singular_matrices(n, 1);
        matrices.push_back({"regular", random_regular(n, n, 2)});
        for (const auto& [name, A] : matrices) {
            const auto  mlilu = build(A, {.inverse_bound = 1, .dense_order = n});
            const auto& dense = mlilu.factors().dense;
            const Index k = dense.size();
            Vector      work(dense.workspace());
            for (bool transposed : {false, true}) {
                const auto systems = systems_of<double>(mlilu, transposed, 3);
                if (dense.stored() == 0) {
                    EXPECT_EQ(systems.dense, 0);  // the identity, if anything
                    continue;
                }
                ASSERT_EQ(systems.dense, k);
                for (Index j = 0; j < k; ++j) {
                    Vector e(k), x(k);
                    e[j] = 1;
                    transposed ? dense.solve_adjoint(e, x, work) : dense.solve(e, x, work);
                    for (Index i = 0; i < k; ++i)
                        EXPECT_NEAR(systems.W[i * k + j], x[i], 1e-9 * largest({k, 1, x})) << name << " of " << n;
                }
            }
        }
    }
}

TEST(ApplySystems, OfALargeMatrixOfZerosHoldNoDenseInverse)
{
    const Index  n = 20'000;
    const auto   mlilu = build(CsrMatrix<>::from_triplets(n, n, {}, {}, {}));
    const Vector r = test::random_vector(n, 1);
    EXPECT_TRUE(systems_of<double>(mlilu, false).W.empty());
    MlIluPreconditioner M(mlilu);
    EXPECT_TRUE(identical(swept_by(mlilu, r), applied(M, r)));
}

TEST(ApplySystems, AreStrictlyLowerWithFramesInRange)
{
    for (const auto& [name, A] : varied_matrices())
        for (const auto& options : apply_variants()) {
            const auto mlilu = build(A, options);
            for (bool transposed : {false, true}) {
                const auto systems = systems_of<double>(mlilu, transposed);
                for (const auto& [in, out, dense, system] : systems.steps) {
                    EXPECT_EQ(in.n, out.n);
                    for (const auto& part : {in, out})
                        EXPECT_LE(part.begin + part.n, part.of == ApplyPart::Of::work ? systems.work : systems.n);
                    const bool apart = in.of != out.of || in.begin + in.n <= out.begin || out.begin + out.n <= in.begin;
                    EXPECT_EQ(apart, !dense) << name;
                    if (dense) continue;
                    EXPECT_EQ(system.size(), in.n);
                    EXPECT_NO_THROW(check_triangle(system.L, Triangle::lower, Diagonal::unit));
                    EXPECT_EQ(test::broken_invariant(system.L), "");
                    for (const auto* index : {&system.frame.in_index, &system.frame.out_index})
                        EXPECT_NO_THROW(inverse_permutation(*index)) << name;  // of none: fine
                }
            }
        }
}

TEST(ApplySystems, TakeWhatTheirSizeForetold)
{
    for (const auto& [name, A] : varied_matrices())
        for (const auto& options : apply_variants()) {
            const auto mlilu = build(A, options);
            const auto size = apply_size(mlilu.factors());
            for (bool transposed : {false, true}) {
                const auto systems = systems_of<float>(mlilu, transposed);
                Offset     rows = 0, entries = 0;
                for (const auto& step : systems.steps) {
                    rows += step.system.size();
                    entries += step.system.L.nnz();
                }
                EXPECT_EQ(size.steps, static_cast<Index>(systems.steps.size()));
                EXPECT_EQ(size.rows, rows) << name;
                EXPECT_EQ(size.entries, entries) << name << ' ' << shape(mlilu.factors());
                EXPECT_EQ(size.dense, systems.dense);
                EXPECT_EQ(size.work, systems.work);
                EXPECT_GE(size.bytes(8, 8), size.bytes(4, 8));
                EXPECT_GE(size.bytes(4, 8), 8 * static_cast<std::size_t>(entries));
            }
        }
}

TEST(ApplySystems, HaveTheSameBitsForAnyNumberOfThreads)
{
    const auto mlilu = build(gallery::poisson2d(100, 90), {.inverse_bound = 2, .off_diagonal = OffDiagonal::keep});
    const auto saved = build(gallery::poisson2d(100, 90), {.inverse_bound = 2, .off_diagonal = OffDiagonal::save});
    for (const auto& factors : {mlilu, saved}) {
        const auto one = systems_of<double>(factors, false, 1), many = systems_of<double>(factors, false, 4);
        ASSERT_EQ(one.steps.size(), many.steps.size());
        for (std::size_t s = 0; s < one.steps.size(); ++s) {
            EXPECT_TRUE(identical(one.steps[s].system.L, many.steps[s].system.L));
            EXPECT_EQ(one.steps[s].system.frame.out_scale, many.steps[s].system.frame.out_scale);
            EXPECT_EQ(one.steps[s].system.frame.in_index, many.steps[s].system.frame.in_index);
        }
        EXPECT_EQ(one.W, many.W);
    }
}

TEST(ApplySystems, InSinglePrecisionErrByItsRoundingAlone)
{
    constexpr double feps = std::numeric_limits<float>::epsilon();
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto   A = gallery::recirculating2d({.n = 20});
        const auto   mlilu = build(A, {.inverse_bound = 2, .off_diagonal = off_diagonal});
        const Vector r = test::random_vector(A.rows(), 5);
        for (bool transposed : {false, true}) {
            const auto   systems = systems_of<double>(mlilu, transposed);
            const Vector z = applied_systems(systems, r),
                         single = applied_systems(systems_of<float>(mlilu, transposed), r);
            EXPECT_TRUE(within(single, z, feps, majorant(systems, r)));
            EXPECT_FALSE(within(single, z, eps, majorant(systems, r)));  // it is stored in single precision indeed
        }
    }
}

TEST(ApplySystems, RefuseValuesTooLargeForSinglePrecision)
{
    const auto mlilu = build(dense(2, {1, 0, 0, 1e-60}), by_hand(0, OffDiagonal::keep));  // S = 1e-60
    EXPECT_NO_THROW(systems_of<double>(mlilu, false));
    test::expect_refusal([&] { systems_of<float>(mlilu, false); }, {"too large", "precision=double"});
}

TEST(ApplySystems, OfIlu0ApplyItsFactors)
{
    Cpu be(1);
    for (Index n : awkward_sizes) {
        const auto   A = test::random_dominant(n, 4, n);
        Ilu0         M(A);
        const Vector r = test::random_vector(n, 3);
        for (bool transposed : {false, true}) {
            const auto systems = apply_systems<double>(be, M, transposed);
            EXPECT_TRUE(within(applied_systems(systems, r), applied(M, r, transposed), 4 * eps, majorant(systems, r)));
            EXPECT_EQ(apply_size(M).entries,
                      n == 0 ? 0 : systems.steps[0].system.L.nnz() + systems.steps[1].system.L.nnz());
        }
    }
    const Ilu0<> broken(dense(3, {0, 2, 0, 1, 3, 1, 4, 0, 5}));
    test::expect_refusal([&] { apply_systems<double>(be, broken, false); }, {"zero pivot", "row 1"});
}

TEST(ApplySystems, ForAGpuAreKeptUnlessToldOtherwise)
{
    EXPECT_EQ(for_gpu({}).off_diagonal, OffDiagonal::keep);
    EXPECT_EQ(for_gpu({.off_diagonal = OffDiagonal::save}).off_diagonal, OffDiagonal::save);
    EXPECT_EQ(for_gpu({.drop_tol = 0.25}).drop_tol, 0.25);
    EXPECT_GT(for_gpu({}).depth_bound.rows, 0);
    EXPECT_EQ(for_gpu({.depth_bound = {DepthBound::none}}).depth_bound.rows, DepthBound::none);
    EXPECT_EQ(for_gpu({.depth_bound = {7}}).depth_bound.rows, 7);
}

}  // namespace
}  // namespace ilux
