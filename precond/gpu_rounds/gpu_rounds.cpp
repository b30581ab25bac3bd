#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/gpu/apply_levels.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/dense_inverse.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/precond/mlilu/level_budget.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {
namespace {

constexpr std::size_t most_levels = 40;

/// @param by_columns  n×n
CsrMatrix<> dense_csr(const std::vector<double>& by_columns, Index n)
{
    const auto          order = static_cast<std::size_t>(n);
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j)
            if (const double s = by_columns[j * order + i]; s != 0) {
                col.push_back(static_cast<Index>(j));
                val.push_back(s);
            }
        ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<>::from_sorted(n, n, std::move(ptr), std::move(col), std::move(val));
}

/// z ← M⁻¹ r with the workspace of one stream.
template <class T>
class RoundsPreconditioner final : public Preconditioner<Gpu> {
public:
    RoundsPreconditioner(Gpu& gpu, std::shared_ptr<const RoundsFactors<T>> factors)
        : factors_(std::move(factors)), workspace_(gpu, *factors_)
    {}
    Index size() const override { return factors_->n; }
    void  apply(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override
    {
        require(r.size() == static_cast<std::size_t>(factors_->n) && z.size() == r.size(), [&] {
            return fmt::format("r has {} values and z {}; the preconditioner is of order {}", r.size(), z.size(),
                               factors_->n);
        });
        workspace_.apply(be, r, z);
    }
    void apply_adjoint(Gpu&, DeviceSpan<const double>, DeviceSpan<double>) override
    {
        throw InvalidInput("a preconditioner set up in rounds on the GPU has no transpose");
    }

private:
    std::shared_ptr<const RoundsFactors<T>> factors_;
    RoundsWorkspace<T>                      workspace_;
};

}  // namespace

/// The level loop of MlIluBuilder for levels in rounds alone; gives up where that one would go on by Crout's sweep or a matching.
class GpuRoundsBuilder {
public:
    GpuRoundsBuilder(Cpu& cpu, Gpu& gpu, const DeviceCsr<double>& A, const MlIluOptions& options,
                     const ProgressListener& on_progress, const StopToken& stop)
        : cpu_(cpu),
          gpu_(gpu),
          opt_(options),
          on_progress_(on_progress),
          stop_(stop),
          nnz_(A.nnz()),
          tail_(rounds_tail(options, A.nnz())),
          most_entries_(LevelBudget<double>(A.rows(), A.bytes(), options.memory_limit).entries_left(A.rows())),
          state_(gpu, A)
    {}

    GpuRounds run(bool in_single)
    {
        const WallClock clock;
        made_.n_ = state_.n;
        if (state_.n <= tail_) return given_up(fmt::format("{} rows are too few", state_.n));
        hermitian_ = rounds::is_symmetric(gpu_, state_);
        do
            if (!scale_level() || !eliminate_level()) return std::move(made_);
        while (!is_last());
        assemble(in_single);
        made_.report_.seconds_factor = clock.seconds() - made_.report_.seconds_analyse;
        return std::move(made_);
    }

private:
    bool is_last() const
    {
        const Offset n = state_.active_count;
        return n <= tail_ || (nearly_dense(n, state_.nnz) && n <= DenseLevel<>::largest);
    }
    GpuRounds&& given_up(std::string why)
    {
        made_.why_not_ = std::move(why);
        return std::move(made_);
    }
    void tell(Index done, Index total) const
    {
        if (on_progress_)
            on_progress_({.phase = Progress::Phase::setup,
                          .level = static_cast<Index>(made_.report_.levels.size()) + 1,
                          .done = done,
                          .total = total});
        stop_.check();
    }

    bool scale_level();
    bool may_begin(const rounds::DiagonalFacts& facts);
    bool eliminate_level();
    bool round(const RoundsOptions& options, MlIluLevelReport& level);
    void assemble(bool in_single);
    template <class T>
    std::shared_ptr<const RoundsFactors<T>> assembled(const DeviceBuffer<double>& W);
    DeviceBuffer<double>                    inverse_of_rest();

    Cpu&                    cpu_;
    Gpu&                    gpu_;
    const MlIluOptions&     opt_;
    const ProgressListener& on_progress_;
    const StopToken&        stop_;
    const Offset            nnz_;
    const Index             tail_;
    const Offset            most_entries_;
    rounds::RoundsState     state_;
    bool                    hermitian_ = false, compensates_ = false;
    double                  largest_ = 0;  // entry of the level
    GpuRounds               made_;
};

/// @return whether the level may be eliminated in rounds
bool GpuRoundsBuilder::scale_level()
{
    const WallClock clock;
    tell(0, state_.active_count);
    const auto facts = rounds::begin_level(gpu_, state_, opt_.scaling);
    largest_ = facts.largest;
    const bool may = may_begin(facts);
    made_.report_.seconds_analyse += clock.seconds();
    return may;
}

bool GpuRoundsBuilder::may_begin(const rounds::DiagonalFacts& facts)
{
    auto&      report = made_.report_;
    const auto level = report.levels.size() + 1;
    const bool positive = hermitian_ && facts.not_positive == 0;
    const auto matching = decide_matching(opt_, positive, facts.small, state_.active_count, hermitian_word<double>);
    if (level == 1 && opt_.definite && !positive)
        throw InvalidInput(
            fmt::format("precond.definite needs a {} matrix with a positive diagonal, and this one is not",
                        hermitian_word<double>));
    if (matching.match) made_.why_not_ = fmt::format("level {} wants a matching", level);
    else if (level > most_levels) made_.why_not_ = fmt::format("more than {} levels", most_levels);
    if (!made_.why_not_.empty()) return false;
    if (level > 1) return true;
    if (facts.zero == 0) report.structural_rank = state_.n;
    if (!matching.why.empty()) report.decisions.push_back(matching.why);
    RoundsChoice choice =
        choose_rounds(opt_, {.n = state_.n, .nnz = state_.nnz, .dominant = facts.dominant, .even = facts.even});
    compensates_ = choice.compensates;
    for (auto& decision : choice.decisions) report.decisions.push_back(std::move(decision));
    return choice.rounds;
}

/// @return whether a round was eliminated
bool GpuRoundsBuilder::round(const RoundsOptions& options, MlIluLevelReport& level)
{
    tell(level.accepted, level.n);
    WallClock  clock;
    const auto set = rounds::choose_pivots(gpu_, state_, options.bounds);
    made_.report_.seconds_rounds.sets += clock.lap();
    if (set.pivots == 0 || set.pivots < options.least_share * state_.active_count) return false;
    made_.why_not_ = rounds::eliminate(gpu_, state_, set, options.dropping);
    made_.report_.seconds_rounds.eliminate += clock.lap();
    if (state_.L_entries + state_.U_entries + state_.done + state_.nnz > most_entries_)
        made_.why_not_ = "the memory limit leaves no room for further rounds";
    if (!made_.why_not_.empty()) return false;
    level.accepted += set.pivots;
    ++level.rounds;
    return true;
}

/// @return whether the next level, or the dense end, may follow
bool GpuRoundsBuilder::eliminate_level()
{
    const RoundsOptions options = rounds_options(opt_, compensates_, hermitian_, largest_);
    MlIluLevelReport    level{.n = state_.active_count};
    const Offset        before_L = state_.L_entries, before_U = state_.U_entries;
    const auto          go_on = [&] {
        return state_.active_count > tail_ && (options.most_rounds == 0 || level.rounds < options.most_rounds);
    };
    while (go_on() && round(options, level)) {
    }
    level.postponed = level.n - level.accepted;
    level.nnz_L = state_.L_entries - before_L;
    level.nnz_U = state_.U_entries - before_U;
    level.inverse_L = state_.inverse_L;
    level.inverse_U = state_.inverse_U;
    level.depth_L = level.depth_U = level.rounds;
    made_.report_.levels.push_back(level);
    state_.first_level = false;
    if (made_.why_not_.empty() && level.accepted < rounds_stall * level.n)
        made_.why_not_ = fmt::format("rounds found {} pivots in {} rows", level.accepted, level.n);
    return made_.why_not_.empty();
}

/// By the device, or where that has no answer by the host, which also finds the rank.
DeviceBuffer<double> GpuRoundsBuilder::inverse_of_rest()
{
    const WallClock clock;
    rounds::place_rest(gpu_, state_);
    const auto n = state_.active_count;
    auto&      report = made_.report_;
    auto       W = rounds::inverse_of_rest(gpu_, state_, opt_.definite);
    report.dense = n > 0;
    report.stored = static_cast<Offset>(n) * n;
    if (!W) {
        const DenseLevel<> dense(dense_csr(rounds::rest_on_host(gpu_, state_), n), opt_.definite);
        const auto         inverse = inverse_of<double>(cpu_, dense, false);
        report.deficiency = dense.deficiency();
        report.stored = dense.stored();
        W.emplace(inverse.size());
        upload<double>(gpu_, inverse, *W);
    }
    if (n > 0) report.levels.push_back({.n = n, .accepted = n, .nnz_U = report.stored});
    made_.report_.seconds_rounds.tail += clock.seconds();
    return std::move(*W);
}

template <class T>
std::shared_ptr<const RoundsFactors<T>> GpuRoundsBuilder::assembled(const DeviceBuffer<double>& W)
{
    const WallClock clock;
    const auto      factors = std::make_shared<RoundsFactors<T>>();
    const Offset    too_large =
        rounds::assemble<T>(gpu_, state_, *factors) + rounds::store<T>(gpu_, state_, W, factors->W);
    made_.report_.seconds_rounds.assemble += clock.seconds();
    require_storable(too_large, sizeof(T));
    return factors;
}

void GpuRoundsBuilder::assemble(bool in_single)
{
    const auto W = inverse_of_rest();
    auto&      report = made_.report_;
    if (in_single) try {
            made_.in_single_ = assembled<float>(W);
        } catch (const InvalidInput& error) {  // a value that float cannot hold
            made_.remark_ = fmt::format("precision double, not single: {}", error.what());
        }
    if (!made_.in_single_) made_.in_double_ = assembled<double>(W);
    report.stored += state_.L_entries + state_.U_entries + state_.done;
    report.fill = nnz_ > 0 ? static_cast<double>(report.stored) / static_cast<double>(nnz_) : 0;
    report.bytes = made_.bytes();
}

GpuRounds GpuRounds::build(Cpu& cpu, Gpu& gpu, const DeviceCsr<double>& A, const MlIluOptions& options, bool in_single,
                           const ProgressListener& on_progress, const StopToken& stop)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    validate(options);
    return GpuRoundsBuilder(cpu, gpu, A, options, on_progress, stop).run(in_single);
}

std::size_t GpuRounds::bytes() const { return in_double_ ? in_double_->bytes() : in_single_ ? in_single_->bytes() : 0; }

Index GpuRounds::rounds() const
{
    Index sum = 0;
    for (const auto& level : report_.levels) sum += level.rounds;
    return sum;
}

Index GpuRounds::dense_order() const { return report_.dense ? report_.levels.back().n : 0; }

std::size_t GpuRounds::workspace_bytes() const
{
    return (static_cast<std::size_t>(n_) + static_cast<std::size_t>(dense_order())) * sizeof(double);
}

std::vector<GpuFactorReport::System> GpuRounds::systems() const
{
    Offset nnz_L = 0, nnz_U = 0;
    for (const auto& level : report_.levels)
        if (level.rounds > 0) nnz_L += level.nnz_L, nnz_U += level.nnz_U;
    const auto system = [&](Offset nnz) {
        return GpuFactorReport::System{{.n = n_, .depth = rounds() + (dense_order() > 0), .nnz = nnz},
                                       GpuSpTrsvEngine::level_graph};
    };
    return {system(nnz_L), system(nnz_U)};
}

std::unique_ptr<Preconditioner<Gpu>> GpuRounds::preconditioner(Gpu& gpu) const
{
    ILUX_ASSERT(made());
    if (in_double_) return std::make_unique<RoundsPreconditioner<double>>(gpu, in_double_);
    return std::make_unique<RoundsPreconditioner<float>>(gpu, in_single_);
}

}  // namespace ilux
