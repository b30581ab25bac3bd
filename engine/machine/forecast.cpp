#include "ilux/engine/machine/forecast.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/direct/supernodal/front_choice.hpp"

namespace ilux {
namespace {

constexpr double pivoting_adds = 1.5;  // flops by entries over those predicted, where a matching chose the diagonal
constexpr double serial_flops = 0.03, serial_numbers = 0.2, serial_order = 0.15, serial_checks = 0.35;
constexpr double serial_rounds = 0.2;                              // of rounds, and of an iteration with them
constexpr double coarse_share = 0.6;                               // of rounds and a coarse space, over rounds alone
constexpr double saddle_point_share = 0.5, saddle_point_row = 40;  // likewise, a row counted as so many entries
// Seven systems on an H200 (docs/design/precond_gpu_rounds.md):
constexpr double uneven_rounds = 4;             // of a GPU, where rows are not dominant, over those where they are
constexpr double matched_entry = 1.5e-7;        // seconds of a matching, on one thread of the host
constexpr double replay_share = 0.7;            // of rounds, where those of an earlier system serve again
constexpr double systems_a_preconditioner = 5;  // of a series, served by one M
constexpr double complex_flops = 4, complex_numbers = 2;
constexpr double step_of_cg = 0.45;    // with the diagonal; over one of GMRES
constexpr double complex_sweep = 2.5;  // seconds of Crout's sweep over those of real numbers
constexpr double usual_fill = 4,
                 fill_exponent = 1.3;  // seconds of Crout's sweep: those of fourteen systems, within a factor of two

/// By fronts: numbers and checks.
struct FrontSeconds {
    double numbers, checks;
};

FrontSeconds on_host(const LuWork& work, int threads, const Rates& r)
{
    const double flops = work.flops * (work.complex ? complex_flops : 1);
    const double nnz = work.nnz * (work.complex ? complex_numbers : 1);
    return {.numbers = on_threads(r.front_flop * flops, serial_flops, threads) +
                       on_threads(r.front_number * nnz, serial_numbers, threads) + r.team_start * (threads - 1),
            .checks = on_threads(r.front_check * nnz, serial_checks, threads)};
}

FrontSeconds on_gpu(const LuWork& work, const Rates& r)
{
    const double flops = work.flops * (work.complex ? complex_flops : 1);
    const double nnz = work.nnz * (work.complex ? complex_numbers : 1);
    return {.numbers = r.gpu_front_start + r.gpu_front_entry * work.entries + r.gpu_front_flop * flops,
            .checks = r.gpu_front_check * nnz};
}

/// Entries of A that rounds alone would take as long for.
double entries_of_rounds(const IterationFacts& facts)
{
    if (!facts.coarse) return facts.entries;
    if (facts.positive) return coarse_share * facts.entries;
    return saddle_point_share * (facts.entries + saddle_point_row * facts.rows);
}

/// A coarse space's M waits in place of a matching.
bool is_matched(const IterationFacts& facts) { return !facts.positive && !facts.coarse; }

double flops_by_entries(const LuWork& work)
{
    return work.flops * (work.matched ? pivoting_adds : 1) * (work.complex ? complex_flops : 1);
}

}  // namespace

LuWork work_of(const LuSymbolic& symbolic, bool complex)
{
    const LuSymbolicReport& report = symbolic.report;
    return {.entries = double(symbolic.input_nnz),
            .arcs = double(symbolic.input_nnz),
            .nnz = report.nnz,
            .flops = report.flops,
            .complex = complex,
            .matched = report.matched,
            .analysis_seconds = report.seconds};
}

LuWork work_of(const FillEstimate& estimate, double entries, bool complex)
{
    return {.entries = entries,
            .arcs = estimate.arcs,
            .nnz = estimate.nnz,
            .flops = estimate.flops,
            .complex = complex};
}

bool fronts_are_likely(const LuWork& work)
{
    return work.flops >= least_front_flops && work.flops >= least_front_flops_an_entry * work.nnz;
}

bool gpu_pays_for_fronts(const LuWork& work, int threads, const Rates& rates)
{
    if (!fronts_are_likely(work)) return false;
    const FrontSeconds host = on_host(work, threads, rates), gpu = on_gpu(work, rates);
    return rates.gpu_start + gpu.numbers + gpu.checks < host.numbers + host.checks;
}

double seconds_by_entries(const LuWork& work, const Rates& r)
{
    return r.entry_flop * flops_by_entries(work) + r.entry_number * (work.nnz + work.entries);
}

Forecast forecast_direct(const LuWork& work, const Place& place, const Rates& r)
{
    const bool fronts = fronts_are_likely(work);
    Forecast   lu;
    lu.analyse = work.analysis_seconds;
    if (lu.analyse < 0)
        lu.analyse = r.analysis_entry * work.entries +
                     (fronts ? on_threads(r.order_arc * work.arcs, serial_order, place.threads) : 0);
    if (!fronts) {
        const double entries = work.nnz + work.entries;
        lu.factor = seconds_by_entries(work, r) + r.entry_check * entries;
        lu.solve = r.solve_number * entries;
        lu.renew = r.entry_refactor * flops_by_entries(work) + lu.solve;
        return lu;
    }
    FrontSeconds seconds = on_host(work, place.threads, r);
    if (place.gpu && gpu_pays_for_fronts(work, place.threads, r)) {
        seconds = on_gpu(work, r);
        lu.analyse += r.gpu_start;
    }
    lu.factor = seconds.numbers + seconds.checks;
    lu.renew = seconds.numbers;
    lu.solve = on_threads(r.front_solve * work.nnz, serial_numbers, place.threads);
    return lu;
}

Forecast forecast_iterative(const IterationFacts& facts, const Place& place, const Rates& r)
{
    constexpr double steps = 40;  // with an M made in rounds
    const bool       gpu = place.gpu && facts.gpu_rounds;
    Forecast         ahead;
    if (place.gpu) ahead.analyse = r.gpu_start;
    if (facts.jacobi) {
        const double share = facts.hermitian && !place.gpu ? step_of_cg : 1;
        ahead.solve = steps_by_the_diagonal(facts) * share * seconds_of_step(facts.entries, place, r);
        return ahead;
    }
    if (gpu)
        ahead.factor = r.gpu_rounds_start + r.gpu_rounds_entry * facts.entries * (facts.rounds ? 1 : uneven_rounds) +
                       (is_matched(facts) ? matched_entry * facts.entries : 0);
    else if (!facts.rounds)
        ahead.factor = r.crout_entry * facts.entries * std::pow(facts.fill / usual_fill, fill_exponent) *
                       (facts.complex ? complex_sweep : 1);
    else ahead.factor = on_threads(r.rounds_entry * entries_of_rounds(facts), serial_rounds, place.threads);
    const bool replayed = facts.rounds || (gpu && !is_matched(facts));
    ahead.renew = (replayed ? replay_share : 1) * ahead.factor / systems_a_preconditioner;
    const double on_host = r.iteration_entry * facts.entries;
    ahead.solve = place.gpu      ? steps * r.gpu_step + on_host * r.gpu_byte / r.host_byte
                  : facts.rounds ? on_threads(on_host, serial_rounds, place.threads)
                                 : on_host;
    return ahead;
}

double seconds_of_step(double numbers, const Place& place, const Rates& r)
{
    constexpr double bytes = 12;  // of an entry
    return place.gpu ? r.gpu_step + bytes * r.gpu_byte * numbers
                     : on_threads(r.step_number * numbers, serial_rounds, place.threads);
}

Offset least_nnz_for_gpu(int threads, const Rates& r)
{
    return static_cast<Offset>(r.gpu_start / on_threads(r.rounds_entry + r.iteration_entry, serial_rounds, threads));
}

double steps_by_the_diagonal(const IterationFacts& facts)
{
    constexpr double digits = 2e8, without_symmetry = 1.5;  // over those of CG
    constexpr double waves = 4.2;                           // Poisson's equation in two and three dimensions
    double           steps = INFINITY;
    if (facts.coupling < 1) {
        const double condition = (1 + facts.coupling) / (1 - facts.coupling);
        steps = 1 + (facts.hermitian ? 1 : without_symmetry) * 0.5 * std::sqrt(condition) * std::log(digits);
    }
    if (facts.hermitian && facts.radius > 0) steps = std::min(steps, waves * facts.radius);
    return steps;
}

double seconds_of_ilu0(const IterationFacts& facts, double steps, const Place& place, const Rates& r)
{
    constexpr double of_entry = 6, of_pair = 0.3;       // two entries of a row; over those of an entry in a step
    constexpr double step_entry = 0.3, step_row = 3.4;  // likewise, as M is as regular as A
    const double     factor = facts.entries * (of_entry + of_pair * facts.entries / std::max(1., facts.rows));
    const double     step = step_entry * facts.entries + step_row * facts.rows;
    return r.step_number * factor + steps * on_threads(r.step_number * step, serial_rounds, place.threads);
}

double odds_of_failure(const IterationFacts& facts)
{
    constexpr double mostly = 0.9;  // of the rows
    if ((facts.rounds && (!facts.coarse || facts.dominant)) || facts.jacobi) return 0.02;
    if (facts.hopeless) return 0.9;
    if (facts.positive && facts.heavy >= mostly) return 0.1;
    return facts.coarse ? 0.3 : 0.5;
}

Expected expect(const ChoiceFacts& facts, const Rates& rates)
{
    constexpr double times_of_failure = 2;  // of its forecast, that an iteration takes until it is known to fail
    Expected         expected{.lu = forecast_direct(facts.lu, facts.place, rates),
                              .iterative = forecast_iterative(facts.iteration, facts.place, rates),
                              .odds = odds_of_failure(facts.iteration)};
    expected.direct = expected.lu.of(facts.ahead);
    const double iterative = expected.iterative.of(facts.ahead);
    expected.iteration = iterative + expected.odds * ((times_of_failure - 1) * iterative + expected.direct);
    expected.take_lu = expected.direct <= expected.iteration;
    return expected;
}

}  // namespace ilux
