#include "ilux/apps/run/sequence_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/machine/memory_guard.hpp"

namespace ilux::app {
namespace {

void note(const std::vector<std::string>& more, std::vector<std::string>& decisions)
{
    for (const std::string& decision : more)
        if (std::ranges::count(decisions, decision) == 0) decisions.push_back(decision);
}

SolverOptions solver_options(const SolveOptions& given)
{
    SolverOptions options = given;
    options.retry = options.retry && options.method == MethodChoice::automatic;
    return options;
}

/// What the solver says of one system, for its line.
void tell(const SolverReport& report, SystemReport& one)
{
    const Attempt& tried = report.result();
    one.direct = tried.plan.direct();
    one.action = name(tried.action);
    one.reason = tried.reason;
    one.outcome = report.outcome();
    one.detail = tried.converged() ? tried.remark : report.why();
    one.warning = tried.warning;
    for (const Attempt& every : report.attempts) {
        if (!every.plan.direct()) one.steps += every.report.steps;
        one.seconds_factor += every.seconds_factor + (every.plan.direct() ? 0 : every.seconds_analyse);
        one.seconds_solve += every.report.seconds.solve;
    }
    if (one.direct) one.steps += tried.report.steps;
    one.has_x = tried.solved();
    if (tried.lu && tried.failure.empty()) {
        one.growth = tried.lu->growth;
        one.rcond = tried.lu->rcond;
    }
}

/// Systems that are to be solved together. Those that could not be read keep their place among the others.
template <Scalar S>
struct Waiting {
    std::vector<SystemReport> systems;
    std::vector<std::size_t>  member;        ///< position among `systems` of each that was read
    std::vector<S>            values, b, x;  ///< of those, one after another

    /// @param there  whether A and its side are this system's
    void add(SystemReport one, const CsrView<S>& A, std::span<const S> side, bool there)
    {
        if (there) {
            member.push_back(systems.size());
            values.insert(values.end(), A.val().begin(), A.val().end());
            b.insert(b.end(), side.begin(), side.end());
            x.resize(b.size());
        }
        systems.push_back(std::move(one));
    }
    /// @param growth  where each entry of the former pattern is among `nnz`
    void enlarge(std::span<const Offset> growth, Offset nnz)
    {
        std::vector<S> all(member.size() * static_cast<std::size_t>(nnz));
        for (std::size_t m = 0; m < member.size(); ++m)
            for (std::size_t p = 0; p < growth.size(); ++p)
                all[m * static_cast<std::size_t>(nnz) + static_cast<std::size_t>(growth[p])] =
                    values[m * growth.size() + p];
        values = std::move(all);
    }
    void clear()
    {
        systems.clear();
        member.clear();
        for (auto* numbers : {&values, &b, &x}) numbers->clear();
    }
};

/// Feeds one system after another to a LinearSolver, or several together.
template <Scalar S>
class Series {
public:
    Series(const SolveOptions& options, Index systems, bool keep_structure)
        : options_(options), solver_(solver_options(options)), systems_(systems), keep_structure_(keep_structure)
    {}

    void stop_by(const StopToken& stop) { solver_.stop_by(stop); }
    void solve(const CsrView<S>& A, std::span<const S> b, std::vector<S>& x, SystemReport& one, SequenceReport& all)
    {
        one.action = action_before();
        if (guess_.empty()) std::ranges::fill(x, S(0));
        else x = guess_;
        if (!analysed_) solver_.analyse(A, systems_);
        analysed_ = true;
        take(solver_.refactor_and_solve(A.val(), b, x), one, all);
        if (options_.sequence.reuse_x && one.converged()) guess_ = x;
    }
    /// Solves those that wait together.
    void solve(const CsrView<S>& A, Waiting<S>& waiting, SequenceReport& all)
    {
        if (waiting.member.empty()) return;
        std::vector<Index> number;  // of the members, as systems
        for (const std::size_t k : waiting.member) {
            waiting.systems[k].action = action_before();
            number.push_back(waiting.systems[k].index);
        }
        if (!analysed_) {  // by the values of the first, as without a batch
            solver_.analyse(A.with_values(std::span(waiting.values).first(A.val().size())), systems_);
        }
        analysed_ = true;
        const BatchReport report =
            solver_.solve_batch(static_cast<Index>(number.size()), waiting.values, waiting.b, waiting.x);
        for (std::size_t m = 0; m < number.size(); ++m)
            take(report.members[m], waiting.systems[waiting.member[m]], all);
        note(report.decisions, all.decisions);
        batches_.add(report.counts, number);
    }

    void pattern_grew() { analysed_ = false; }

    const StrategiesTaken& taken() const { return taken_; }
    const BatchCounts&     batches() const { return batches_; }

private:
    std::string_view action_before() const
    {
        return options_.strategy() == SolverMode::iterative ? "refresh" : "factor";
    }
    void take(const SolverReport& report, SystemReport& one, SequenceReport& all)
    {
        tell(report, one);
        const Attempt& tried = report.result();
        if (one.has_x) {
            one.relative_residual = tried.report.relative_residual;
            one.backward_error = tried.report.backward_error;
            one.accuracy = tried.accuracy;
        }
        add(report, all);
    }
    /// To what is told of the whole series.
    void add(const SolverReport& report, SequenceReport& all)
    {
        note(report.decisions, all.decisions);
        for (const Attempt& tried : report.attempts) {
            taken_.add(tried);
            if (tried.plan.direct()) all.seconds_analyse += tried.seconds_analyse;
            if (tried.lu && (tried.lu->nnz > 0 || !all.lu)) all.lu = tried.lu;
            if (tried.mlilu && !all.mlilu) all.mlilu = tried.mlilu;
        }
        const Attempt& tried = report.result();
        all.device = tried.device;
        all.method = tried.plan.method;
        if (tried.fill > 0) all.fill = tried.fill;
        if (keep_structure_ && !all.structure) {
            all.structure = structure_of(solver_);
            if (all.structure && tried.mlilu) all.mlilu = tried.mlilu;  // of the structure's factors
        }
    }

    const SolveOptions& options_;
    LinearSolver<S>     solver_;
    StrategiesTaken     taken_;
    BatchCounts         batches_;
    Index               systems_;
    bool                keep_structure_, analysed_ = false;
    std::vector<S>      guess_;  // the last solution, where it is to be one
};

template <Scalar S>
double distance_from_ones(std::span<const S> x)
{
    double error = 0;
    for (const S value : x) error = std::max(error, is_finite(value) ? std::abs(value - 1.) : INFINITY);
    return error;
}

void count(const SystemReport& one, SequenceReport& all)
{
    auto action = std::ranges::find(all.actions, one.action, &SequenceReport::Action::name);
    if (action == all.actions.end()) action = all.actions.insert(action, {.name = one.action});
    ++action->count;
    action->seconds += one.seconds_factor;
    ++all.systems;
    all.converged += one.converged();
    if (one.code() > all.code) {
        all.code = one.code();
        all.outcome = one.result();
    }
    const auto note = [&](SequenceReport::Noted& noted, std::string text) {
        if (noted.count++ == 0) noted = {.count = 1, .first = one.index, .name = one.name, .text = std::move(text)};
    };
    if (!one.converged())
        note(all.failed, fmt::format("{}{}{}", one.result(), one.detail.empty() ? "" : ", ", one.detail));
    if (!one.warning.empty()) note(all.warned, one.warning);
    const auto keep = [&](double value, SequenceReport::Worst& worst) {
        if (!std::isnan(value) && (worst.system < 0 || value > worst.value)) worst = {value, one.index};
    };
    keep(one.relative_residual, all.residual);
    keep(one.backward_error, all.backward);
    keep(one.accuracy.rowwise, all.componentwise);
    keep(one.accuracy.worst_error, all.error);
    all.steps += one.steps;
    all.seconds_read += one.seconds_read;
    all.seconds_factor += one.seconds_factor;
    all.seconds_solve += one.seconds_solve;
}

/// @param done  systems, the last of them as far as it came
void note_cancelled(Index done, Index systems, SequenceReport& all)
{
    if (done == systems && all.code != interrupted) return;
    all.code = interrupted;
    all.outcome = name(Outcome::cancelled);
    all.decisions.push_back(fmt::format("stopped on request after {} of {} systems", done, systems));
}

/// Makes system k the one that `input` gives. @return whether it is there; where not, `one` says why
template <class Input>
bool read(Input& input, Index k, const StopToken& stop, SystemReport& one)
{
    one.index = k;
    one.name = input.label(k);
    const WallClock reading;
    bool            there = true;
    try {
        input.read(k);
    } catch (const InvalidInput& error) {
        one.detail = error.what();
        there = false;
    } catch (const Stopped& error) {
        one.action = "none";
        one.outcome = outcome_of(stop.stopped() ? StopReason::cancelled : StopReason::time_limit);
        one.detail = error.what();
        there = false;
    }
    one.seconds_read = reading.seconds();
    return there;
}

/// A system is over.
template <Scalar S>
void finish(SystemReport& one, std::span<const S> x, const SystemListener<S>& each, SequenceReport& all)
{
    Cpu serial(1);
    one.has_x = one.has_x && is_finite<S>(serial, x);
    if (one.has_x && all.options.rhs == "A1") one.forward_error = distance_from_ones<S>(x);
    count(one, all);
    each(one, one.has_x ? x : std::span<const S>());
}

void note_lack(const std::optional<std::string>& why, SystemReport& one)
{
    if (!why) return;
    one.outcome = Outcome::out_of_memory;
    one.detail = *why;
}

/// One system after another.
template <class Input>
class OneByOne {
public:
    using S = typename Input::Value;
    explicit OneByOne(const Input& input) : x_(static_cast<std::size_t>(input.A().rows())) {}

    void take(Series<S>& series, const Input& input, SystemReport one, bool there, const SystemListener<S>& each,
              SequenceReport& all)
    {
        if (there) note_lack(lack_of_memory([&] { series.solve(input.A(), input.b(), x_, one, all); }), one);
        finish<S>(one, x_, each, all);
    }

private:
    std::vector<S> x_;
};

/// Those that wait.
template <Scalar S>
void solve_waiting(Series<S>& series, const CsrView<NotDeduced<S>>& A, Waiting<S>& waiting,
                   const SystemListener<NotDeduced<S>>& each, SequenceReport& all)
{
    const auto n = static_cast<std::size_t>(A.rows());
    const auto lacking = lack_of_memory([&] { series.solve(A, waiting, all); });
    for (std::size_t k = 0, m = 0; k < waiting.systems.size(); ++k) {
        const bool member = m < waiting.member.size() && waiting.member[m] == k;
        if (member) note_lack(lacking, waiting.systems[k]);
        finish<S>(waiting.systems[k], member ? std::span(waiting.x).subspan(m++ * n, n) : std::span<S>(), each, all);
    }
    waiting.clear();
}

template <class Input, class S = typename Input::Value>
void run(Series<S>& series, Input& input, Index batch, const StopToken& stop, const SystemListener<S>& each,
         SequenceReport& all)
{
    OneByOne<Input> one_by_one(input);
    Waiting<S>      waiting;
    for (Index k = 0; k < input.systems(); ++k) {
        SystemReport one;
        const bool   there = read(input, k, stop, one);
        if (const auto growth = input.take_growth(); !growth.empty()) {
            series.pattern_grew();
            waiting.enlarge(growth, input.A().nnz());
        }
        if (batch == 1) one_by_one.take(series, input, std::move(one), there, each, all);
        else waiting.add(std::move(one), input.A(), input.b(), there);
        const bool last = k + 1 == input.systems() || stop.stopped();
        if (batch > 1 && (last || std::ssize(waiting.systems) == batch))
            solve_waiting<S>(series, input.A(), waiting, each, all);
        if (!stop.stopped()) continue;
        note_cancelled(k + 1, input.systems(), all);
        return;
    }
}

/// The members of a batch: as many as were asked for, unless each system is to start from the one before.
Index batch_of(const SequencePlan& plan, const SolveOptions& options, std::vector<std::string>& decisions)
{
    if (plan.batch == 1 || !options.sequence.reuse_x || options.strategy() == SolverMode::direct) return plan.batch;
    decisions.push_back(fmt::format(
        "--batch {} has no effect: sequence.reuse_x=on starts each system from the solution of the one before",
        plan.batch));
    return 1;
}

}  // namespace

TransferCurve transfer_curve(const SequenceReport& all, std::span<const SystemReport> systems)
{
    TransferCurve curve{.unknowns = all.probes, .points = {}};
    for (const SystemReport& one : systems)
        if (one.curve) curve.points.push_back(*one.curve);
    return curve;
}

template <class Input>
SequenceReport run_sequence(Input& input, const SolveOptions& options, const StopToken& stop,
                            std::vector<std::string> decisions, const SystemListener<typename Input::Value>& each,
                            const SequencePlan& plan)
{
    WallClock      clock;
    SequenceReport all;
    all.options = options;
    all.method = options.method;
    all.decisions = std::move(decisions);
    all.made_up_rhs = options.rhs == "auto" && input.rhs() != "auto";
    if (all.made_up_rhs)
        all.decisions.push_back(input.rhs() == "A1" ? "rhs A1: the series brings no right-hand sides along"
                                                    : fmt::format("rhs {}: none was given", input.rhs()));
    all.options.rhs = input.rhs();
    Series<typename Input::Value> series(all.options, input.systems(), plan.keep_structure);
    series.stop_by(stop);
    run(series, input, batch_of(plan, all.options, all.decisions), stop, each, all);
    note(input.remarks(), all.decisions);
    note(series.batches().decisions("system"), all.decisions);
    for (std::string& remark : options_without_effect(all.options, series.taken(), true))
        all.decisions.push_back(std::move(remark));
    all.seconds = clock.seconds();
    return all;
}

#define ILUX_INSTANTIATE(Input)                                                                                   \
    template SequenceReport run_sequence(Input&, const SolveOptions&, const StopToken&, std::vector<std::string>, \
                                         const SystemListener<Input::Value>&, const SequencePlan&);
ILUX_INSTANTIATE(SequenceInput<double>)
ILUX_INSTANTIATE(SequenceInput<std::complex<double>>)
ILUX_INSTANTIATE(SweepInput)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
