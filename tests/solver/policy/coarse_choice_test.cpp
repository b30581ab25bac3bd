#include "ilux/solver/policy/coarse_choice.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux {
namespace {

TEST(CoarseChoice, IsLeftToUsUnlessAnotherOptionSpeaksAgainstIt)
{
    const auto left = [](const std::function<void(SolverOptions&)>& change) {
        SolverOptions options;
        change(options);
        return leaves_coarse(options);
    };
    EXPECT_TRUE(left([](SolverOptions&) {}));
    EXPECT_TRUE(left([](SolverOptions& o) { o.precond.mlilu.drop_tol = 1e-3; }));
    EXPECT_TRUE(
        left([](SolverOptions& o) { o.precond.mlilu.near_null = std::make_shared<const std::vector<double>>(3, 1.); }));
    for (const MethodChoice method :
         {MethodChoice::cg, MethodChoice::gmres, MethodChoice::bicgstab, MethodChoice::bicg})
        EXPECT_TRUE(left([&](SolverOptions& o) { o.method = method; })) << field_text(method);
    for (const MethodChoice method : {MethodChoice::minres, MethodChoice::sqmr, MethodChoice::cocg, MethodChoice::lu})
        EXPECT_FALSE(left([&](SolverOptions& o) { o.method = method; })) << field_text(method);
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.coarse = CoarseChoice::off; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.coarse = CoarseChoice::on; }));  // not ours
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.kind = PrecondKind::ilu0; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.mlilu.setup = MlIluSetup::crout; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.mlilu.compensation = Compensation::on; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.precond.precision = Precision::in_single; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.krylov.precision = KrylovPrecision::mixed; }));
    EXPECT_FALSE(left([](SolverOptions& o) { o.krylov.null_space = "constant"; }));
}

TEST(CoarseChoice, GainsWhereManyRowsAreNotDominant)
{
    Cpu        cpu(2);
    const auto gains = [&](const char* name, bool beside_gpu = false) {
        const CoarseGain gain = coarse_gain<double>(cpu, gallery::build(name), {}, beside_gpu);
        EXPECT_NE(gain, CoarseGain::steps) << name;
        return gain == CoarseGain::rounds;
    };
    EXPECT_TRUE(gains("elasticity2d:n=80"));
    EXPECT_TRUE(gains("elasticity3d:n=15"));
    EXPECT_FALSE(gains("elasticity2d:n=20"));    // soon factored without
    EXPECT_FALSE(gains("poisson3d:n=25"));       // rounds that compensate serve
    EXPECT_FALSE(gains("anisotropic2d:n=120"));  // couplings of both signs: Crout's sweep takes a third of the steps
    EXPECT_TRUE(gains("anisotropic2d:n=120", true));
}

TEST(CoarseChoice, SavesStepsWhereRowsAreDominantInSpace)
{
    Cpu        cpu(2);
    const auto gain = [&](const char* name) {
        return coarse_gain<double>(cpu, gallery::build(name), {}, /*beside_gpu=*/false);
    };
    EXPECT_EQ(gain("poisson3d:n=50"), CoarseGain::steps);
    EXPECT_EQ(gain("convdiff3d:n=50"), CoarseGain::steps);  // not symmetric
    EXPECT_EQ(gain("poisson2d:n=350"), CoarseGain::none);   // a plane
    EXPECT_EQ(gain("poisson3d:n=40"), CoarseGain::none);    // soon done without
    EXPECT_EQ(gain("like_G3_circuit:scale=0.3"), CoarseGain::none);
}

/// An upwind scheme ties an unknown strongly to those before it alone.
TEST(CoarseChoice, SavesStepsInAStrongWindInSpace)
{
    Cpu cpu(2);
    EXPECT_EQ(coarse_gain<double>(cpu, gallery::build("convdiff3d:n=56,scheme=upwind,peclet=1140"), {}, false),
              CoarseGain::steps);
}

/// Lines and planes of strong ties have small aggregates, and coarse matrices that are fuller than A.
TEST(CoarseChoice, LeavesStrongAnisotropiesInSpaceAlone)
{
    Cpu        cpu(2);
    const auto gain = [&](Index weak_directions) {
        constexpr Index  n = 50;
        constexpr double weak = 1e-3;
        auto             A = gallery::build("poisson3d:n=50");
        for (Index i = 0; i < A.rows(); ++i)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                const Index step = std::abs(A.col()[p] - i), direction = step == 1 ? 0 : step == n ? 1 : 2;
                if (step == 0) A.val()[p] = 2 * (weak_directions * weak + (3 - weak_directions));
                else if (direction >= 3 - weak_directions) A.val()[p] *= weak;
            }
        return coarse_gain<double>(cpu, A, {}, false);
    };
    EXPECT_EQ(gain(0), CoarseGain::steps);
    EXPECT_EQ(gain(1), CoarseGain::none);
    EXPECT_EQ(gain(2), CoarseGain::none);
}

/// Dominant rows with much more on the diagonal need no coarse space: their errors are local.
TEST(CoarseChoice, LeavesAStepOfTheHeatEquationAlone)
{
    Cpu  cpu(2);
    auto A = gallery::build("poisson3d:n=50");
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] *= 2;
    EXPECT_EQ(coarse_gain<double>(cpu, A, {}, false), CoarseGain::none);
}

}  // namespace
}  // namespace ilux
