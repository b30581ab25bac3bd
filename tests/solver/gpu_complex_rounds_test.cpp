// Complex systems whose M is set up in rounds on the GPU that solves them: not on the host, and as well as there.

#include <gtest/gtest.h>

#include <string>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/gallery/waves.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

class GpuComplexRounds : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

SolverOptions in_rounds(const char* method)
{
    SolverOptions options{.mode = SolverMode::iterative, .device = DeviceChoice::gpu, .threads = 1, .retry = false};
    parse_field("method", method, options.method);
    options.precond.mlilu.setup = MlIluSetup::rounds;
    return options;
}

void expect_made_on_the_device(const SolverReport& report, const std::string& where)
{
    ASSERT_TRUE(report.result().gpu && report.result().mlilu) << where;
    EXPECT_EQ(report.result().device.kind, "gpu") << where;
    EXPECT_GT(report.result().mlilu->levels.front().rounds, 0) << where;
    for (const auto& decision : report.result().decisions)
        EXPECT_EQ(decision.find("factored on the host"), std::string::npos) << where << ": " << decision;
    for (const auto& [facts, engine] : report.result().gpu->systems)  // a launch a round, as rounds are applied
        EXPECT_EQ(engine, GpuSpTrsvEngine::level_graph) << where;
}

/// Solves and judges x. @return the report
SolverReport solve_and_check(LinearSolver<Complex>& solver, const CsrMatrix<Complex>& A, const std::string& where)
{
    const auto    b = random_complex_vector(A.rows(), 3);
    ComplexVector x(b.size());
    auto          report = solver.refactor_and_solve(A.val(), b, x);
    EXPECT_TRUE(report.converged()) << where << ": " << report.result().why();
    EXPECT_LE(backward_error(real_form(A), real_form(x), real_form(b)), 1e-8) << where;
    return report;
}

TEST_F(GpuComplexRounds, SolveByEveryMethod)
{
    const auto turned_mesh = turned(gallery::convdiff3d({.n = 14}), 1);
    const auto hermitian = turned_hermitian(gallery::poisson2d(40, 40), 2);
    const auto circuit = gallery::ac_mesh({.n = 40});
    for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab", "cg", "minres", "cocg", "sqmr"}) {
        const std::string name = method;
        const auto&       A = name == "cg" || name == "minres"   ? hermitian
                              : name == "cocg" || name == "sqmr" ? circuit
                                                                 : turned_mesh;
        for (bool single : {false, true}) {
            auto options = in_rounds(method);
            if (single) options.precond.precision = Precision::in_single;
            LinearSolver<Complex> solver(options);
            solver.analyse(A);
            const auto report = solve_and_check(solver, A, name);
            expect_made_on_the_device(report, name);
            EXPECT_EQ(report.result().gpu->systems.size(), name == "bicg" ? 4u : 2u);
            EXPECT_EQ(report.result().gpu->precision, single ? Precision::in_single : Precision::in_double) << name;
        }
    }
}

/// A wave problem with damping, and one of a circuit; as many steps as by the host's rounds.
TEST_F(GpuComplexRounds, TakeTheStepsOfTheHost)
{
    for (const auto& A : {gallery::helmholtz2d_open({.n = 150, .kh = 0.3}), gallery::ac_mesh({.n = 100})}) {
        Offset steps[2] = {};
        for (DeviceChoice device : {DeviceChoice::gpu, DeviceChoice::cpu}) {
            auto options = in_rounds("gmres");
            options.device = device;
            options.krylov.max_steps = 3000;
            LinearSolver<Complex> solver(options);
            solver.analyse(A);
            const auto report = solve_and_check(solver, A, "");
            if (device == DeviceChoice::gpu) expect_made_on_the_device(report, "");
            steps[device == DeviceChoice::gpu] = report.steps();
        }
        EXPECT_NEAR(steps[1], steps[0], 2 + 0.05 * steps[0]);
    }
}

TEST_F(GpuComplexRounds, ServeMixedPrecision)
{
    for (const char* method : {"gmres", "bicg"}) {
        auto options = in_rounds(method);
        options.krylov.precision = KrylovPrecision::mixed;
        const auto            A = turned(gallery::convdiff3d({.n = 14}), 1);
        LinearSolver<Complex> solver(options);
        solver.analyse(A);
        const auto report = solve_and_check(solver, A, method);
        expect_made_on_the_device(report, method);
        EXPECT_EQ(report.result().gpu->precision, Precision::in_single);
    }
}

/// Frequencies far apart, so that the M before does not serve, but its rounds do.
TEST_F(GpuComplexRounds, AreRefreshedFromFrequencyToFrequency)
{
    auto options = in_rounds("gmres");
    options.krylov.max_steps = 2000;
    LinearSolver<Complex> solver(options);
    solver.analyse(gallery::ac_mesh({.n = 60}), 5);
    int replayed = 0;
    for (double f : {1e9, 1.3e9, 0.7e9, 1.6e9, 1e9}) {
        const auto A = gallery::ac_mesh({.n = 60, .f = f});
        const auto report = solve_and_check(solver, A, std::to_string(f));
        if (report.result().action == SolverAction::lagged) continue;  // the M before served
        expect_made_on_the_device(report, std::to_string(f));
        replayed += report.result().mlilu->replayed;
    }
    EXPECT_GE(replayed, 1);
}

}  // namespace
}  // namespace ilux::test
