#include "ilux/engine/stored_plan.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <string>
#include <vector>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

/// Values that drift from system to system, by another amount in every row.
std::vector<CsrMatrix<double>> drifting(const CsrMatrix<double>& first, int systems)
{
    std::vector<CsrMatrix<double>> all(static_cast<std::size_t>(systems), first);
    for (int k = 0; k < systems; ++k)
        for (Index i = 0; i < first.rows(); ++i)
            for (Offset p = first.row_ptr()[i]; p < first.row_ptr()[i + 1]; ++p)
                all[k].val()[p] *= 1 + 0.01 * k * (1 + i % 7);
    return all;
}

struct Solved {
    std::vector<std::vector<double>> x;
    std::vector<SolverAction>        actions;
    std::string                      decisions, reasons;
    double                           condition = 0;  ///< of the first system
};

template <class S>
Solved solve_all(const std::vector<CsrMatrix<S>>& systems, const SolverOptions& options)
{
    Solved          all;
    LinearSolver<S> solver(options);
    solver.analyse(systems.front(), double(systems.size()));
    for (const auto& A : systems) {
        std::vector<S>     b(static_cast<std::size_t>(A.rows()), S(1)), x(b.size());
        const SolverReport report = solver.refactor_and_solve(A.val(), b, x);
        EXPECT_EQ(report.outcome(), Outcome::converged) << report.why();
        const auto* const numbers = reinterpret_cast<const double*>(x.data());
        all.x.emplace_back(numbers, numbers + x.size() * sizeof(S) / sizeof(double));
        all.actions.push_back(report.result().action);
        all.reasons += report.result().reason;
        if (all.x.size() == 1 && report.result().lu) all.condition = report.result().lu->condition;
        for (const std::string& decision : report.decisions) all.decisions += decision + "\n";
    }
    return all;
}

class StoredPlan : public testing::Test {
protected:
    SolverOptions keeping(SolverOptions options = {.method = MethodChoice::lu})
    {
        options = serial(options);
        options.plan = file;
        return options;
    }
    std::string refusal(const CsrMatrix<double>& A, const SolverOptions& options) const
    {
        try {
            LinearSolver<double>(options).analyse(A);
        } catch (const InvalidInput& why) {
            return why.what();
        }
        return "";
    }

    TempFolder                     folder;
    std::string                    file = folder.file("kept.plan");
    std::vector<CsrMatrix<double>> circuits = drifting(gallery::mna_random({.n = 600, .decades = 6}), 3);
};

TEST_F(StoredPlan, IsWrittenByTheFirstRunAndTheSecondHasTheSameBits)
{
    for (const MethodChoice method : {MethodChoice::lu, MethodChoice::automatic}) {
        SCOPED_TRACE(name(method));
        std::filesystem::remove(file);
        const SolverOptions options = keeping({.method = method});
        SolverOptions       without = options;
        without.plan.clear();
        const Solved      never = solve_all(circuits, without), first = solve_all(circuits, options);
        const std::string bytes = read_bytes(file);
        const Solved      second = solve_all(circuits, options);
        EXPECT_NE(first.decisions.find("plan: written to " + file), std::string::npos) << first.decisions;
        EXPECT_NE(second.decisions.find("plan: loaded from " + file + " in "), std::string::npos) << second.decisions;
        EXPECT_NE(second.decisions.find("; making it took "), std::string::npos);
        EXPECT_EQ(first.actions[0], SolverAction::factor);
        EXPECT_EQ(second.actions[0], SolverAction::refactor);
        EXPECT_EQ(first.condition, second.condition);  // not put off, although the pivots are not new
        // By auto, what serves later systems is decided by measured times.
        const std::size_t compared = method == MethodChoice::lu ? circuits.size() : 1;
        for (std::size_t k = 0; k < compared; ++k) {
            EXPECT_TRUE(identical(never.x[k], first.x[k])) << k;
            EXPECT_TRUE(identical(never.x[k], second.x[k])) << k;
        }
        EXPECT_EQ(read_bytes(file), bytes);
    }
}

TEST_F(StoredPlan, ServesComplexSystemsOfThePattern)
{
    std::vector<CsrMatrix<std::complex<double>>> systems;
    for (const auto& A : circuits) {
        std::vector<std::complex<double>> val;
        for (const double v : A.val()) val.emplace_back(v, 0.1 * v);
        systems.push_back(
            CsrMatrix<std::complex<double>>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                         {A.col().begin(), A.col().end()}, std::move(val)));
    }
    const Solved first = solve_all(systems, keeping()), second = solve_all(systems, keeping());
    EXPECT_EQ(second.actions[0], SolverAction::refactor);
    for (std::size_t k = 0; k < systems.size(); ++k) EXPECT_TRUE(identical(first.x[k], second.x[k])) << k;
}

TEST_F(StoredPlan, ServesWhereNothingHasGrown)
{
    SolverOptions options = keeping();
    options.lu.matching = LuMatching::off;
    options.lu.scaling = LuScaling::none;
    options.lu.ordering = LuOrdering::none;
    using Complex = std::complex<double>;
    // |5 + 3i| / |3 + i| and |(5 + 3i) / (3 + i)| differ in the last bit.
    for (const auto& A : {CsrMatrix<Complex>::from_sorted(0, 0, {0}, {}, {}),
                          CsrMatrix<Complex>::from_sorted(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {{3, 1}, 1, {5, 3}, 2})}) {
        std::filesystem::remove(file);
        const Solved first = solve_all<Complex>({A}, options), second = solve_all<Complex>({A}, options);
        EXPECT_NE(second.decisions.find("plan: loaded"), std::string::npos) << second.decisions;
        EXPECT_EQ(second.actions[0], SolverAction::refactor);
        EXPECT_TRUE(identical(first.x[0], second.x[0]));
    }
}

TEST_F(StoredPlan, PivotsThatDoNotHoldAreReplacedAndThatIsSaid)
{
    const auto two = [](double a) {
        return CsrMatrix<double>::from_sorted(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {a, 1, 1, 2});
    };
    SolverOptions options = keeping();
    options.lu.matching = LuMatching::off;
    options.lu.scaling = LuScaling::none;
    (void)solve_all<double>({two(1)}, options);
    const Solved other = solve_all<double>({two(1e-16)}, options);
    EXPECT_EQ(other.actions[0], SolverAction::repivot);
    EXPECT_NE(other.reasons, "");
}

TEST_F(StoredPlan, OfAnotherPatternOrOptionsOrDamagedIsRefusedAndStays)
{
    (void)solve_all(circuits, keeping());
    const std::string bytes = read_bytes(file);
    const auto&       A = circuits.front();
    EXPECT_NE(refusal(gallery::poisson2d(10, 10), keeping()).find("another pattern"), std::string::npos);
    for (const auto& change : {+[](LuOptions& lu) { lu.pivot_tol = 0.5; }, +[](LuOptions& lu) { lu.blocks = false; },
                               +[](LuOptions& lu) { lu.supernodes = LuSupernodes::on; },
                               +[](LuOptions& lu) { lu.ordering = LuOrdering::amd; }}) {
        SolverOptions other = keeping();
        change(other.lu);
        EXPECT_NE(refusal(A, other).find("made with another"), std::string::npos);
    }
    EXPECT_EQ(read_bytes(file), bytes);
    std::string flipped = bytes;
    flipped[bytes.size() / 2] ^= 1;
    for (const std::string& damaged :
         {std::string(), bytes.substr(0, 40), bytes.substr(0, bytes.size() / 2), flipped, std::string(200, 'x')}) {
        folder.write("kept.plan", damaged);
        for (const MethodChoice method : {MethodChoice::lu, MethodChoice::automatic})
            EXPECT_TRUE(refusal(A, keeping({.method = method})).starts_with(file));
        EXPECT_EQ(read_bytes(file), damaged);
    }
}

TEST_F(StoredPlan, ThatCannotBeWrittenIsSaidBeforeTheAnalysis)
{
    file = folder.file("no/such/kept.plan");
    EXPECT_NE(refusal(circuits.front(), keeping()).find("no/such"), std::string::npos);
    for (const std::string& no_file : {folder.path().string(), std::string("-"), std::string("/dev/null")}) {
        file = no_file;
        EXPECT_NE(refusal(circuits.front(), keeping()).find("regular file"), std::string::npos) << no_file;
    }
}

/// By supernodes.
void keeps_the_analysis_alone(SolverOptions options, const std::string& file)
{
    options.lu.supernodes = LuSupernodes::on;
    const auto   systems = drifting(gallery::poisson2d(20, 20), 2);
    const Solved first = solve_all(systems, options), second = solve_all(systems, options);
    EXPECT_NE(first.decisions.find("without pivots"), std::string::npos) << first.decisions;
    EXPECT_FALSE(read_plan(file)->pattern);
    EXPECT_NE(second.decisions.find("plan: loaded"), std::string::npos);
    EXPECT_EQ(second.actions[0], SolverAction::factor);
    for (std::size_t k = 0; k < systems.size(); ++k) EXPECT_TRUE(identical(first.x[k], second.x[k])) << k;
}

TEST_F(StoredPlan, BySupernodesKeepsTheAnalysisAlone) { keeps_the_analysis_alone(keeping(), file); }

class GpuStoredPlan : public StoredPlan {};
TEST_F(GpuStoredPlan, BySupernodesKeepsTheAnalysisAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    keeps_the_analysis_alone(keeping({.method = MethodChoice::lu, .device = DeviceChoice::gpu}), file);
}

TEST_F(StoredPlan, IsRefusedByAnIterationAndNeedlessWhereOneWasChosen)
{
    EXPECT_THROW(LinearSolver<double>(keeping({.method = MethodChoice::gmres})), InvalidOption);
    EXPECT_THROW(LinearSolver<double>(keeping({.mode = SolverMode::iterative})), InvalidOption);
    const SlowLu slow;
    const Solved solved = solve_all<double>({gallery::poisson3d(32, 32, 32)}, keeping({}));
    EXPECT_NE(solved.decisions.find("plan: an iteration needs none"), std::string::npos) << solved.decisions;
    EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace ilux::test
