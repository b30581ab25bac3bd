#include "ilux/precond/gpu_rounds/rounds_builder.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/gpu/apply_levels.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/dense_inverse.hpp"
#include "ilux/precond/mlilu/damped.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/precond/mlilu/level_budget.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"

namespace ilux {
namespace {

constexpr std::size_t most_levels = 40;
constexpr Index       worth_inverting = 64;  // rows: fewer are the host's

bool has_stalled(const MlIluLevelReport& level) { return level.accepted < rounds_stall * level.n; }

/// @param by_columns  n×n
template <Scalar S>
CsrMatrix<S> dense_csr(const std::vector<S>& by_columns, Index n)
{
    const auto          order = static_cast<std::size_t>(n);
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    std::vector<S>      val;
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j)
            if (const S s = by_columns[j * order + i]; s != S(0)) {
                col.push_back(static_cast<Index>(j));
                val.push_back(s);
            }
        ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<S>::from_sorted(n, n, std::move(ptr), std::move(col), std::move(val));
}

}  // namespace

template <Scalar S>
GpuRoundsBuilder<S>::GpuRoundsBuilder(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options,
                                      const ProgressListener& on_progress, const StopToken& stop,
                                      const GpuRoundsPlan* plan)
    : cpu_(cpu),
      gpu_(gpu),
      opt_(options),
      on_progress_(on_progress),
      stop_(stop),
      nnz_(A.nnz()),
      tail_(rounds_tail(options, A.nnz())),
      most_entries_(LevelBudget<S>(A.rows(), A.bytes(), options.memory_limit).entries_left(A.rows())),
      plan_(plan),
      state_(gpu, A)
{
    if (options.near_null) state_.take_test_vectors(gpu, test_vectors(options, A.rows()));
    made_.n_ = state_.n;
    if (options.half) made_.report_.decisions.emplace_back("precond.half has no effect on rounds of a GPU");
    made_.report_.replayed = plan != nullptr;
    if (plan) made_.report_.decisions.emplace_back("the rounds of an earlier matrix serve again");
}

template <Scalar S>
GpuRounds<S> GpuRoundsBuilder<S>::run(bool in_single)
{
    const WallClock clock;
    const auto&     report = made_.report_;
    const double    lost = report.seconds_analyse + report.seconds_factor;
    if (make_levels()) assemble(in_single);
    made_.report_.seconds_factor = lost + clock.seconds() - report.seconds_analyse;
    return std::move(made_);
}

/// Damps the matrix as damped() does it.
template <Scalar S>
void GpuRoundsBuilder<S>::damp()
{
    if constexpr (is_complex<S>) {
        auto& report = made_.report_;
        report.damping = std::max(0., opt_.damping.beta);
        const bool automatic = opt_.damping.beta == Damping::automatic;
        const bool may =
            automatic && state_.n >= least_damped_rows && rounds::find_mirror(gpu_, state_) == Mirror::symmetric;
        if (!may && report.damping == 0) return;
        const auto facts = rounds::damping_facts(gpu_, state_);
        if (may) report.damping = automatic_damping(state_.n, facts.positive, facts.middle);
        if (report.damping == 0) return;
        if (automatic) report.decisions.push_back(why_damped(report.damping));
        rounds::damp(gpu_, state_, report.damping * facts.sign);
    }
}

/// @return whether all that is left is the dense end
template <Scalar S>
bool GpuRoundsBuilder<S>::make_levels()
{
    const bool asked_for = state_.n <= opt_.dense_order && state_.n >= worth_inverting;
    if (state_.n <= tail_ && !asked_for) {
        made_.why_not_ = fmt::format("{} rows are too few", state_.n);
        return false;
    }
    damp();
    level_.mirror = rounds::find_mirror(gpu_, state_);
    if (state_.n <= tail_) return scale_level();  // the dense end alone
    while (scale_level() && eliminate_level())
        if (is_last()) {
            auto&       levels = made_.report_.levels;
            const auto& last = levels.back();
            if (has_stalled(last))
                made_.report_.decisions.push_back(
                    fmt::format("rounds found {} pivots in {} rows: the rest is inverted", last.accepted, last.n));
            if (last.rounds == 0) levels.pop_back();  // a plan keeps that it was scaled
            return true;
        }
    return false;
}

template <Scalar S>
bool GpuRoundsBuilder<S>::is_last() const
{
    const Offset n = state_.active_count;
    if (plan_) return made_.report_.levels.size() == plan_->levels.size();
    return n <= tail_ || (nearly_dense(n, state_.nnz) && n <= DenseLevel<S>::largest) ||
           (has_stalled(made_.report_.levels.back()) && may_invert_rest());
}

/// Where rounds find few pivots any more, the inverse of so few rows takes less time than all else.
template <Scalar S>
bool GpuRoundsBuilder<S>::may_invert_rest() const
{
    const Offset     n = state_.active_count;
    constexpr Offset while_inverting = 3;  // n² numbers, about
    return n <= DenseLevel<S>::largest &&
           state_.L_entries + state_.U_entries + state_.done + while_inverting * n * n <= most_entries_;
}

template <Scalar S>
void GpuRoundsBuilder<S>::tell(Index done, Index total) const
{
    if (on_progress_)
        on_progress_({.phase = Progress::Phase::setup,
                      .level = static_cast<Index>(made_.report_.levels.size()) + 1,
                      .done = done,
                      .total = total});
    stop_.check();
}

template <Scalar S>
void GpuRoundsBuilder<S>::note(std::string decision, const MlIluReport& seconds_lost)
{
    auto& report = made_.report_;
    report.decisions.push_back(std::move(decision));
    report.seconds_analyse = seconds_lost.seconds_analyse;
    report.seconds_factor = seconds_lost.seconds_factor;
    report.seconds_rounds = seconds_lost.seconds_rounds;
}

/// @return whether the level may be eliminated in rounds
template <Scalar S>
bool GpuRoundsBuilder<S>::scale_level()
{
    const WallClock clock;
    tell(0, state_.active_count);
    const auto facts = rounds::begin_level(gpu_, state_, opt_, level_.mirror);
    level_ = {.mirror = facts.saddle_point ? Mirror::none : level_.mirror,
              .saddle_point = facts.saddle_point,
              .largest = facts.largest};
    const bool may = may_begin(facts);
    made_.report_.seconds_analyse += clock.seconds();
    return may;
}

/// The host matches the level, whose facts change. @return whether the level goes on by it
template <Scalar S>
bool GpuRoundsBuilder<S>::match(rounds::MatchedLevel& level)
{
    level = rounds::match_level(cpu_, gpu_, state_, opt_.scaling, stop_);
    if (!level.why_not.empty()) {
        made_.why_not_ = fmt::format("level {} {}", made_.report_.levels.size() + 1, level.why_not);
        return false;
    }
    level_ = {.mirror = Mirror::none, .largest = level.facts.largest};
    next_plan_.matched = true;
    return true;
}

template <Scalar S>
bool GpuRoundsBuilder<S>::may_begin(const rounds::DiagonalFacts& found)
{
    auto&      report = made_.report_;
    const auto level = report.levels.size() + 1;
    const bool positive = level_.mirror == Mirror::hermitian && found.not_positive == 0;
    const auto matching = decide_matching(opt_, positive, found.small, state_.active_count, hermitian_word<S>);
    if (level == 1 && opt_.definite && !positive)
        throw InvalidInput(
            fmt::format("precond.definite needs a {} matrix with a positive diagonal, and this one is not",
                        hermitian_word<S>));
    if (opt_.absolute) made_.why_not_ = "precond.absolute works on the host only";
    else if (!is_complex<S> && opt_.damping.beta > 0) made_.why_not_ = "precond.damping is not of real matrices";
    else if (plan_ && matching.match) made_.why_not_ = fmt::format("level {} wants a matching", level);
    else if (level > most_levels) made_.why_not_ = fmt::format("more than {} levels", most_levels);
    if (!made_.why_not_.empty()) return false;
    rounds::MatchedLevel matched{.facts = found};
    if (matching.match && !match(matched)) return false;
    if (level > 1) return true;
    const auto& facts = matched.facts;
    if (facts.zero == 0 || matching.match) report.structural_rank = state_.n;
    if (!matching.why.empty())
        report.decisions.push_back(matching.why + (matched.optimal ? "" : matching_is_not_the_best));
    RoundsChoice choice = choose_rounds(opt_, {.n = state_.n,
                                               .nnz = state_.nnz,
                                               .dominant = facts.dominant,
                                               .even = facts.even,
                                               .moved = matched.moved,
                                               .positive = positive && !matching.match,
                                               .saddle_point = facts.saddle_point,
                                               .on_device = true});
    report.compensation = choice.compensation;
    for (auto& decision : choice.decisions) report.decisions.push_back(std::move(decision));
    if (plan_) made_.why_not_ = why_not_again(choice, plan_->compensation);
    return choice.rounds && made_.why_not_.empty();
}

/// The pivots of a round kept, where there is one, else those that are found. None where they are refused.
template <Scalar S>
rounds::Counters GpuRoundsBuilder<S>::set_of_round(const RoundsOptions& options, Index number)
{
    const auto* kept = kept_level();
    if (!kept) return rounds::choose_pivots(gpu_, state_, options.bounds);
    const auto count = static_cast<std::size_t>(kept->ends[number] - state_.done);
    const auto pivots = DeviceSpan<const Index>(*plan_->order).subspan(state_.done, count);
    const auto found = rounds::replay_pivots(gpu_, state_, pivots, options.bounds.positive);
    const auto why = why_not(found.worst, bounds_of_replay(options.bounds, level_.largest));
    if (why.empty()) return found.counts;
    made_.why_not_ = fmt::format("on level {} in round {} {}", made_.report_.levels.size() + 1, number + 1, why);
    return {};
}

/// @return whether a round was eliminated
template <Scalar S>
bool GpuRoundsBuilder<S>::round(const RoundsOptions& options, MlIluLevelReport& level)
{
    tell(level.accepted, level.n);
    WallClock  clock;
    const auto set = set_of_round(options, level.rounds);
    made_.report_.seconds_rounds.sets += clock.lap();
    if (set.pivots == 0 || (!plan_ && set.pivots < options.least_share * state_.active_count)) return false;
    made_.why_not_ = rounds::eliminate(gpu_, state_, set, options.dropping_in(level.rounds));
    made_.report_.seconds_rounds.eliminate += clock.lap();
    if (state_.L_entries + state_.U_entries + state_.done + state_.nnz > most_entries_)
        made_.why_not_ = "the memory limit leaves no room for further rounds";
    if (!made_.why_not_.empty()) return false;
    level.accepted += set.pivots;
    ++level.rounds;
    next_plan_.levels.back().ends.push_back(state_.done);
    return true;
}

template <Scalar S>
bool GpuRoundsBuilder<S>::go_on(const RoundsOptions& options, const MlIluLevelReport& level) const
{
    if (const auto* kept = kept_level()) return level.rounds < static_cast<Index>(kept->ends.size());
    return state_.active_count > tail_ && (options.most_rounds == 0 || level.rounds < options.most_rounds);
}

template <Scalar S>
void GpuRoundsBuilder<S>::judge_level(const MlIluLevelReport& level)
{
    if (!made_.why_not_.empty()) return;
    if (const auto* kept = kept_level()) {
        const auto why = why_not_cut(level.cut, most_cut(kept->cut));
        if (!why.empty()) made_.why_not_ = fmt::format("on level {} {}", made_.report_.levels.size() + 1, why);
    } else if (has_stalled(level) && !may_invert_rest()) {
        made_.why_not_ = fmt::format("rounds found {} pivots in {} rows", level.accepted, level.n);
    }
}

/// @return whether the next level, or the dense end, may follow
template <Scalar S>
bool GpuRoundsBuilder<S>::eliminate_level()
{
    const RoundsOptions options = rounds_options(opt_, made_.report_.compensation, level_);
    MlIluLevelReport    level{.n = state_.active_count};
    const Offset        before_L = state_.L_entries, before_U = state_.U_entries;
    next_plan_.levels.emplace_back();
    while (go_on(options, level) && round(options, level)) {
    }
    level.postponed = level.n - level.accepted;
    level.nnz_L = state_.L_entries - before_L;
    level.nnz_U = state_.U_entries - before_U;
    level.inverse_L = state_.inverse_L;
    level.inverse_U = state_.inverse_U;
    level.depth_L = level.depth_U = level.rounds;
    level.cut = level.accepted > 0 ? state_.cut / level.accepted : 0;
    next_plan_.levels.back().cut = plan_ ? kept_level()->cut : level.cut;
    judge_level(level);
    made_.report_.levels.push_back(level);
    state_.first_level = false;
    return made_.why_not_.empty();
}

/// By the device, or where that has no answer by the host, which also finds the rank.
template <Scalar S>
DeviceBuffer<S> GpuRoundsBuilder<S>::inverse_of_rest()
{
    const WallClock clock;
    rounds::place_rest(gpu_, state_);
    const auto n = state_.active_count;
    auto&      report = made_.report_;
    auto       W = rounds::inverse_of_rest(gpu_, state_, opt_.definite);
    report.dense = n > 0;
    report.stored = static_cast<Offset>(n) * n;
    if (!W) {
        if (n > 0) report.decisions.push_back(fmt::format("the host factors the dense end of {} rows", n));
        const DenseLevel<S> dense(dense_csr(rounds::rest_on_host(gpu_, state_), n), opt_.definite);
        const auto          inverse = inverse_of<S>(cpu_, dense, false);
        report.deficiency = dense.deficiency();
        report.stored = dense.stored();
        W.emplace(inverse.size());
        upload<S>(gpu_, inverse, *W);
    }
    if (n > 0) report.levels.push_back({.n = n, .accepted = n, .nnz_U = report.stored});
    made_.report_.seconds_rounds.tail += clock.seconds();
    return std::move(*W);
}

template <Scalar S>
template <class T>
std::shared_ptr<const RoundsFactors<T>> GpuRoundsBuilder<S>::assembled(const DeviceBuffer<S>& W)
{
    const WallClock clock;
    const auto      factors = std::make_shared<RoundsFactors<T>>();
    const Offset    too_large =
        rounds::assemble<T, S>(gpu_, state_, *factors) + rounds::store<T, S>(gpu_, state_, W, factors->W);
    made_.report_.seconds_rounds.assemble += clock.seconds();
    require_storable(too_large, sizeof(real_of<T>));
    return factors;
}

template <Scalar S>
void GpuRoundsBuilder<S>::assemble(bool in_single)
{
    const auto W = inverse_of_rest();
    auto&      report = made_.report_;
    if (in_single) try {
            made_.in_single_ = assembled<single_of<S>>(W);
        } catch (const InvalidInput& error) {  // a value that float cannot hold
            made_.remark_ = fmt::format("precision double, not single: {}", error.what());
        }
    if (!made_.in_single_) made_.in_double_ = assembled<S>(W);
    next_plan_.order = made_.in_single_ ? made_.in_single_->number : made_.in_double_->number;
    next_plan_.compensation = made_.report_.compensation;
    made_.plan_ = std::make_shared<const GpuRoundsPlan>(std::move(next_plan_));
    report.stored += state_.L_entries + state_.U_entries + state_.done;
    report.fill = nnz_ > 0 ? static_cast<double>(report.stored) / static_cast<double>(nnz_) : 0;
    report.bytes = made_.bytes();
}

#define ILUX_INSTANTIATE(S) template class GpuRoundsBuilder<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
