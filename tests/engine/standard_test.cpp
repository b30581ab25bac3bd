#include "ilux/engine/standard.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// Rows of random size, 1 down to 10⁻¹², as volts and amperes meet in a circuit.
CsrMatrix<double> with_uneven_rows(CsrMatrix<double> A)
{
    Random              random(7);
    std::vector<double> d(A.rows());
    for (double& one : d) one = std::pow(10, random.uniform(-12, 0));
    scale_rows_cols(A, d, {});
    return A;
}

/// Unknowns of one size, random because a constant would be what a preconditioner that compensates is exact for.
std::vector<double> from_1_to_2(Index n)
{
    auto x = random_vector(n, 1);
    for (double& value : x) value = 1.5 + value / 2;
    return x;
}

/// max |x_i − y_i|
double distance(std::span<const double> x, std::span<const double> y)
{
    double error = 0;
    for (std::size_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(x[i] - y[i]));
    return error;
}

/// A correction that does what a test says.
class Calls final : public Correction<Cpu> {
public:
    using Precondition = std::function<void(std::span<const double> r, std::span<double> z)>;
    using Solve = std::function<IterationReport(std::span<double> x, const KrylovOptions& krylov)>;

    Calls(Precondition precondition, Solve solve) : precondition_(std::move(precondition)), solve_(std::move(solve)) {}
    void            apply(std::span<const double> r, std::span<double> z) override { precondition_(r, z); }
    IterationReport solve(std::span<const double>, std::span<const double>, std::span<const double>,
                          std::span<double> x, const KrylovOptions& krylov, const StopToken&) override
    {
        return solve_(x, krylov);
    }

private:
    Precondition precondition_;
    Solve        solve_;
};

/// [1 0; 0 A] with unknowns 1 of the first and about 10⁻⁶ of the second: once those of A·10⁻⁶ have fallen below the
/// tolerance beside the first, the residual says nothing of them.
struct TwoScales {
    CsrMatrix<double>   A;
    std::vector<double> x, b;

    explicit TwoScales(const CsrMatrix<double>& inner)
    {
        std::vector<Offset> row_ptr{0, 1};
        std::vector<Index>  col{0};
        std::vector<double> val{1};
        for (Index i = 0; i < inner.rows(); ++i) row_ptr.push_back(1 + inner.row_ptr()[i + 1]);
        for (const Index j : inner.col()) col.push_back(j + 1);
        val.insert(val.end(), inner.val().begin(), inner.val().end());
        const Index n = inner.rows() + 1;
        A = CsrMatrix<double>::from_sorted(n, n, row_ptr, col, val);
        x = from_1_to_2(n);
        for (double& value : x) value *= 1e-6;
        x[0] = 1;
        b = times(A, x);
    }

    SolverReport solve(const SolverOptions& options)
    {
        LinearSolver solver(serial(options));
        found.assign(x.size(), 0);
        solver.analyse(A);
        solver.factor();
        return solver.solve(b, found);
    }
    /// max |x_i − x*_i| / |x*_i|
    double worst() const
    {
        double error = 0;
        for (std::size_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(found[i] - x[i]) / x[i]);
        return error;
    }

    std::vector<double> found;
};

/// A preconditioner that leaves something to do.
PrecondOptions loose()
{
    PrecondOptions precond;
    precond.mlilu.drop_tol = 0.3;
    precond.mlilu.schur_drop_tol = 0.3;
    return precond;
}

SolverReport solve_for(std::span<const double> b, const CsrMatrix<double>& A, const SolverOptions& options,
                       std::vector<double>& x)
{
    LinearSolver solver(serial(options));
    x.assign(b.size(), 0);
    solver.analyse(A);
    solver.factor();
    return solver.solve(b, x);
}

TEST(Standard, IsWhatTheOptionsAskFor)
{
    SolverOptions options{.mode = SolverMode::iterative, .krylov = {.rtol = 1e-6, .etol = 0.1}};
    EXPECT_EQ(standard_of(options).residual, 1e-6);
    EXPECT_EQ(standard_of(options).rowwise, infinity);
    EXPECT_EQ(standard_of(options).error, infinity);
    options.krylov.stop = StopTest::backward_error;
    EXPECT_EQ(standard_of(options).residual, infinity);
    EXPECT_EQ(standard_of(options).backward_error, 1e-6);
    options.krylov.stop = StopTest::rowwise;
    EXPECT_EQ(standard_of(options).residual, 1e-6);
    EXPECT_EQ(standard_of(options).rowwise, 1e-6);
    options.krylov.stop = StopTest::error;
    EXPECT_EQ(standard_of(options).rowwise, 1e-12);
    EXPECT_EQ(standard_of(options).error, 0.1);
    options = {};
    EXPECT_EQ(standard_of(options).error, 5e-3);
    EXPECT_EQ(standard_of(options).rowwise, 1e-12);
}

TEST(Standard, IsMissedByTheWorstOfWhatItAsksFor)
{
    Accuracy accuracy{.relative_residual = 1e-9, .backward_error = 1e-12, .rowwise = 1e-3, .finite = true};
    accuracy.rowwise_counting = 1e-3;
    accuracy.error = 0.125;
    accuracy.worst_error = 0.5;
    accuracy.worst = 6;
    accuracy.uncertain = 2;
    EXPECT_EQ(excess(accuracy, {}), 0);
    EXPECT_DOUBLE_EQ(excess(accuracy, {.residual = 1e-8}), 0.1);
    EXPECT_DOUBLE_EQ(excess(accuracy, {.residual = 1e-8, .rowwise = 1e-4, .error = 0.25}), 10);
    EXPECT_EQ(shortfall(accuracy, {.residual = 1e-8}, 9), "");
    EXPECT_EQ(shortfall(accuracy, {.rowwise = 1e-4}, 9), "the row-wise backward error is 1.0e-03, not 0.0001");
    EXPECT_EQ(shortfall(accuracy, {.error = 0.01}, 9), uncertainty_text(accuracy, 9));
    accuracy.worst_error = 0;
    EXPECT_DOUBLE_EQ(excess(accuracy, {.error = 0.0625}), 2);  // in the norm, too
    accuracy.estimate_settled = false;
    EXPECT_EQ(excess(accuracy, {.error = 0.25}), infinity);
    EXPECT_DOUBLE_EQ(excess(accuracy, {.residual = 1e-8}), 0.1);
    accuracy.estimate_settled = true;
    accuracy.worst_error = std::nan("");
    EXPECT_EQ(excess(accuracy, {.error = 0.25}), infinity);
    accuracy.finite = false;
    EXPECT_EQ(excess(accuracy, {}), infinity);
}

TEST(Standard, OfModeAutoIsToldWhereLuStaysAboveASmallEtol)
{
    std::vector<double> x(2);
    for (const double etol : {1e-2, 0.0}) {  // x = (0.3, 0.1) is no pair of doubles
        LinearSolver solver(serial({.krylov = {.etol = etol}}));
        solver.analyse(to_csr({2, 2, {3, 1, 1, 7}}));
        solver.factor();
        const auto report = solver.solve(std::vector<double>{1, 1}, x);
        EXPECT_TRUE(report.converged() && report.result().plan.direct());
        EXPECT_EQ(report.result().warning.ends_with("of its size, not 0"), etol == 0) << report.result().warning;
    }
}

class EveryMethod : public testing::TestWithParam<MethodChoice> {};

TEST_P(EveryMethod, GoesOnUntilRowsAndUnknownsAreRight)
{
    const bool cg = GetParam() == MethodChoice::cg;
    const auto plain = gallery::build("convdiff2d:n=30");
    const auto A = cg ? gallery::build("poisson2d:n=30") : with_uneven_rows(plain);
    // A loose tolerance leaves room for x to be wrong.
    SolverOptions       options{.method = GetParam(), .krylov = {.rtol = 1e-2, .etol = 1e-4}};
    const auto          exact = from_1_to_2(A.rows()), b = times(A, exact);
    std::vector<double> x;
    options.krylov.stop = StopTest::error;
    const auto by_error = solve_for(b, A, options, x);
    ASSERT_TRUE(by_error.converged()) << by_error.why();
    EXPECT_LE(distance(x, exact), 1e-3);
    EXPECT_LE(by_error.result().accuracy.worst_error, 1e-4);
    options.krylov.stop = StopTest::rowwise;
    options.krylov.rtol = 1e-7;
    const auto by_rows = solve_for(b, A, options, x);
    ASSERT_TRUE(by_rows.converged()) << by_rows.why();
    EXPECT_LE(measure(A, x, b).rowwise, 1e-7);
    EXPECT_LE(distance(x, exact), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Standard, EveryMethod,
                         testing::Values(MethodChoice::gmres, MethodChoice::fgmres, MethodChoice::bicg,
                                         MethodChoice::bicgstab, MethodChoice::cg, MethodChoice::lu),
                         [](const auto& one) { return field_text(one.param); });

TEST(Standard, ABThatIsLostInRowsThatDoNotCountIsToldOf)
{
    // x = 10²⁵ t for a null vector t: no digit of b is met, and every row that counts is.
    const Accuracy lost{.relative_residual = 0.5, .rowwise = 0.7, .rowwise_counting = 1e-14, .finite = true};
    EXPECT_NE(lost_b_warning(lost).find("b - A x is 5.0e-01 times b"), std::string::npos) << lost_b_warning(lost);
    Accuracy solved = lost;
    solved.rowwise = 1e-15;  // terms that cancel in every row are rounding of A alone
    EXPECT_EQ(lost_b_warning(solved), "");
    Accuracy close = lost;
    close.relative_residual = 1e-3;
    EXPECT_EQ(lost_b_warning(close), "");
}

TEST(Standard, AFixedMethodThatKeepsTheResidualWarns)
{
    TwoScales  system(gallery::build("convdiff2d:n=30"));
    const auto report = system.solve({.method = MethodChoice::gmres, .krylov = {.rtol = 1e-4}, .precond = loose()});
    ASSERT_TRUE(report.converged());
    EXPECT_GT(system.worst(), 0.1);  // that x is wrong is what the warning is for
    EXPECT_GT(report.result().accuracy.worst_error, 0.1);
    EXPECT_GT(report.result().accuracy.uncertain, 0);
    EXPECT_NE(report.result().warning.find("uncertain by more than 0.5 %"), std::string::npos);
}

TEST(Standard, AutoIsRightWhereAFixedMethodWarns)
{
    const test::SlowLu slow;  // so that auto iterates
    TwoScales          system(gallery::build("convdiff3d:n=20"));
    const auto fixed = system.solve({.method = MethodChoice::gmres, .krylov = {.rtol = 1e-4}, .precond = loose()});
    ASSERT_TRUE(fixed.converged());
    ASSERT_GT(system.worst(), 0.1);
    const auto automatic = system.solve({.krylov = {.rtol = 1e-4}, .precond = loose()});
    ASSERT_TRUE(automatic.converged()) << automatic.why();
    EXPECT_FALSE(automatic.result().plan.direct());
    EXPECT_LE(system.worst(), 1e-2);
    EXPECT_EQ(automatic.result().warning, "");
}

TEST(Standard, StepsOfCorrectionsCountAndEndAtTheirLimit)
{
    TwoScales     system(gallery::build("convdiff2d:n=30"));
    SolverOptions options{.method = MethodChoice::gmres, .retry = false, .krylov = {.rtol = 1e-4}, .precond = loose()};
    const Index   first = system.solve(options).steps();
    options.krylov.stop = StopTest::error;
    const Index all = system.solve(options).steps();
    EXPECT_GT(all, first);
    EXPECT_LE(system.worst(), 1e-2);
    options.krylov.max_steps = first + 1;
    const auto cut = system.solve(options);
    EXPECT_LE(cut.steps(), first + 1);
    EXPECT_EQ(cut.outcome(), Outcome::stagnated);
    EXPECT_TRUE(cut.result().inaccurate);
    EXPECT_NE(cut.why().find("uncertain"), std::string::npos) << cut.why();
}

TEST(Standard, ABackwardErrorWhoseNormsOverflowIsNotZero)
{
    // A x = (0, 1.5e307) without an overflow, though ‖A‖_F ‖x‖₂ = 1.95e200 · 2.12e108 is no double: by the method's
    // report and by the solver's.
    const auto                A = to_csr({2, 2, {1e200, -1e200, 1e200, -0.9e200}});
    const std::vector<double> b{0, 0.75e307};
    const double              expected = 0.05 / (std::sqrt(3.81) * std::sqrt(2.0) + 0.05);
    const KrylovOptions       krylov{.max_steps = 0, .stop = StopTest::backward_error};
    {
        Cpu                  cpu(1);
        std::vector<double>  x{1.5e108, 1.5e108};
        KrylovOptions        with_norm = krylov;
        GmresWorkspace<Cpu>  ws(2, krylov);
        const MatrixOperator op(A);
        Identity<Cpu>        M(2);
        with_norm.matrix_norm = norm2(cpu, A.val());
        const IterationReport report = gmres<Cpu>(cpu, op, M, b, x, ws, with_norm);
        EXPECT_EQ(report.outcome, Outcome::max_steps);
        EXPECT_NEAR(report.backward_error, expected, 1e-13);
    }
    LinearSolver solver(
        serial({.method = MethodChoice::gmres, .retry = false, .krylov = krylov, .sequence = {.reuse_x = true}}));
    std::vector<double> x{1.5e108, 1.5e108};
    solver.analyse(A);
    solver.factor();
    const auto report = solver.solve(b, x);
    EXPECT_FALSE(report.converged());
    EXPECT_NEAR(report.result().report.backward_error, expected, 1e-13);
}

TEST(Standard, AnEstimateAndItsCorrectionsAskTheToken)
{
    // An iteration of 20 steps to x: its calls are played by hand.
    const auto                A = to_csr({2, 2, {2, 0, 0, 3}});
    const std::vector<double> b{2, 3};
    Cpu                       cpu(1);
    Attempt                   tried;
    tried.plan.method = MethodChoice::gmres;
    tried.x.of<double>() = {1, 1 + 1e-9};
    tried.report.outcome = Outcome::converged;
    tried.report.steps = 20;
    int                solves = 0;
    std::vector<Index> steps;
    Calls              calls([](auto r, auto z) { std::ranges::copy(r, z.begin()); },
                [&](auto x, const KrylovOptions& krylov) {
                    ++solves;
                    steps.push_back(krylov.max_steps);
                    std::ranges::fill(x, 0.0);
                    IterationReport nothing;
                    nothing.outcome = Outcome::breakdown;
                    nothing.steps = 1;
                    return nothing;
                });
    finish_iteration(cpu, A, b, {}, {.residual = 1e-8, .rowwise = 1e-12}, calls, nullptr, {}, tried);
    EXPECT_EQ(solves, 2);  // the estimate, and a correction that was of no use
    EXPECT_EQ(steps, (std::vector<Index>{5, 980}));
    EXPECT_EQ(tried.report.steps, 21);  // the estimate's are no steps to x
    EXPECT_TRUE(tried.inaccurate);
    EXPECT_EQ(tried.report.outcome, Outcome::stagnated);
    EXPECT_GT(tried.accuracy.error, 0);  // by M, as the steps came to nothing
    EXPECT_FALSE(tried.accuracy.estimate_settled);

    for (const auto& [stop, outcome] : {std::pair{StopToken().within(0), Outcome::time_limit},
                                        std::pair{test::at_once(), Outcome::cancelled}}) {  // no correction is begun
        solves = 0;
        tried.report.outcome = Outcome::converged;
        finish_iteration(cpu, A, b, {}, {.residual = 1e-8, .rowwise = 1e-12}, calls, nullptr, stop, tried);
        EXPECT_EQ(solves, 1);
        EXPECT_TRUE(tried.inaccurate);
        EXPECT_EQ(tried.report.outcome, outcome);
    }
}

TEST(AccuracyWarning, IsOfUnknownsThenOfACrudePreconditionerThenOfRows)
{
    Accuracy accuracy;
    accuracy.rowwise_counting = 1e-8;
    EXPECT_EQ(accuracy_warning(accuracy, 9), "");
    accuracy.estimate_settled = false;
    EXPECT_NE(accuracy_warning(accuracy, 9).find("too crude"), std::string::npos);
    accuracy.rowwise_counting = 1e-13;  // as small as that, rows speak for themselves
    EXPECT_EQ(accuracy_warning(accuracy, 9), "");
    accuracy.estimate_settled = true;
    accuracy.rowwise_counting = 1e-3;
    EXPECT_NE(accuracy_warning(accuracy, 9).find("a row is solved to 1.0e-03"), std::string::npos);
    accuracy.uncertain = 2;
    EXPECT_NE(accuracy_warning(accuracy, 9).find("2 of 9 unknowns"), std::string::npos);
}

TEST(Standard, AConsistentSingularSystemIsStillSolved)
{
    auto A = gallery::build("poisson2d:n=40");
    for (Index i = 0; i < A.rows(); ++i) {  // rows sum up to 0: constants are the null space
        double others = 0;
        Offset diagonal = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.col()[p] == i) diagonal = p;
            else others += A.val()[p];
        }
        A.val()[diagonal] = -others;
    }
    const auto          b = times(A, random_vector(A.rows(), 3));
    std::vector<double> x;
    const auto          report = solve_for(b, A, {}, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_LE(residual_of(A, x, b), 1e-8);
    EXPECT_NE(report.result().warning, "");
}

TEST(Standard, ACorrectionMayNotCostTheResidualItsOwnLimit)
{
    // d mends the small row, by far the worst, and leaves b - A x above rtol.
    const auto                A = to_csr({2, 2, {1, 0, 0, 1e-6}});
    const std::vector<double> b{1, 1e-6};
    Cpu                       cpu(1);
    Attempt                   tried;
    tried.plan.method = MethodChoice::gmres;
    tried.x.of<double>() = {1, 100};
    tried.report.outcome = Outcome::converged;
    const std::vector<double> before = tried.x.of<double>();
    Calls                     calls(
        [](auto r, auto z) {
            z[0] = r[0];
            z[1] = 1e6 * r[1];
        },
        [&](auto d, const KrylovOptions&) {
            d[0] = 0.3;
            d[1] = -99;
            IterationReport done;
            done.outcome = Outcome::converged;
            return done;
        });
    finish_iteration(cpu, A, b, {.rtol = 0.1}, {.residual = 0.1, .rowwise = 1e-12, .error = 0.01}, calls, nullptr, {},
                     tried);
    EXPECT_EQ(tried.x.of<double>(), before);
    EXPECT_LE(tried.accuracy.relative_residual, 0.1);
    EXPECT_TRUE(tried.inaccurate);
}

TEST(Standard, HoldsLuToTheErrorAskedForInModeAutoToo)
{
    constexpr Index     n = 13;  // of Hilbert, whose x no double knows
    std::vector<double> values;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) values.push_back(1. / (i + j + 1));
    const auto A = to_csr({n, n, values});
    for (const SolverMode mode : {SolverMode::direct, SolverMode::automatic}) {
        std::vector<double> x;
        SolverOptions       options{.mode = mode};
        options.krylov.stop = StopTest::error;
        const auto report = solve_for(times_ones(A), A, options, x);
        EXPECT_FALSE(report.converged()) << static_cast<int>(mode);
        EXPECT_NE(report.result().why(), "");
    }
}

}  // namespace
}  // namespace ilux
