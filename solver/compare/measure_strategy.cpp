#include "ilux/solver/compare/measure_strategy.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "ilux/base/instances.hpp"
#include "ilux/base/median.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/machine/lu_device.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

constexpr double      long_solve = 1;  // seconds; what takes longer is not repeated
constexpr const char* warm_up_problem = "convdiff2d:n=60";

template <Scalar S>
struct Measured {
    const SystemToMeasure<S>& system;
    Machine&                  machine;
    const TakeFinding&        take;
};

/// The median of runs that each give their seconds.
double median_of(Index repeats, const std::function<double()>& run)
{
    std::vector<double> seconds;
    for (Index k = 0; k < repeats; ++k) seconds.push_back(run());
    return median(std::move(seconds));
}

double seconds_of(const std::function<void()>& work)
{
    const WallClock clock;
    work();
    return clock.seconds();
}

template <Scalar S>
void take_answer(const Measured<S>& m, Outcome outcome, const std::string& detail, Json more, const std::vector<S>& x)
{
    more["outcome"] = name(outcome);
    more["detail"] = detail;
    judge<S>(more, m.system.A, m.system.b, x, m.system.options.krylov.rtol);
    m.take(more);
}

/// Analyses, factors, solves; then the same numbers again with the pivots given, as the next system of a series.
template <Scalar S>
void measure_direct(const Measured<S>& m)
{
    const WallClock clock;
    const auto      symbolic =
        analyse(view<S>(m.system.A), within_memory(m.system.options.lu), m.system.stop, m.machine.cpu);
    const double analysed = clock.seconds();
    require_memory(*symbolic, m.system.options.lu, sizeof(S));
    Lu<S> lu(m.machine.cpu, symbolic);
    lu.stop_by(m.system.stop);
    if (m.machine.gpu) lu.use_gpu(*m.machine.gpu);
    const LuReport factored = lu.factor(m.system.A.val());
    m.take({{"seconds", {{"analyse", analysed}, {"factor", factored.seconds}}}});
    if (factored.outcome != Outcome::converged)
        return m.take({{"outcome", name(factored.outcome)}, {"detail", factored.reason}});

    std::vector<S> x(m.system.b.size());
    LuSolveReport  solved;
    const auto     solve = [&] { solved = lu.solve(m.system.b, x, Transpose::no, lu_tolerance); };
    const double   first = seconds_of(solve);
    take_answer(m, solved.outcome, solved.reason,
                {{"steps", solved.refine.steps}, {"refactor", lu.status().method}, {"seconds", {{"solve", first}}}}, x);

    LuReport     renewed;
    const auto   refactor = [&] { renewed = lu.refactor(m.system.A.val()); };
    const double made = seconds_of(refactor);  // with what a series of them needs
    if (renewed.outcome != Outcome::converged) return m.take({{"detail", "refactored: " + renewed.reason}});
    const Index repeats = made <= long_solve ? m.system.repeats : 1;
    m.take({{"seconds", {{"refactor", median_of(repeats, [&] { return seconds_of(refactor); })}}}});
    if (first <= long_solve)
        m.take({{"seconds", {{"solve", median_of(m.system.repeats, [&] { return seconds_of(solve); })}}}});
}

Json attempts_json(const std::vector<Attempt>& attempts, std::size_t best)
{
    double analyse = 0, factor = 0, transfer = 0, solve = 0;  // of all attempts: what the answer has cost
    Index  steps = 0;
    for (const Attempt& tried : attempts) {
        analyse += tried.seconds_analyse;
        factor += tried.seconds_factor;
        transfer += tried.gpu ? tried.gpu->seconds_transfer : 0;
        solve += tried.report.seconds.solve;
        steps += tried.report.steps;
    }
    const Plan& plan = attempts[best].plan;
    return {{"began_with", attempts.front().plan.direct() ? "direct" : "iterative"},
            {"method", field_text(plan.method)},
            {"precond", plan.direct() ? "none" : field_text(plan.precond.kind)},
            {"steps", steps},
            {"attempts", attempts.size()},
            {"fill", attempts[best].fill},
            {"seconds", {{"analyse", analyse}, {"factor", factor}, {"transfer", transfer}, {"solve", solve}}}};
}

/// Measures an iteration, or mode auto, as `ilux solve` runs it, further attempts included.
template <Scalar S>
void measure_solver(const Measured<S>& m)
{
    LinearSolver<S> solver(m.system.options);
    solver.stop_by(m.system.stop);
    solver.analyse(m.system.A);
    solver.factor();  // what became of it is told by solve
    std::vector<S>     x(m.system.b.size());
    const SolverReport report = solver.solve(m.system.b, x);
    const Attempt&     result = report.result();
    if (result.has_x())
        take_answer(m, result.report.outcome, result.why(), attempts_json(report.attempts, report.best),
                    result.x.template of<S>());
    else {
        Json row = attempts_json(report.attempts, report.best);
        row["outcome"] = name(result.report.outcome);
        row["detail"] = result.why();
        m.take(row);
    }
    // With several attempts the time is that of all of them, which repeating the last would hide.
    if (report.attempts.size() > 1 || !result.has_x() || result.report.seconds.solve > long_solve) return;
    m.take({{"seconds", {{"solve", median_of(m.system.repeats, [&] {
                              return solver.solve(m.system.b, x).result().report.seconds.solve;
                          })}}}});
}

template <Scalar S>
void measure_on(const std::string& strategy, const Measured<S>& m)
{
    const auto why = lack_of_memory([&] { strategy == "direct" ? measure_direct(m) : measure_solver(m); });
    if (why) m.take({{"outcome", name(Outcome::out_of_memory)}, {"detail", *why}});
}

/// For this strategy and this device alone.
SolverOptions options_for(const Strategy& strategy, const SolverOptions& given)
{
    SolverOptions options = resolved(given);
    if (strategy.name == "auto") options.method = MethodChoice::automatic;
    else options.mode = strategy.name == "direct" ? SolverMode::direct : SolverMode::iterative;
    if (strategy.name == "direct") options.method = MethodChoice::lu, options.precond.coarse = CoarseChoice::automatic;
    ilux::parse_field("device", strategy.device, options.device);
    require_consistent(options);
    return options;
}

/// The first calls load kernels: a small system pays for them.
void warm_up(const std::string& strategy, SolverOptions options, Machine& machine)
{
    options.precond.mlilu.near_null = {};
    const CsrMatrix<double>       A = gallery::build(warm_up_problem);
    const std::vector<double>     b(static_cast<std::size_t>(A.rows()), 1.0);
    const SystemToMeasure<double> small{.A = A, .b = b, .options = std::move(options), .repeats = 1};
    measure_on<double>(strategy, {small, machine, [](const Json&) {}});
}

}  // namespace

template <Scalar S>
void measure_strategy(const Strategy& strategy, const SystemToMeasure<S>& given, const TakeFinding& take)
{
    require(given.A.rows() == given.A.cols() && given.b.size() == static_cast<std::size_t>(given.A.rows()),
            [] { return "a comparison needs a square matrix and a right-hand side of its length"; });
    SystemToMeasure<S> system = given;
    system.options = options_for(strategy, given.options);
    std::vector<std::string> decisions;
    Machine                  machine = machine_for<S>(system.options, system.A, false, decisions);
    if (machine.gpu) warm_up(strategy.name, system.options, machine);
    take({{"begin", strategy.step()}});
    measure_on<S>(strategy.name, {system, machine, take});
}

#define ILUX_INSTANTIATE(S) \
    template void measure_strategy(const Strategy&, const SystemToMeasure<S>&, const TakeFinding&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
