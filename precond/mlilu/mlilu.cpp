// The level loop of [bollhoefer_saad_06]: factor what can be factored safely, go on with the Schur complement of the
// rest.

#include "ilux/precond/mlilu/mlilu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"

namespace ilux {
namespace detail {
namespace {

constexpr Index most_absolute = 1000;  // rows: eigenvalues of so many take about 0.7 s, and nothing breaks that off

}  // namespace

template <class T>
MlIluBuilder<T>::MlIluBuilder(Cpu& be, const CsrView<T>& A, const MlIluOptions& options,
                              const ProgressListener& on_progress, const StopToken& stop, const RoundsPlan* plan)
    : be_(be),
      opt_(options),
      on_progress_(on_progress),
      stop_(stop),
      nnz_(A.nnz()),
      bounds_(options.inverse_bound, options.growth_bound, std::max(DepthBound::none, options.depth_bound.rows)),
      budget_(A, options.memory_limit),
      setup_(options.setup == MlIluSetup::crout ? Setup::crout : Setup::undecided),
      plan_(plan),
      tail_(rounds_tail(options, A.nnz())),
      t_(test_vectors(options, A.rows()))
{
    factors_->n = A.rows();
    factors_->levels.reserve(max_levels + 1);  // plans refer to them
    if (setup_ == Setup::crout) report_.decisions = without_effect(options, false, Compensation::off, A.nnz());
    if (!plan) return;
    report_.replayed = true;
    report_.decisions.emplace_back("the rounds and the matching of an earlier matrix serve again");
}

template <class T>
void MlIluBuilder<T>::note(std::string decision, const MlIluReport& seconds_lost)
{
    report_.decisions.push_back(std::move(decision));
    report_.seconds_analyse = seconds_lost.seconds_analyse;
    report_.seconds_factor = seconds_lost.seconds_factor;
    report_.seconds_rounds = seconds_lost.seconds_rounds;
}

template <class T>
std::pair<std::shared_ptr<const MlIluFactors<T>>, std::vector<MlIluLevelPlans<T>>> MlIluBuilder<T>::run(Damped<T> given)
{
    report_.damping = given.beta;
    for (auto& decision : given.decisions) report_.decisions.push_back(std::move(decision));
    CsrMatrix<T> S = std::move(given.A);
    while (S.rows() > 0 && (kept_rounds() || !is_last(S))) {
        WallClock       clock;
        Preprocessed<T> pre = prepare(std::move(S));  // Â ← Pᵀ Dr S Dc Q
        report_.seconds_analyse += clock.lap();
        if (!why_not_.empty()) return {};
        S = add_level(pre);  // Â = [B F; G C],  B ≈ L_B D U_B,  S ← C − L_G D U_F
        report_.seconds_factor += clock.lap();
        if (!why_not_.empty()) return {};
        if (!is_finite<T>(be_, S.val())) report_.overflowed = level_number();
        const bool stuck = setup_ == Setup::crout && factors_->levels.back().nB == 0;
        if (stuck || report_.overflowed > 0) break;
    }
    if (S.rows() > 0) add_last(S);
    finish();
    return {std::move(factors_), std::move(plans_)};
}

template <class T>
bool MlIluBuilder<T>::is_last(const CsrView<T>& S) const
{
    const Offset n = S.rows();
    if (factors_->levels.empty()) return false;
    if (setup_ == Setup::rounds && n <= tail_ && budget_.dense_fits(S.rows())) return true;
    return n <= opt_.dense_order || (nearly_dense(n, S.nnz()) && budget_.dense_fits(S.rows())) ||
           level_number() > max_levels;
}

/// Rounds take the rows as they come; Crout's sweep wants them ordered.
template <class T>
Preprocessed<T> MlIluBuilder<T>::prepare(CsrMatrix<T> S)
{
    tell(0, S.rows());
    const RoundsOfLevel* kept = kept_rounds();
    MlIluOptions         options = opt_;
    if (setup_ == Setup::crout && options.matching == MatchingChoice::wait)
        options.matching = MatchingChoice::automatic;  // nobody waits in a sweep
    Preprocessed<T> pre = kept ? equilibrate_and_match_again(be_, std::move(S), options, *kept)
                               : equilibrate_and_match(be_, std::move(S), options, stop_);
    if (factors_->levels.empty()) check_first(pre);
    if (setup_ == Setup::undecided) decide_setup(pre);
    if (setup_ == Setup::crout) put_in_order(pre, opt_.ordering, stop_);
    budget_.halve(opt_.half && pre.mirror != Mirror::none);
    return pre;
}

template <class T>
void MlIluBuilder<T>::check_first(const Preprocessed<T>& pre)
{
    if (opt_.definite && !pre.positive)
        throw InvalidInput(
            fmt::format("precond.definite needs a {} matrix with a positive diagonal, and this one is not",
                        hermitian_word<T>));
    if (opt_.absolute && pre.mirror != Mirror::hermitian)
        throw InvalidInput(fmt::format("precond.absolute needs a {} matrix, and this one is not", hermitian_word<T>));
    if (opt_.half && pre.mirror == Mirror::none)
        report_.decisions.push_back("precond.half has no effect: " +
                                    (pre.matched ? "a matching has moved rows; precond.matching=off keeps them"
                                     : pre.saddle_point
                                         ? "precond.matching=wait drops by rows"
                                         : fmt::format("A is not {}, so L is not the image of U",
                                                       is_complex<T> ? "symmetric or Hermitian" : "symmetric")));
    report_.structural_rank = pre.structural_rank;
    if (!pre.decision.empty()) report_.decisions.push_back(pre.decision);
}

template <class T>
CsrMatrix<T> MlIluBuilder<T>::add_level(Preprocessed<T>& pre)
{
    if (setup_ == Setup::rounds) return add_rounds(pre);
    if (auto S = add_pairs(pre)) return std::move(*S);
    FactoredLevel<T> level = factor(pre);
    CsrMatrix<T>     S = next_matrix(level, pre.mirror != Mirror::none);
    store(pre, level, keeps(level));
    return S;
}

/// Whether L_G and U_F are stored, not G and F.
template <class T>
bool MlIluBuilder<T>::keeps(const FactoredLevel<T>& level)
{
    const auto& [factors, blocks] = level;
    const bool save_fits = budget_.saved_fits(factors, blocks);
    const bool keep_is_smaller = factors.L_G.nnz() + factors.U_F.nnz() <= blocks.F.nnz() + blocks.G.nnz();
    if (!save_fits && opt_.off_diagonal == OffDiagonal::save && !keep_is_smaller)
        report_.decisions.push_back(
            fmt::format("off_diagonal=keep on level {}: G and F do not fit the memory limit", level_number()));
    return opt_.off_diagonal == OffDiagonal::keep || !save_fits ||
           (opt_.off_diagonal == OffDiagonal::automatic && keep_is_smaller);
}

template <class T>
void MlIluBuilder<T>::store(Preprocessed<T>& pre, FactoredLevel<T>& factored, bool keep)
{
    auto& [factors, blocks] = factored;
    MlIluLevel<T> made{.n = static_cast<Index>(pre.p.size()),
                       .nB = static_cast<Index>(factors.accepted.size()),
                       .p = composed(pre.p, factors.accepted, factors.postponed),
                       .q = composed(pre.q, factors.accepted, factors.postponed),
                       .row_scale = std::move(pre.row_scale),
                       .col_scale = std::move(pre.col_scale),
                       .L_B = std::move(factors.L_B),
                       .U_B = std::move(factors.U_B),
                       .d_inv = std::move(factors.d),
                       .keep = keep,
                       .lower = std::move(keep ? factors.L_G : blocks.G),
                       .upper = std::move(keep ? factors.U_F : blocks.F)};
    const Offset  nnz_L = made.L_B.nnz(), nnz_G = made.lower.nnz();
    if (opt_.half) keep_half(made, pre.mirror);
    for (T& d : made.d_inv) d = T(1) / (opt_.absolute ? T(std::abs(d)) : d);
    ILUX_ASSERT(factors_->levels.size() < factors_->levels.capacity());
    const MlIluLevel<T>&      level = factors_->levels.emplace_back(std::move(made));
    const MlIluLevelPlans<T>& plans = plans_.emplace_back(plans_of<T>(level, factors_));
    report_.levels.push_back({.n = level.n,
                              .accepted = level.nB,
                              .postponed = static_cast<Index>(factors.postponed.size()),
                              .nnz_L = nnz_L,
                              .nnz_U = level.U_B.nnz(),
                              .nnz_G = nnz_G,
                              .nnz_F = level.upper.nnz(),
                              .inverse_L = pre.mirror != Mirror::none ? factors.inverse_U : factors.inverse_L,
                              .inverse_U = factors.inverse_U,
                              .depth_L = (level.half == Mirror::none ? plans.L_B : plans.U_B).depth(),
                              .depth_U = plans.U_B.depth()});
    const std::size_t bytes = bytes_of(level, plans);
    budget_.take(bytes);
    report_.bytes += bytes;
    report_.stored += level.L_B.nnz() + level.U_B.nnz() + level.nB + level.lower.nnz() + level.upper.nnz();
}

/// Dense where that fits; otherwise the diagonal alone, said aloud.
template <class T>
void MlIluBuilder<T>::add_last(const CsrView<T>& S)
{
    const WallClock clock;
    tell(0, S.rows());
    DenseLevel<T> dense;
    if (report_.overflowed == 0 && (budget_.dense_fits(S.rows()) || S.nnz() == 0))
        dense = DenseLevel<T>(S, opt_.definite || opt_.absolute, most_absolute, stop_);
    const bool too_slow = dense.size() < S.rows() && budget_.dense_fits(S.rows()) && report_.overflowed == 0;
    // where S lacks rank its Q and R take twice the room
    report_.dense = dense.size() > 0 && (S.nnz() == 0 || budget_.fits(dense.bytes()));
    if (report_.dense) {
        report_.deficiency = dense.deficiency();
        report_.levels.push_back({.n = S.rows(), .accepted = S.rows(), .nnz_U = dense.stored()});
        factors_->dense = std::move(dense);
    } else {
        dense = {};
        add_diagonal(S, too_slow ? "and not definite, which takes all their eigenvalues"
                                 : "too many to solve densely within the memory limit");
    }
    const double seconds = clock.seconds();
    report_.seconds_rounds.tail += seconds;
    report_.seconds_factor += seconds;
}

template <class T>
void MlIluBuilder<T>::add_diagonal(const CsrView<T>& S, const char* why)
{
    const Index     n = S.rows();
    const bool      positive = opt_.definite || opt_.absolute;
    const auto      safe_pivot = [&](T d) { return d == T(0) || !is_finite(d) ? T(1) : positive ? T(std::abs(d)) : d; };
    Preprocessed<T> pre;
    pre.A = empty_rows<T>(n, n);
    pre.row_scale.assign(n, 1.);
    pre.col_scale.assign(n, 1.);
    pre.p.resize(n);
    std::iota(pre.p.begin(), pre.p.end(), Index{0});
    pre.q = pre.p;
    FactoredLevel<T> level;
    level.factors.accepted = pre.p;
    for (Index i = 0; i < n; ++i) level.factors.d.push_back(safe_pivot(S.at(i, i)));
    level.factors.L_B = level.factors.U_B = empty_rows<T>(n, n);
    level.blocks.F = level.factors.U_F = empty_rows<T>(n, 0);
    store(pre, level, true);
    report_.decisions.push_back(report_.overflowed > 0
                                    ? fmt::format("the numbers of level {} overflowed", report_.overflowed)
                                    : fmt::format("the last level has {} rows, {}: only its diagonal is used", n, why));
}

template <class T>
void MlIluBuilder<T>::finish()
{
    factors_->ends_in_crout = setup_ == Setup::crout;
    report_.stored += factors_->dense.stored();
    report_.bytes += factors_->dense.bytes();
    budget_.check(report_.bytes);
    report_.fill = nnz_ > 0 ? static_cast<double>(report_.stored) / static_cast<double>(nnz_) : 0;
}

template <class T>
void MlIluBuilder<T>::note_limit(const char* what)
{
    if (std::exchange(report_.limited, true)) return;
    report_.decisions.push_back(fmt::format("memory limit ({}) reached on level {}: the smallest {} were dropped",
                                            budget_.given() ? "as given" : "automatic", level_number(), what));
}

#define ILUX_INSTANTIATE(T) template void MlIluBuilder<T>::note_limit(const char*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace detail

namespace {

template <class T>
void require_buildable(const CsrView<T>& A, const MlIluOptions& options)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    validate(options);
}

}  // namespace

template <Scalar T>
MlIlu<T> MlIlu<T>::build(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const ProgressListener& on_progress,
                         const StopToken& stop)
{
    require_buildable(A, options);
    return finished(detail::MlIluBuilder<T>(be, A, options, on_progress, stop).run(damped(be, A, options)));
}

template <Scalar T>
MlIlu<T> MlIlu<T>::rebuild(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const RoundsPlan& plan,
                           const ProgressListener& on_progress, const StopToken& stop)
{
    require_buildable(A, options);
    require(plan.n == A.rows() && !plan.levels.empty(),
            [&] { return fmt::format("rounds of a matrix with {} rows do not serve one with {}", plan.n, A.rows()); });
    if (options.setup == MlIluSetup::crout) return build(be, A, options, on_progress, stop);
    std::string why_not;
    MlIluReport given_up;
    {
        detail::MlIluBuilder<T> replay(be, A, options, on_progress, stop, &plan);
        try {
            auto made = replay.run(damped(be, A, options));
            why_not = replay.report().overflowed > 0 ? "its numbers overflow" : replay.why_not();
            if (why_not.empty()) return finished(std::move(made));
        } catch (const InvalidInput& error) {  // such as a matching's scale factors by which new numbers overflow
            why_not = error.what();
        }
        given_up = replay.report();
    }  // what it holds goes before anything is made anew
    detail::MlIluBuilder<T> anew(be, A, options, on_progress, stop);
    anew.note(fmt::format("rounds of an earlier matrix do not serve again: {}", why_not), given_up);
    return finished(anew.run(damped(be, A, options)));
}

template <Scalar T>
MlIlu<T> MlIlu<T>::finished(Built made)
{
    MlIlu<T> mlilu;
    mlilu.factors_ = std::move(made.first);
    mlilu.host_plans_ = std::make_shared<const std::vector<MlIluLevelPlans<T>>>(std::move(made.second));
    return mlilu;
}

bool is_lumped(const MlIluReport& report)
{
    const auto in_rounds = std::span(report.levels).first(report.levels.size() - (report.dense ? 1 : 0));
    return report.compensation == Compensation::lumped && !in_rounds.empty() &&
           std::ranges::all_of(in_rounds, [](const MlIluLevelReport& level) { return level.rounds > 0; });
}

template <Scalar T>
std::optional<RoundsPlan> MlIlu<T>::rounds_plan() const
{
    return plan_of_rounds(*factors_);
}

template <Scalar T>
const MlIluReport& MlIlu<T>::report() const
{
    return factors_->report;
}

template <Scalar T>
std::span<const MlIluLevelPlans<T>> MlIlu<T>::host_plans() const
{
    return *host_plans_;
}

#define ILUX_INSTANTIATE(T) template class MlIlu<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T)                                                \
    template const MlIluReport&                  MlIlu<T>::report() const; \
    template std::span<const MlIluLevelPlans<T>> MlIlu<T>::host_plans() const;
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
