// Sweeps, held against formulas of small circuits and dense solutions of the real form.

#include "ilux/solver/frequency_sweep.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "ilux/solver/frequencies.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

constexpr Complex j(0, 1);

struct Circuit {
    EntryList           G, C;
    std::vector<double> b;

    FrequencySweep sweep(const SolverOptions& options) const
    {
        const auto n = static_cast<Index>(b.size());
        return {G.matrix(n, n), C.matrix(n, n), serial(options)};
    }
};

/// A source of 1 V, R to node 2, C from there to the ground. Unknowns: both voltages, and the source's current.
Circuit low_pass(double R, double C)
{
    Circuit circuit{.G = {}, .C = {}, .b = {0, 0, 1}};
    for (const auto& [i, k, g] :
         {std::tuple(0, 0, 1 / R), {0, 1, -1 / R}, {1, 0, -1 / R}, {1, 1, 1 / R}, {0, 2, 1.}, {2, 0, 1.}})
        circuit.G.add(i, k, g);
    circuit.C.add(1, 1, C);
    return circuit;
}

/// A source of 1 V, R to node 2, L to node 3, C to the ground. Unknowns: voltages 1 to 3, currents of the source and of
/// L.
Circuit resonator(double R, double L, double C)
{
    Circuit circuit{.G = {}, .C = {}, .b = {0, 0, 0, 1, 0}};
    for (const auto& [i, k, g] : {std::tuple(0, 0, 1 / R),
                                  {0, 1, -1 / R},
                                  {0, 3, 1.},
                                  {1, 0, -1 / R},
                                  {1, 1, 1 / R},
                                  {1, 4, 1.},
                                  {2, 4, -1.},
                                  {3, 0, 1.},
                                  {4, 1, 1.},
                                  {4, 2, -1.}})
        circuit.G.add(i, k, g);
    circuit.C.add(2, 2, C);
    circuit.C.add(4, 4, -L);
    return circuit;
}

struct Heard {
    std::vector<double>        frequencies;
    std::vector<ComplexVector> x;
    std::vector<SolverAction>  actions;

    SweepListener listener()
    {
        return [this](const SweepPoint& point) {
            EXPECT_EQ(point.index, std::ssize(frequencies));
            frequencies.push_back(point.frequency);
            x.emplace_back(point.x.begin(), point.x.end());
            actions.push_back(point.report.result().action);
        };
    }
};

SolverOptions gmres_with(PrecondKind kind)
{
    SolverOptions options = serial({.method = MethodChoice::gmres});
    options.precond.kind = kind;
    return options;
}

double omega(double f) { return 2 * std::numbers::pi * f; }

TEST(FrequencySweep, IsThatOfALowPass)
{
    constexpr double R = 1e3, C = 1e-9;  // 159 kHz
    const auto       frequencies = parse_frequencies("0,1e2,1e5,159154.943,1e6,1e10");
    for (const auto method : {MethodChoice::automatic, MethodChoice::lu}) {
        Heard             heard;
        const auto        circuit = low_pass(R, C);
        FrequencySweep    sweep = circuit.sweep({.method = method});
        const SweepReport report = sweep.run(frequencies, circuit.b, heard.listener());
        EXPECT_EQ(report.converged, 6);
        EXPECT_EQ(heard.frequencies, frequencies);
        for (std::size_t k = 0; k < frequencies.size(); ++k) {
            const Complex out = 1. / (1. + j * omega(frequencies[k]) * R * C);
            EXPECT_NEAR(std::abs(heard.x[k][1] - out), 0, 1e-13 * std::abs(out)) << frequencies[k];
            EXPECT_NEAR(std::abs(heard.x[k][0] - 1.), 0, 1e-14);
        }
    }
}

TEST(FrequencySweep, IsThatOfAResonatorAtAndBesideItsResonance)
{
    constexpr double R = 2, L = 1e-6, C = 1e-9;
    const double     resonance = 1 / (2 * std::numbers::pi * std::sqrt(L * C));
    auto             frequencies = parse_frequencies("1e4:1e9:log:60");
    frequencies.push_back(resonance);
    Heard             heard;
    const auto        circuit = resonator(R, L, C);
    FrequencySweep    sweep = circuit.sweep({.method = MethodChoice::lu});
    const SweepReport report = sweep.run(frequencies, circuit.b, heard.listener());
    EXPECT_EQ(report.converged, 61);
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
        const double  w = omega(frequencies[k]);
        const Complex out = 1. / (1. - w * w * L * C + j * w * R * C);
        EXPECT_NEAR(std::abs(heard.x[k][2] - out), 0, 1e-10 * std::abs(out)) << frequencies[k];
    }
    const Complex peak = heard.x.back()[2];  // √(L/C) / R, a quarter behind
    EXPECT_NEAR(std::abs(peak), std::sqrt(L / C) / R, 1e-8);
    EXPECT_NEAR(std::arg(peak), -std::numbers::pi / 2, 1e-8);
}

/// A dominant G and a C of another pattern, whose part is of G's size at 1 Hz.
struct Random40 {
    CsrMatrix<double>   G = random_dominant(40, 4, 1), C = random_matrix(40, 40, 3, 2);
    ComplexVector       b = random_complex_vector(40, 3);
    std::vector<double> frequencies = parse_frequencies("0.001:0.1:log:12");
};

TEST(FrequencySweep, AgreesWithDenseSolutionsAndSeparateSolvers)
{
    const Random40    data;
    Heard             heard;
    FrequencySweep    sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    const SweepReport report = sweep.run(data.frequencies, data.b, heard.listener());
    EXPECT_EQ(report.converged, 12);
    EXPECT_LE(report.worst_residual, 1e-14);
    for (std::size_t k = 0; k < heard.x.size(); ++k) {
        AcMatrix matrix(data.G, data.C);
        matrix.set_frequency(data.frequencies[k]);
        const auto wanted = dense_solve(real_form(matrix.A()), real_form(data.b));
        EXPECT_LE(relative_difference(real_form(heard.x[k]), wanted), 1e-12) << k;
        LinearSolver<Complex> alone(serial({.method = MethodChoice::lu}));
        alone.analyse(matrix.A());
        (void)alone.factor();
        ComplexVector x(40);
        ASSERT_TRUE(alone.solve(data.b, x).converged());
        EXPECT_LE(relative_difference(real_form(heard.x[k]), real_form(x)), 1e-13) << k;
    }
}

TEST(FrequencySweep, AnalysesOnceAndRefactorsWhileThePivotsServe)
{
    const Random40 data;
    Heard          heard;
    FrequencySweep sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    SweepReport    report = sweep.run(data.frequencies, data.b, heard.listener());
    EXPECT_EQ(report.frequencies, 12);
    EXPECT_EQ(report.analyses, 1);
    EXPECT_EQ(report.count(SolverAction::factor), 1);
    EXPECT_EQ(report.count(SolverAction::refactor), 11);
    EXPECT_EQ(std::ranges::count(heard.actions, SolverAction::refactor), 11);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.first_failed, -1);

    report = sweep.run(std::vector<double>{0.02, 0.05}, data.b);  // and needs no other one later
    EXPECT_EQ(report.analyses, 0);
    EXPECT_EQ(report.count(SolverAction::refactor), 2);
}

TEST(FrequencySweep, ChoosesOtherPivotsWhereTheFormerAreStale)
{
    // [1 1; 1 + jω10²⁰ 2]: the first pivot serves at 0 Hz, and is nothing beside its column at 1 Hz.
    Circuit circuit{.G = {}, .C = {}, .b = {1, 3}};
    for (const auto& [i, k, g] : {std::tuple(0, 0, 1.), {0, 1, 1.}, {1, 0, 1.}, {1, 1, 2.}}) circuit.G.add(i, k, g);
    circuit.C.add(1, 0, 1e20);
    FrequencySweep sweep =
        circuit.sweep({.method = MethodChoice::lu, .lu = {.matching = LuMatching::off, .scaling = LuScaling::none}});
    Heard             heard;
    const SweepReport report = sweep.run(std::vector<double>{0, 1}, circuit.b, heard.listener());
    EXPECT_EQ(report.converged, 2);
    EXPECT_EQ(report.count(SolverAction::repivot), 1);
    const Complex a10 = 1. + j * omega(1) * 1e20, determinant = 2. - a10;  // x by Cramer's rule
    EXPECT_NEAR(std::abs(heard.x[1][0] - (-1. / determinant)), 0, 1e-14 / std::abs(determinant));
    EXPECT_NEAR(std::abs(heard.x[1][1] - (3. - a10) / determinant), 0, 1e-14);
}

TEST(FrequencySweep, KeepsThePreconditionerWhileItServes)
{
    const Random40    data;
    FrequencySweep    sweep(data.G, data.C, gmres_with(PrecondKind::ilu0));
    Heard             heard;
    const SweepReport report = sweep.run(parse_frequencies("0.001:0.0012:lin:8"), data.b, heard.listener());
    EXPECT_EQ(report.converged, 8);
    EXPECT_EQ(report.count(SolverAction::refresh), 1);
    EXPECT_EQ(report.count(SolverAction::lagged), 7);
    EXPECT_GT(report.steps, 0);
    EXPECT_LE(report.worst_residual, 1e-8);
}

TEST(FrequencySweep, StartsFromTheSolutionBeforeWhereAsked)
{
    const Random40 data;
    for (const bool reuse : {false, true}) {
        SolverOptions options = gmres_with(PrecondKind::none);
        options.sequence.reuse_x = reuse;
        FrequencySweep     sweep(data.G, data.C, options);
        std::vector<Index> steps;
        const SweepReport  report = sweep.run(std::vector<double>{0.01, 0.01}, data.b,
                                              [&](const SweepPoint& point) { steps.push_back(point.report.steps()); });
        EXPECT_EQ(report.converged, 2);
        EXPECT_EQ(steps[1] == 0, reuse) << steps[1];
    }
}

TEST(FrequencySweep, TellsAFrequencyWithoutSolutionAndSolvesTheOthers)
{
    auto circuit = low_pass(1e3, 1e-9);
    circuit.b.push_back(0);
    circuit.C.add(3, 3, 1e-9);  // a node that nothing but its capacitor holds
    FrequencySweep    sweep = circuit.sweep({.method = MethodChoice::lu});
    Heard             heard;
    const SweepReport report = sweep.run(std::vector<double>{1e3, 0, 1e6}, circuit.b, heard.listener());
    EXPECT_EQ(report.frequencies, 3);
    EXPECT_EQ(report.converged, 2);
    EXPECT_EQ(report.outcome, Outcome::singular);
    EXPECT_EQ(report.first_failed, 1);
    EXPECT_NE(report.detail, "");
    const Complex out = 1. / (1. + j * omega(1e6) * 1e-6);
    EXPECT_NEAR(std::abs(heard.x[2][1] - out), 0, 1e-13);
}

TEST(FrequencySweep, TakesARealRightHandSide)
{
    const Random40            data;
    const std::vector<double> b = random_vector(40, 5);
    Heard                     real, complex;
    FrequencySweep            sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    EXPECT_EQ(sweep.run(data.frequencies, b, real.listener()).converged, 12);
    FrequencySweep other(data.G, data.C, serial({.method = MethodChoice::lu}));
    EXPECT_EQ(other.run(data.frequencies, ComplexVector(b.begin(), b.end()), complex.listener()).converged, 12);
    EXPECT_EQ(real.x, complex.x);
}

TEST(FrequencySweep, EndsBetweenFrequenciesWhereItIsStopped)
{
    const Random40 data;
    FrequencySweep sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    StopSource     source;
    sweep.stop_by(source.token());
    const SweepReport stopped = sweep.run(data.frequencies, data.b, [&](const SweepPoint& point) {
        if (point.index == 1) source.request_stop();
    });
    EXPECT_EQ(stopped.frequencies, 2);
    EXPECT_EQ(stopped.converged, 2);
    const SweepReport at_once = sweep.run(data.frequencies, data.b);
    EXPECT_EQ(at_once.frequencies, 1);  // which tells why
    EXPECT_EQ(at_once.outcome, Outcome::cancelled);
    sweep.stop_by({});
    EXPECT_EQ(sweep.run(data.frequencies, data.b).converged, 12);
}

TEST(FrequencySweep, EndsWhereItsListenerThrowsAndIsOfUseAfterwards)
{
    const Random40 data;
    FrequencySweep sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    EXPECT_THROW((void)sweep.run(data.frequencies, data.b,
                                 [](const SweepPoint& point) {
                                     if (point.index == 1) throw std::runtime_error("enough");
                                 }),
                 std::runtime_error);
    EXPECT_EQ(sweep.run(data.frequencies, data.b).converged, 12);
}

TEST(FrequencySweep, StaysOfUseWhereItIsMoved)
{
    const Random40 data;
    FrequencySweep first(data.G, data.C, serial({.method = MethodChoice::lu}));
    EXPECT_EQ(first.run(data.frequencies, data.b).converged, 12);
    FrequencySweep    second(std::move(first));
    const SweepReport report = second.run(data.frequencies, data.b);
    EXPECT_EQ(report.converged, 12);
    EXPECT_EQ(report.analyses, 0);
}

TEST(FrequencySweep, RefusesBadInputBeforeAnythingIsSolved)
{
    const Random40 data;
    FrequencySweep sweep(data.G, data.C, serial({.method = MethodChoice::lu}));
    const auto     refused = [&](const std::vector<double>& frequencies, const ComplexVector& b,
                             const std::vector<std::string>& words) {
        const auto each = [](const SweepPoint&) { ADD_FAILURE() << "something was solved"; };
        expect_refusal([&] { (void)sweep.run(frequencies, b, each); }, words);
    };
    refused({}, data.b, {"no frequencies"});
    for (const double f : {-1., nan, infinity}) refused({1, f}, data.b, {"Hz"});
    refused({1, 1e308}, data.b, {"overflows"});
    refused({1}, ComplexVector(39), {"39 values", "40 rows"});
    ComplexVector b = data.b;
    for (const Complex bad : {Complex(nan, 0), Complex(0, infinity)}) {
        b[7] = bad;
        refused({1}, b, {"row 7"});
    }
    expect_refusal([&] { FrequencySweep(data.G, random_matrix(39, 39, 2, 1)); }, {"40 × 40", "39 × 39"});
    expect_refusal(
        [&] { (void)FrequencySweep(CsrMatrix<double>(), CsrMatrix<double>()).run(data.frequencies, ComplexVector()); },
        {"no rows"});
    EXPECT_EQ(sweep.run(data.frequencies, data.b).converged, 12);
}

}  // namespace
}  // namespace ilux
