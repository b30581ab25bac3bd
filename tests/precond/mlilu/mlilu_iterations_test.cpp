// How well MlIlu preconditions: step counts of a prototype in exactly this setting, and real matrices.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

struct Run {
    MlIluReport     precond;
    IterationReport solve;
};

/// GMRES(30) from the right, x = 0 in, b = A·solution, ‖b − A x‖ ≤ 10⁻⁸ ‖b‖.
Run run(const CsrMatrix<>& A, const MlIluOptions& options, const Vector& solution)
{
    Cpu                  be(1);
    const MatrixOperator op(A);
    const auto           mlilu = MlIlu<>::build(be, A, options);
    MlIluPreconditioner  M(mlilu);
    const KrylovOptions  krylov{.rtol = 1e-8, .restart = 30, .reorthogonalize = 0.98};
    GmresWorkspace<Cpu>  ws(A.rows(), krylov);
    Vector               b(A.rows()), x(A.rows());
    spmv(be, 1, A, solution, 0, b);
    return {mlilu.report(), gmres<Cpu>(be, op, M, b, x, ws, krylov)};
}

/// Natural order, nothing scaled or matched, greedy signs, τ = 10⁻² in the sweep's own rule, τ_S = 10⁻³, dense from 50.
MlIluOptions plain(double kappa, OffDiagonal off_diagonal)
{
    return {.drop_tol = 1e-2 * kappa,
            .schur_drop_tol = 1e-3,
            .setup = MlIluSetup::crout,
            .inverse_bound = kappa,
            .growth_bound = 0,
            .matching = MatchingChoice::off,
            .ordering = Ordering::none,
            .off_diagonal = off_diagonal,
            .scaling = false,
            .dense_order = 50};
}

struct Baseline {
    std::string        name;
    CsrMatrix<>        A;
    double             kappa;
    std::vector<Index> levels;  ///< accepted in each
    Index              save, keep;
};

std::vector<Baseline> baselines()
{
    const auto convection =
        gallery::convdiff2d({.n = 48, .peclet = 1, .bx = 500, .by = -300, .scheme = gallery::Scheme::central});
    return {
        {"Poisson 32 x 32", gallery::poisson2d(32, 32), 3, {908, 116}, 10, 11},
        {"Poisson 32 x 32", gallery::poisson2d(32, 32), 5, {981, 43}, 9, 9},
        {"Poisson 32 x 32", gallery::poisson2d(32, 32), 100, {1024}, 7, 7},
        {"Poisson 64 x 64", gallery::poisson2d(64, 64), 3, {3599, 497}, 17, 17},
        {"Poisson 64 x 64", gallery::poisson2d(64, 64), 5, {3897, 199}, 15, 16},
        {"Poisson 64 x 64", gallery::poisson2d(64, 64), 100, {4096}, 11, 11},
        {"Poisson 14 x 14 x 14", gallery::poisson3d(14, 14, 14), 5, {2742, 2}, 10, 10},
        {"convection-diffusion 48 x 48", convection, 5, {2078, 213, 13}, 5, 5},
        {"shifted Laplace 32 x 32", gallery::helmholtz2d({.n = 32, .k = std::sqrt(150.)}), 5, {949, 48, 27}, 12, 11}};
}

TEST(MlIluIterations, AreThoseOfThePrototype)
{
    for (const auto& [name, A, kappa, levels, save, keep] : baselines())
        for (OffDiagonal off_diagonal : {OffDiagonal::save, OffDiagonal::keep}) {
            const auto         result = run(A, plain(kappa, off_diagonal), Vector(A.rows(), 1.));
            std::vector<Index> accepted;
            for (const auto& level : result.precond.levels) accepted.push_back(level.accepted);
            EXPECT_EQ(accepted, levels) << name << ", bound " << kappa;
            EXPECT_EQ(result.solve.outcome, Outcome::converged);
            EXPECT_NEAR(result.solve.steps, off_diagonal == OffDiagonal::save ? save : keep, 1)
                << name << ", bound " << kappa << (off_diagonal == OffDiagonal::save ? ", save" : ", keep");
        }
}

TEST(MlIluIterations, RealMatricesAreSolvedByTheDefaults)
{
    ILUX_SKIP_WITHOUT_MATRICES();
    const test::TempFolder folder;
    for (const std::string name :
         {"west0479", "saad3", "memplus", "bcsstk15", "rajat14", "sherman3", "gre_343", "kkt_AUG3D"}) {
        const auto A = read_matrix(test::real_matrix(name, folder));
        const auto result = run(A, {}, test::random_vector(A.rows(), 1));
        EXPECT_EQ(result.solve.outcome, Outcome::converged) << name << ": residual " << result.solve.relative_residual;
        EXPECT_LE(result.solve.relative_residual, 1e-8) << name;
    }
}

}  // namespace
}  // namespace ilux
