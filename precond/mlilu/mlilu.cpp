// The level loop of [bollhoefer_saad_06]: factor what can be factored safely, go on with the Schur complement of the rest.

#include "ilux/precond/mlilu/mlilu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/mlilu/instances.hpp"
#include "ilux/precond/mlilu/crout_ilu.hpp"
#include "ilux/precond/mlilu/level_blocks.hpp"
#include "ilux/precond/mlilu/level_budget.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/precond/mlilu/pivot_bounds.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/precond/mlilu/schur.hpp"

namespace ilux {
namespace {

constexpr double pivot_noise =
    16 * std::numeric_limits<double>::epsilon();  // a pivot below, entries being about 1, is a zero
constexpr Index max_levels = 40;

template <class T>
double largest_entry(const CsrView<T>& A)
{
    double largest = 0;
    for (T value : A.val()) largest = std::max(largest, std::abs(value));
    return largest;
}

template <class T>
CsrMatrix<T> empty_rows(Index rows, Index cols)
{
    return CsrMatrix<T>::from_sorted(rows, cols, std::vector<Offset>(rows + std::size_t{1}, 0), {}, {});
}

/// A level's sweep, and the blocks of Â that it leaves.
template <class T>
struct FactoredLevel {
    CroutLevel<T>  crout;
    LevelBlocks<T> blocks;
};

template <class T>
class Builder {
public:
    Builder(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const ProgressListener& on_progress,
            const StopToken& stop)
        : be_(be),
          opt_(options),
          on_progress_(on_progress),
          stop_(stop),
          nnz_(A.nnz()),
          bounds_(options.inverse_bound, options.growth_bound, std::max(DepthBound::none, options.depth_bound.rows)),
          budget_(A, options.memory_limit)
    {
        factors_->n = A.rows();
        factors_->levels.reserve(max_levels + 1);  // plans refer to them
    }

    /// The factors, and how the host solves with them.
    std::pair<std::shared_ptr<const MlIluFactors<T>>, std::vector<MlIluLevelPlans<T>>> run(CsrMatrix<T> S)
    {
        while (S.rows() > 0 && !is_last(S)) {
            WallClock       clock;
            Preprocessed<T> pre = prepare(std::move(S));  // Â ← Pᵀ Dr S Dc Q
            report_.seconds_analyse += clock.lap();
            FactoredLevel<T> level = factor(pre);                       // Â = [B F; G C],  B ≈ L_B D U_B
            S = next_matrix(level.blocks, level.crout, pre.hermitian);  // S ← C − L_G D U_F
            const bool stuck = level.crout.accepted.empty();
            store(pre, level);
            report_.seconds_factor += clock.lap();
            if (!is_finite<T>(be_, S.val())) report_.overflowed = level_number();
            if (stuck || report_.overflowed > 0) break;
        }
        if (S.rows() > 0) add_last(S);
        finish();
        return {std::move(factors_), std::move(plans_)};
    }

private:
    Index level_number() const { return static_cast<Index>(factors_->levels.size()) + 1; }
    bool  is_last(const CsrView<T>& S) const;

    Preprocessed<T>  prepare(CsrMatrix<T> S);
    FactoredLevel<T> factor(const Preprocessed<T>& pre);
    FactoredLevel<T> factor_within(const Preprocessed<T>& pre, bool save);
    CroutOptions     crout_options(const Preprocessed<T>& pre, bool save) const;
    CsrMatrix<T>     next_matrix(const LevelBlocks<T>& blocks, const CroutLevel<T>& crout, bool hermitian);
    bool             keeps(const FactoredLevel<T>& level);
    void             store(Preprocessed<T>& pre, FactoredLevel<T>& level);
    void             add_last(const CsrView<T>& S);
    void             add_diagonal(const CsrView<T>& S);
    void             finish();

    void tell(Index done, Index total) const
    {
        if (on_progress_)
            on_progress_({.phase = Progress::Phase::setup, .level = level_number(), .done = done, .total = total});
        stop_.check();
    }
    void note_limit(const char* what);
    void note_depth(Index before);

    Cpu&                             be_;
    const MlIluOptions&              opt_;
    const ProgressListener&          on_progress_;
    const StopToken&                 stop_;
    const Offset                     nnz_;
    PivotBounds                      bounds_;
    LevelBudget<T>                   budget_;
    std::shared_ptr<MlIluFactors<T>> factors_ = std::make_shared<MlIluFactors<T>>();
    MlIluReport&                     report_ = factors_->report;
    std::vector<MlIluLevelPlans<T>>  plans_;
};

template <class T>
bool Builder<T>::is_last(const CsrView<T>& S) const
{
    const Offset n = S.rows();
    if (factors_->levels.empty()) return false;
    return n <= opt_.dense_order || (3 * S.nnz() > n * n && budget_.dense_fits(S.rows())) ||
           level_number() > max_levels;
}

template <class T>
Preprocessed<T> Builder<T>::prepare(CsrMatrix<T> S)
{
    tell(0, S.rows());
    Preprocessed<T> pre = preprocess(std::move(S), opt_, stop_);
    if (!factors_->levels.empty()) return pre;
    if (opt_.definite && !pre.positive)
        throw InvalidInput(
            fmt::format("precond.definite needs a {} matrix with a positive diagonal, and this one is not",
                        hermitian_word<T>));
    report_.structural_rank = pre.structural_rank;
    if (!pre.decision.empty()) report_.decisions.push_back(pre.decision);
    return pre;
}

/// Where F and G may be stored, the sweep has the room that they leave; where that is too little, the room of U_F and L_G.
template <class T>
FactoredLevel<T> Builder<T>::factor(const Preprocessed<T>& pre)
{
    const bool save = opt_.off_diagonal != OffDiagonal::keep;
    if (!save) return factor_within(pre, false);
    FactoredLevel<T> level = factor_within(pre, true);
    if (budget_.saved_fits(level.crout, level.blocks) || budget_.kept_fits(level.crout)) return level;
    level = {};
    return factor_within(pre, false);
}

/// @param save  the limit is to count G and F instead of L_G and U_F
template <class T>
FactoredLevel<T> Builder<T>::factor_within(const Preprocessed<T>& pre, bool save)
{
    using Relief = PivotBounds::Relief;
    const Index  n = pre.A.rows(), depth_before = bounds_.depth();
    CroutOptions options = crout_options(pre, save);
    const auto   tell = [&](Index k) { this->tell(k, n); };
    for (;;) {
        options.inverse_bound = bounds_.kappa();
        options.growth_bound = bounds_.gamma();
        options.depth_bound = bounds_.depth();
        CroutLevel<T>     crout = crout_ilu(pre.A, pre.hermitian ? pre.A : pre.At, options, tell);
        const SweepCounts sweep{.n = n,
                                .accepted = static_cast<Index>(crout.accepted.size()),
                                .postponed = static_cast<Index>(crout.postponed.size()),
                                .too_deep = crout.too_deep};
        if (bounds_.relax(sweep) != Relief::none) continue;
        if (crout.truncated) note_limit("factor entries");
        note_depth(depth_before);
        LevelBlocks<T> blocks = split_blocks(pre.A, crout.accepted, crout.postponed);
        return {std::move(crout), std::move(blocks)};
    }
}

/// An entry dropped at (i, k) changes L⁻¹ by l_ik (L⁻¹ e_i)(e_kᵀ L⁻¹); the first factor is bounded by κ, so τ/κ in the
/// sweep's rule keeps the change below τ. That κ is the one asked for, also where a level raises it.
template <class T>
CroutOptions Builder<T>::crout_options(const Preprocessed<T>& pre, bool save) const
{
    const Index n = pre.A.rows();
    return {.drop_tol = opt_.drop_tol / opt_.inverse_bound,
            .pivot_floor = pivot_noise * largest_entry(pre.A),
            .look_ahead = opt_.estimator == Estimator::look_ahead,
            .hermitian = pre.hermitian,
            .positive = opt_.definite,
            .candidates = n,
            .max_entries = std::max<Offset>(1, budget_.entries_left(n)),
            .postponed_cost = LevelBudget<T>::postponed_cost,
            .save = save};
}

/// S, with τ_S raised tenfold while it is larger than what memory is left.
template <class T>
CsrMatrix<T> Builder<T>::next_matrix(const LevelBlocks<T>& blocks, const CroutLevel<T>& crout, bool hermitian)
{
    const Index n = crout.L_B.rows() + blocks.C.rows();
    for (double drop_tol = opt_.schur_drop_tol;; drop_tol = std::max(1e-3, 10 * drop_tol)) {
        auto S =
            schur_complement(be_, blocks.C, crout.L_G, crout.d, crout.U_F, drop_tol, hermitian, [&] { tell(n, n); });
        if (budget_.next_fits(S) || drop_tol >= 1) return S;
        note_limit("entries of the next level");
    }
}

template <class T>
void Builder<T>::note_limit(const char* what)
{
    if (std::exchange(report_.limited, true)) return;
    report_.decisions.push_back(fmt::format("memory limit ({}) reached on level {}: the smallest {} were dropped",
                                            budget_.given() ? "as given" : "automatic", level_number(), what));
}

/// The depth bound may have been raised.
template <class T>
void Builder<T>::note_depth(Index before)
{
    if (bounds_.depth() == before) return;
    report_.decisions.push_back(
        fmt::format("precond.depth_bound {} raised to {} from level {} on: it postponed more than {:.0f} % of its rows",
                    before, bounds_.depth(), level_number(), 100 * PivotBounds::stalled_share));
}

/// Whether L_G and U_F are stored, not G and F.
template <class T>
bool Builder<T>::keeps(const FactoredLevel<T>& level)
{
    const auto& [crout, blocks] = level;
    const bool save_fits = budget_.saved_fits(crout, blocks);
    const bool keep_is_smaller = crout.L_G.nnz() + crout.U_F.nnz() <= blocks.F.nnz() + blocks.G.nnz();
    if (!save_fits && opt_.off_diagonal == OffDiagonal::save && !keep_is_smaller)
        report_.decisions.push_back(
            fmt::format("off_diagonal=keep on level {}: G and F do not fit the memory limit", level_number()));
    return opt_.off_diagonal == OffDiagonal::keep || !save_fits ||
           (opt_.off_diagonal == OffDiagonal::automatic && keep_is_smaller);
}

template <class T>
void Builder<T>::store(Preprocessed<T>& pre, FactoredLevel<T>& factored)
{
    auto& [crout, blocks] = factored;
    const bool    keep = keeps(factored);
    MlIluLevel<T> made{.n = pre.A.rows(),
                       .nB = static_cast<Index>(crout.accepted.size()),
                       .p = composed(pre.p, crout.accepted, crout.postponed),
                       .q = composed(pre.q, crout.accepted, crout.postponed),
                       .row_scale = std::move(pre.row_scale),
                       .col_scale = std::move(pre.col_scale),
                       .L_B = std::move(crout.L_B),
                       .U_B = std::move(crout.U_B),
                       .d_inv = std::move(crout.d),
                       .keep = keep,
                       .lower = std::move(keep ? crout.L_G : blocks.G),
                       .upper = std::move(keep ? crout.U_F : blocks.F)};
    for (T& d : made.d_inv) d = T(1) / d;
    ILUX_ASSERT(factors_->levels.size() < factors_->levels.capacity());
    const MlIluLevel<T>&      level = factors_->levels.emplace_back(std::move(made));
    const MlIluLevelPlans<T>& plans = plans_.emplace_back(plans_of<T>(level, factors_));
    report_.levels.push_back({.n = level.n,
                              .accepted = level.nB,
                              .postponed = static_cast<Index>(crout.postponed.size()),
                              .nnz_L = level.L_B.nnz(),
                              .nnz_U = level.U_B.nnz(),
                              .nnz_G = level.lower.nnz(),
                              .nnz_F = level.upper.nnz(),
                              .inverse_L = pre.hermitian ? crout.inverse_U : crout.inverse_L,
                              .inverse_U = crout.inverse_U,
                              .depth_L = plans.L_B.depth(),
                              .depth_U = plans.U_B.depth()});
    const std::size_t bytes = bytes_of(level, plans);
    budget_.take(bytes);
    report_.bytes += bytes;
    report_.stored += level.L_B.nnz() + level.U_B.nnz() + level.nB + level.lower.nnz() + level.upper.nnz();
}

/// Dense where that fits; otherwise the diagonal alone, said aloud.
template <class T>
void Builder<T>::add_last(const CsrView<T>& S)
{
    const WallClock clock;
    tell(0, S.rows());
    DenseLevel<T> dense;
    if (report_.overflowed == 0 && (budget_.dense_fits(S.rows()) || S.nnz() == 0))
        dense = DenseLevel<T>(S, opt_.definite);
    // where S lacks rank its Q and R take twice the room
    report_.dense = dense.size() > 0 && (S.nnz() == 0 || budget_.fits(dense.bytes()));
    if (report_.dense) {
        report_.deficiency = dense.deficiency();
        report_.levels.push_back({.n = S.rows(), .accepted = S.rows(), .nnz_U = dense.stored()});
        factors_->dense = std::move(dense);
    } else {
        dense = {};
        add_diagonal(S);
    }
    report_.seconds_factor += clock.seconds();
}

template <class T>
void Builder<T>::add_diagonal(const CsrView<T>& S)
{
    const Index n = S.rows();
    const auto safe_pivot = [&](T d) { return d == T(0) || !is_finite(d) ? T(1) : opt_.definite ? T(std::abs(d)) : d; };
    Preprocessed<T> pre;
    pre.A = empty_rows<T>(n, n);
    pre.row_scale.assign(n, 1.);
    pre.col_scale.assign(n, 1.);
    pre.p.resize(n);
    std::iota(pre.p.begin(), pre.p.end(), Index{0});
    pre.q = pre.p;
    FactoredLevel<T> level;
    level.crout.accepted = pre.p;
    for (Index i = 0; i < n; ++i) level.crout.d.push_back(safe_pivot(S.at(i, i)));
    level.crout.L_B = level.crout.U_B = empty_rows<T>(n, n);
    level.blocks.F = level.crout.U_F = empty_rows<T>(n, 0);
    store(pre, level);
    report_.decisions.push_back(
        report_.overflowed > 0
            ? fmt::format("the numbers of level {} overflowed", report_.overflowed)
            : fmt::format("the last level has {} rows, too many to solve densely within the memory limit: only its "
                          "diagonal is used",
                          n));
}

template <class T>
void Builder<T>::finish()
{
    report_.stored += factors_->dense.stored();
    report_.bytes += factors_->dense.bytes();
    budget_.check(report_.bytes);
    report_.fill = nnz_ > 0 ? static_cast<double>(report_.stored) / static_cast<double>(nnz_) : 0;
}

}  // namespace

template <Scalar T>
MlIlu<T> MlIlu<T>::build(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const ProgressListener& on_progress,
                         const StopToken& stop)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    validate(options);
    auto [factors, plans] = Builder<T>(be, A, options, on_progress, stop).run(CsrMatrix<T>(A));
    MlIlu<T> mlilu;
    mlilu.factors_ = std::move(factors);
    mlilu.host_plans_ = std::make_shared<const std::vector<MlIluLevelPlans<T>>>(std::move(plans));
    return mlilu;
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
ILUX_MLILU_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
