#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;

/// Symmetric positive definite matrices of order at most 110.
std::vector<Named> spd_matrices()
{
    std::vector<Named> all{{"poisson2d", gallery::poisson2d(10, 10)},
                           {"poisson2d, a line", gallery::poisson2d(33, 1)},
                           {"jump2d", gallery::jump2d({.n = 10, .blocks = 4, .decades = 6})},
                           {"anisotropic2d", gallery::anisotropic2d({.n = 9, .eps = 1e-3})},
                           {"elasticity2d", gallery::elasticity2d({.n = 6, .nu = 0.3})},
                           {"elasticity2d, nearly incompressible", gallery::elasticity2d({.n = 5, .nu = 0.49})}};
    for (Index n : awkward_sizes) all.push_back({"random", test::random_spd(n, 4, n)});
    return all;
}

std::vector<MlIluOptions> spd_options(bool definite)
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save, OffDiagonal::automatic}) {
        all.push_back({.setup = MlIluSetup::crout, .off_diagonal = off_diagonal});
        all.push_back({.drop_tol = 0.05,
                       .setup = MlIluSetup::crout,
                       .inverse_bound = 3,
                       .ordering = Ordering::none,
                       .off_diagonal = off_diagonal});
        all.push_back({.setup = MlIluSetup::crout,
                       .inverse_bound = 2,
                       .growth_bound = 0,
                       .off_diagonal = off_diagonal,
                       .estimator = Estimator::look_ahead});
        all.push_back({.drop_tol = 0.5,
                       .schur_drop_tol = 0.2,
                       .setup = MlIluSetup::crout,
                       .inverse_bound = 1,
                       .off_diagonal = off_diagonal,
                       .dense_order = 0});
    }
    for (Compensation compensation : {Compensation::on, Compensation::off})
        all.push_back({.schur_drop_tol = 0.02, .setup = MlIluSetup::rounds, .compensation = compensation});
    for (auto& options : all) options.definite = definite;
    return all;
}

TEST(MlIluOfSpd, IsSymmetric)
{
    for (const auto& [name, A] : spd_matrices())
        for (bool definite : {false, true})
            for (const auto& options : spd_options(definite)) {
                MlIluPreconditioner M(build(A, options));
                const Dense         X = as_dense(M);
                EXPECT_LE(largest_difference(X, test::transposed(X)), 1e-12 * largest(X)) << name << " of " << A.rows();
                EXPECT_LE(largest_difference(X, as_dense(M, true)), 1e-12 * largest(X)) << name << " of " << A.rows();
            }
}

TEST(MlIluOfSpd, IsPositiveDefinite)
{
    for (const auto& [name, A] : spd_matrices())
        for (const auto& options : spd_options(true)) {
            MlIluPreconditioner M(build(A, options));
            EXPECT_TRUE(is_positive_definite(as_dense(M))) << name << " of " << A.rows();
        }
}

TEST(MlIluOfSpd, LetsConjugateGradientsConverge)
{
    for (const auto& A : {gallery::poisson2d(60, 60), gallery::jump2d({.n = 50}), gallery::elasticity2d({.n = 25}),
                          gallery::anisotropic2d({.n = 40}), test::random_spd(500, 4, 1)})
        for (MlIluSetup setup : {MlIluSetup::crout, MlIluSetup::rounds}) {
            Cpu                  be(1);
            const MatrixOperator op(A);
            MlIluPreconditioner  M(build(A, {.setup = setup, .definite = true}));
            KrylovWorkspace<Cpu> ws(Method::cg, A.rows(), {});
            Vector               b = test::random_vector(A.rows(), 1), x(A.rows());
            const auto           report = solve<Cpu>(be, Method::cg, op, M, b, x, ws, {});
            EXPECT_EQ(report.outcome, Outcome::converged) << "n = " << A.rows() << " " << report.detail;
            EXPECT_LE(report.steps, 100) << "n = " << A.rows();
        }
}

TEST(MlIluOfSpd, RefusesToBeDefiniteForAMatrixThatCannotBe)
{
    test::expect_refusal([] { build(random_regular(10, 3, 1), {.definite = true}); }, {"definite", "symmetric"});
    test::expect_refusal([] { build(gallery::stokes2d({.n = 4}), {.definite = true}); }, {"definite", "diagonal"});
}

}  // namespace
}  // namespace ilux
