#include "ilux/precond/mlilu/mlilu.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/mlilu/crout_ilu.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/precond/mlilu/schur.hpp"

namespace ilux {
namespace {

constexpr double pivot_noise =
    16 * std::numeric_limits<double>::epsilon();  // a pivot below, entries being about 1, is a zero
constexpr Index  max_levels = 40;
constexpr double stalled_share = 0.75;  // more than this postponed: raise κ and try the level again
constexpr double largest_relief = 16;   // of κ within a level
constexpr Index  largest_dense = 4000;  // order of a last level solved densely
constexpr double entry_bytes = sizeof(double) + sizeof(Index);
// Beside its entries a row stores: p, q, two scale factors; if accepted D⁻¹, pointers into L_B, U_B and `upper`, and for
// both solves its place in the level order, the work before it and, in the worst case, the end of a level of its own;
// if postponed a pointer into `lower`, and a row of the next level.
constexpr double both_bytes = 2 * sizeof(Index) + 2 * sizeof(double);
constexpr double accepted_bytes =
    both_bytes + sizeof(double) + 3 * sizeof(Offset) + 2 * (sizeof(Index) + sizeof(Offset) + sizeof(Index));
constexpr double postponed_bytes = both_bytes + sizeof(Offset) + accepted_bytes;
constexpr Offset postponed_cost = 3;  // postponed_bytes less accepted_bytes, in entries
static_assert(postponed_bytes - accepted_bytes <= postponed_cost * entry_bytes);
constexpr double level_bytes = 512;             // last row pointers and the like
constexpr double automatic_limit_factor = 40;   // memory_limit = 0: so many times A,
constexpr double automatic_limit_least = 80e6;  // and at least so many bytes

double largest_entry(const CsrMatrix<double>& A)
{
    double largest = 0;
    for (double value : A.val()) largest = std::max(largest, std::abs(value));
    return largest;
}

/// The blocks of Â beside B in the order (accepted, postponed).
struct Blocks {
    CsrMatrix<double> F, G, C;
};

/// Rows `rows` of A, restricted to the columns with position in [first, last), renumbered from 0.
CsrMatrix<double> block(const CsrMatrix<double>& A, std::span<const Index> rows, std::span<const Index> position,
                        Index first, Index last)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    for (Index i : rows) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)  // stays sorted: positions ascend on either side
            if (const Index j = position[A.col()[p]]; j >= first && j < last) {
                col.push_back(j - first);
                val.push_back(A.val()[p]);
            }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<double>::from_sorted(static_cast<Index>(rows.size()), last - first, std::move(row_ptr),
                                          std::move(col), std::move(val));
}

Blocks split_blocks(const CsrMatrix<double>& A, const std::vector<Index>& accepted, const std::vector<Index>& postponed)
{
    const auto         nB = static_cast<Index>(accepted.size());
    std::vector<Index> position(A.rows());
    Index              next = 0;
    for (const auto* rows : {&accepted, &postponed})
        for (Index i : *rows) position[i] = next++;
    return {block(A, accepted, position, nB, A.rows()), block(A, postponed, position, 0, nB),
            block(A, postponed, position, nB, A.rows())};
}

std::size_t bytes(const MlIluLevel& level)
{
    return level.L_B.bytes() + level.U_B.bytes() + level.lower.bytes() + level.upper.bytes() +
           static_cast<std::size_t>(level.n) * 2 * (sizeof(Index) + sizeof(double)) +
           level.d_inv.size() * sizeof(double);
}

/// The level loop: factor what can be factored safely, go on with the Schur complement of the rest.
class Builder {
public:
    Builder(Cpu& be, const CsrMatrix<double>& A, const MlIluOptions& options, const Monitor& monitor)
        : be_(be),
          opt_(options),
          monitor_(monitor),
          nnz_(A.nnz()),
          kappa_(options.inverse_bound),
          growth_(options.growth_bound),
          depth_(std::max(DepthBound::none, options.depth_bound.rows)),
          bytes_left_(options.memory_limit.value > 0
                          ? static_cast<double>(options.memory_limit.value)
                          : std::max(automatic_limit_least + accepted_bytes * A.rows(),
                                     automatic_limit_factor * static_cast<double>(A.bytes())))
    {
        factors_.n = A.rows();
        const double least = (accepted_bytes + entry_bytes) * A.rows();
        if (bytes_left_ < least) throw_out_of_memory(least);
    }

    MlIluFactors run(const CsrMatrix<double>& A)
    {
        CsrMatrix<double> S = A;
        bool              stuck = false;
        while (S.rows() > 0 && !stuck && !is_last(S)) {
            const Index n = S.rows();
            S = add_level(std::move(S));
            stuck = S.rows() == n;  // nothing was accepted
            if (!is_finite(be_, S.val())) {
                factors_.report.overflowed = static_cast<Index>(factors_.levels.size()) + 1;
                break;
            }
        }
        if (S.rows() > 0) add_last(S);
        finish();
        return std::move(factors_);
    }

private:
    bool is_last(const CsrMatrix<double>& S) const;
    bool dense_fits(Index n) const
    {
        return n <= largest_dense && static_cast<double>(DenseLevel::bytes(n)) <= bytes_left_;
    }
    CsrMatrix<double> add_level(CsrMatrix<double> S);
    CroutLevel        factor(const Preprocessed& pre, bool save);
    void              store(Preprocessed& pre, CroutLevel& crout, Blocks& blocks);
    CsrMatrix<double> next_matrix(const Blocks& blocks, const CroutLevel& crout, bool symmetric);
    Offset            entries_left(Index rows) const
    {
        return static_cast<Offset>(std::max(0., (bytes_left_ - level_bytes - accepted_bytes * rows) / entry_bytes));
    }
    bool saved_fits(const CroutLevel& crout, const Blocks& blocks) const
    {
        return crout.L_B.nnz() + crout.U_B.nnz() + blocks.G.nnz() + blocks.F.nnz() <= room(crout);
    }
    bool kept_fits(const CroutLevel& crout) const
    {
        return crout.L_B.nnz() + crout.U_B.nnz() + crout.L_G.nnz() + crout.U_F.nnz() <= room(crout);
    }
    Offset room(const CroutLevel& crout) const
    {
        const auto postponed = static_cast<Index>(crout.postponed.size());
        return entries_left(static_cast<Index>(crout.accepted.size()) + postponed) - postponed_cost * postponed;
    }
    [[noreturn]] void throw_out_of_memory(double least) const
    {
        throw OutOfMemory(fmt::format(
            "memory_limit is {} bytes, which cannot hold even the sparsest factors of {} rows, about {:.0f} bytes",
            opt_.memory_limit.value, factors_.n, least));
    }
    void tell(Index done, Index total) const
    {
        if (monitor_)
            monitor_({.phase = Progress::Phase::setup,
                      .level = static_cast<Index>(factors_.levels.size()) + 1,
                      .done = done,
                      .total = total});
    }
    void note_limit(const char* what);
    void note_depth(Index bound);
    void add_last(const CsrMatrix<double>& S);
    void finish();

    Cpu&                be_;
    const MlIluOptions& opt_;
    const Monitor&      monitor_;
    const Offset        nnz_;
    double              kappa_, growth_;  // raised where a level stalls, and then stay raised
    Index               depth_;           // longest chain allowed, 0: any; raised likewise
    double              bytes_left_;      // of the memory limit
    MlIluFactors        factors_;
};

bool Builder::is_last(const CsrMatrix<double>& S) const
{
    const Offset n = S.rows(), level = static_cast<Offset>(factors_.levels.size());
    if (level == 0) return false;
    return n <= opt_.dense_order || (3 * S.nnz() > n * n && dense_fits(S.rows())) || level >= max_levels;
}

/// An entry dropped at (i, k) changes L⁻¹ by l_ik (L⁻¹ e_i)(e_kᵀ L⁻¹); the first factor is bounded by κ, so τ/κ in the
/// sweep's rule keeps the change below τ. κ and γ are doubled while more than stalled_share of the level would be
/// postponed, largest_relief times at most; a level that accepts nothing even so, and is too large to go dense, is
/// factored without bounds. Where chains longer than the depth bound are most of the reason, that bound is doubled instead.
/// @param save  the limit is to count G and F instead of L_G and U_F
CroutLevel Builder::factor(const Preprocessed& pre, bool save)
{
    const Index  n = pre.A.rows();
    CroutOptions crout{.drop_tol =
                           opt_.drop_tol / opt_.inverse_bound,  // of the κ asked for, also where a level raises it
                       .inverse_bound = kappa_,
                       .pivot_floor = pivot_noise * largest_entry(pre.A),
                       .growth_bound = growth_,
                       .depth_bound = depth_,
                       .look_ahead = opt_.estimator == Estimator::look_ahead,
                       .symmetric = pre.symmetric,
                       .positive = opt_.definite,
                       .candidates = n,
                       .max_entries = std::max<Offset>(1, entries_left(n)),
                       .postponed_cost = postponed_cost,
                       .save = save};
    const auto   tell = [&](Index k) { this->tell(k, n); };
    for (double relief = 1;; relief *= 2) {
        auto       level = crout_ilu(pre.A, pre.symmetric ? pre.A : pre.At, crout, tell);
        const bool stalled = static_cast<double>(level.postponed.size()) > stalled_share * n;
        if (stalled && 2 * level.too_deep > static_cast<Index>(level.postponed.size())) {
            crout.depth_bound *= 2;
            relief /= 2;  // κ and γ are not to blame
            continue;
        }
        const bool unbound = relief >= largest_relief && level.accepted.empty() && n > largest_dense;
        if (!stalled || relief > largest_relief || (relief == largest_relief && !unbound)) {
            if (level.truncated) note_limit("factor entries");
            note_depth(crout.depth_bound);
            if (relief <= largest_relief) {
                kappa_ = crout.inverse_bound;
                growth_ = crout.growth_bound;
            }
            return level;
        }
        crout.inverse_bound = unbound ? std::numeric_limits<double>::max() : 2 * crout.inverse_bound;
        crout.growth_bound = unbound ? 0 : 2 * crout.growth_bound;
    }
}

/// S, with τ_S raised tenfold while it is larger than what memory is left.
CsrMatrix<double> Builder::next_matrix(const Blocks& blocks, const CroutLevel& crout, bool symmetric)
{
    for (double drop_tol = opt_.schur_drop_tol;; drop_tol = std::max(1e-3, 10 * drop_tol)) {
        const Index n = crout.L_B.rows() + blocks.C.rows();
        auto        S =
            schur_complement(be_, blocks.C, crout.L_G, crout.d, crout.U_F, drop_tol, symmetric, [&] { tell(n, n); });
        if (S.nnz() <= std::max<Offset>(S.rows(), entries_left(S.rows())) || drop_tol >= 1) return S;
        note_limit("entries of the next level");
    }
}

void Builder::note_limit(const char* what)
{
    if (std::exchange(factors_.report.limited, true)) return;
    factors_.report.decisions.push_back(
        fmt::format("memory limit ({}) reached on level {}: the smallest {} were dropped",
                    opt_.memory_limit.value > 0 ? "as given" : "automatic", factors_.levels.size() + 1, what));
}

/// The depth bound may have been raised.
void Builder::note_depth(Index bound)
{
    if (bound == depth_) return;
    factors_.report.decisions.push_back(
        fmt::format("precond.depth_bound {} raised to {} from level {} on: it postponed more than {:.0f} % of its rows",
                    depth_, bound, factors_.levels.size() + 1, 100 * stalled_share));
    depth_ = bound;
}

CsrMatrix<double> Builder::add_level(CsrMatrix<double> S)
{
    WallClock  clock;
    const auto rows = S.rows();
    Checkpoint checkpoint;
    if (monitor_) checkpoint = [this, rows] { tell(0, rows); };
    auto       pre = preprocess(std::move(S), opt_, checkpoint);
    auto&      report = factors_.report;
    const bool first = factors_.levels.empty();
    if (first) {
        if (opt_.definite && !pre.positive)
            throw InvalidInput(
                "precond.definite needs a symmetric matrix with a positive diagonal, and this one is not");
        report.structural_rank = pre.structural_rank;
    }
    if (first && !pre.decision.empty()) report.decisions.push_back(pre.decision);
    report.seconds_analyse += clock.lap();

    const bool save = opt_.off_diagonal != OffDiagonal::keep;
    auto       crout = factor(pre, save);
    auto       blocks = split_blocks(pre.A, crout.accepted, crout.postponed);
    if (save && !saved_fits(crout, blocks) && !kept_fits(crout)) {
        crout = factor(pre, false);
        blocks = split_blocks(pre.A, crout.accepted, crout.postponed);
    }
    for (auto* perm : {&pre.p, &pre.q}) {
        std::vector<Index> composed;
        composed.reserve(perm->size());
        for (const auto* kept : {&crout.accepted, &crout.postponed})
            for (Index i : *kept) composed.push_back((*perm)[i]);
        *perm = std::move(composed);
    }
    S = next_matrix(blocks, crout, pre.symmetric);
    store(pre, crout, blocks);
    report.seconds_factor += clock.seconds();
    return S;
}

void Builder::store(Preprocessed& pre, CroutLevel& crout, Blocks& blocks)
{
    MlIluLevelReport report{.n = pre.A.rows(),
                            .accepted = static_cast<Index>(crout.accepted.size()),
                            .postponed = static_cast<Index>(crout.postponed.size())};
    MlIluLevel       level;
    level.n = report.n;
    level.nB = report.accepted;
    level.p = std::move(pre.p);
    level.q = std::move(pre.q);
    level.row_scale = std::move(pre.row_scale);
    level.col_scale = std::move(pre.col_scale);
    const bool save_fits = saved_fits(crout, blocks);
    const bool keep_is_smaller = crout.L_G.nnz() + crout.U_F.nnz() <= blocks.F.nnz() + blocks.G.nnz();
    level.keep = opt_.off_diagonal == OffDiagonal::keep || !save_fits ||
                 (opt_.off_diagonal == OffDiagonal::automatic && keep_is_smaller);
    if (!save_fits && opt_.off_diagonal == OffDiagonal::save && !keep_is_smaller)
        factors_.report.decisions.push_back(
            fmt::format("off_diagonal=keep on level {}: G and F do not fit the memory limit",
                        factors_.levels.size() + 1));
    level.lower = std::move(level.keep ? crout.L_G : blocks.G);
    level.upper = std::move(level.keep ? crout.U_F : blocks.F);
    report.nnz_L = crout.L_B.nnz();
    report.nnz_U = crout.U_B.nnz();
    report.nnz_G = level.lower.nnz();
    report.nnz_F = level.upper.nnz();
    report.inverse_U = crout.inverse_U;
    report.inverse_L = pre.symmetric ? crout.inverse_U : crout.inverse_L;
    for (double d : crout.d) level.d_inv.push_back(1 / d);
    level.L_B = SpTrsvPlan<double>(std::move(crout.L_B), Triangle::lower, Diagonal::unit);
    level.U_B = SpTrsvPlan<double>(std::move(crout.U_B), Triangle::upper, Diagonal::unit);
    report.depth_L = level.L_B.depth();
    report.depth_U = level.U_B.depth();
    factors_.report.levels.push_back(report);
    bytes_left_ -= static_cast<double>(bytes(level));
    factors_.levels.push_back(std::move(level));
}

/// Dense where that fits; otherwise the diagonal alone, said aloud.
void Builder::add_last(const CsrMatrix<double>& S)
{
    const WallClock clock;
    auto&           report = factors_.report;
    tell(0, S.rows());
    if (!report.overflowed && (dense_fits(S.rows()) || S.nnz() == 0)) factors_.dense = DenseLevel(S, opt_.definite);
    report.dense = !report.overflowed && factors_.dense.size() > 0 &&
                   (S.nnz() == 0 || static_cast<double>(factors_.dense.bytes()) <= bytes_left_);
    if (report.dense) {
        report.deficiency = factors_.dense.deficiency();
        report.levels.push_back({.n = S.rows(), .accepted = S.rows(), .nnz_U = factors_.dense.stored()});
    } else {  // also where S lacks rank: its Q and R take twice the room
        factors_.dense = {};
        Preprocessed pre;
        pre.row_scale.assign(S.rows(), 1.);
        pre.col_scale.assign(S.rows(), 1.);
        pre.p.resize(S.rows());
        std::iota(pre.p.begin(), pre.p.end(), Index{0});
        pre.q = pre.p;
        const auto safe_pivot = [&](double d) {
            return d == 0 || !std::isfinite(d) ? 1. : opt_.definite ? std::abs(d) : d;
        };
        CroutLevel diagonal;
        diagonal.accepted = pre.p;
        for (Index i = 0; i < S.rows(); ++i) diagonal.d.push_back(safe_pivot(S.at(i, i)));
        const auto none =
            CsrMatrix<double>::from_sorted(S.rows(), S.rows(), std::vector<Offset>(S.rows() + 1, 0), {}, {});
        diagonal.L_B = diagonal.U_B = none;
        pre.A = none;
        Blocks blocks;
        blocks.F = diagonal.U_F =
            CsrMatrix<double>::from_sorted(S.rows(), 0, std::vector<Offset>(S.rows() + 1, 0), {}, {});
        store(pre, diagonal, blocks);
        report.decisions.push_back(
            report.overflowed
                ? fmt::format("the numbers of level {} overflowed", report.overflowed)
                : fmt::format("the last level has {} rows, too many to solve densely within the memory limit: only its "
                              "diagonal is used",
                              S.rows()));
    }
    report.seconds_factor += clock.seconds();
}

void Builder::finish()
{
    auto& report = factors_.report;
    for (const auto& level : factors_.levels) {
        report.stored +=
            level.L_B.matrix().nnz() + level.U_B.matrix().nnz() + level.nB + level.lower.nnz() + level.upper.nnz();
        report.bytes += bytes(level);
    }
    report.stored += factors_.dense.stored();
    report.bytes += factors_.dense.bytes();
    if (opt_.memory_limit.value > 0 && report.bytes > opt_.memory_limit.value)
        throw_out_of_memory(static_cast<double>(report.bytes));
    report.fill = nnz_ > 0 ? static_cast<double>(report.stored) / static_cast<double>(nnz_) : 0;
}

}  // namespace

MlIlu MlIlu::build(Cpu& be, const CsrMatrix<double>& A, const MlIluOptions& options, const Monitor& monitor)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    validate(options);
    MlIlu mlilu;
    mlilu.factors_ = std::make_shared<const MlIluFactors>(Builder(be, A, options, monitor).run(A));
    return mlilu;
}

const MlIluReport& MlIlu::report() const { return factors_->report; }

}  // namespace ilux
