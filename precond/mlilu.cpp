#include "ilux/precond/mlilu.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/precond/crout_ilu.hpp"
#include "ilux/precond/mlilu_levels.hpp"
#include "ilux/precond/preprocess.hpp"
#include "ilux/precond/schur.hpp"

namespace ilux {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr Index  max_levels = 40;
constexpr double stalled_share = 0.75;  // more than this postponed: raise κ and try the level again

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double largest_entry(const CsrMatrix<double>& A)
{
    double largest = 0;
    for (double value : A.val()) largest = std::max(largest, std::abs(value));
    return largest;
}

/// The level loop: factor what can be factored safely, go on with the Schur complement of the rest.
class Builder {
public:
    Builder(Cpu& be, const CsrMatrix<double>& A, const MlIluOptions& options, const Monitor& monitor)
        : be_(be), opt_(options), monitor_(monitor), nnz_(A.nnz()), kappa_(options.inverse_bound)
    {
        factors_.n = A.rows();
    }

    MlIluFactors run(const CsrMatrix<double>& A)
    {
        CsrMatrix<double> S = A;
        while (S.rows() > 0 && !is_last(S)) {
            const Index n = S.rows();
            S = add_level(std::move(S));
            if (S.rows() == n) break;  // nothing was accepted
        }
        if (S.rows() > 0) add_dense(S);
        finish();
        return std::move(factors_);
    }

private:
    bool is_last(const CsrMatrix<double>& S) const;
    CsrMatrix<double> add_level(CsrMatrix<double> S);
    CroutLevel factor(const Preprocessed& pre);
    void store(Preprocessed& pre, CroutLevel& crout, CsrMatrix<double> F, CsrMatrix<double> G);
    void add_dense(const CsrMatrix<double>& S);
    void finish();

    Cpu&                be_;
    const MlIluOptions& opt_;
    const Monitor&      monitor_;
    const Offset        nnz_;
    double              kappa_;  // raised where a level stalls, and then stays raised
    bool                positive_ = false;
    MlIluFactors        factors_;
};

bool Builder::is_last(const CsrMatrix<double>& S) const
{
    const Offset n = S.rows(), level = static_cast<Offset>(factors_.levels.size());
    if (level == 0) return false;
    return n <= opt_.dense_order || 3 * S.nnz() > n * n || level >= max_levels;
}

/// An entry dropped at (i, k) changes L⁻¹ by l_ik (L⁻¹ e_i)(e_kᵀ L⁻¹); the first factor is bounded by κ, so τ/κ in the
/// sweep's rule keeps the change below τ. κ is doubled while more than stalled_share of the level would be postponed, up to 16 times.
CroutLevel Builder::factor(const Preprocessed& pre)
{
    const Index n = pre.A.rows();
    CroutOptions crout{.drop_tol = opt_.drop_tol / opt_.inverse_bound,
                       .inverse_bound = kappa_,
                       .pivot_floor = eps * largest_entry(pre.A),
                       .growth_bound = opt_.growth_bound,
                       .look_ahead = opt_.estimator == Estimator::look_ahead,
                       .symmetric = pre.symmetric,
                       .positive = pre.positive,
                       .candidates = n,
                       .max_entries = 0};
    const auto tell = [&](Index k) {
        if (monitor_) monitor_({.phase = Progress::Phase::setup, .level = static_cast<Index>(factors_.levels.size()) + 1, .done = k, .total = n});
    };
    const double limit = 16 * kappa_;
    for (;;) {
        auto level = crout_ilu(pre.A, pre.symmetric ? pre.A : pre.At, crout, tell);
        if (static_cast<double>(level.postponed.size()) <= stalled_share * n || crout.inverse_bound >= limit) {
            kappa_ = crout.inverse_bound;
            return level;
        }
        crout.inverse_bound *= 2;
    }
}

CsrMatrix<double> Builder::add_level(CsrMatrix<double> S)
{
    auto       start = Clock::now();
    auto       pre = preprocess(std::move(S), opt_);
    auto&      report = factors_.report;
    const bool first = factors_.levels.empty();
    if (first) {
        positive_ = pre.positive;
        report.structural_rank = pre.structural_rank;
    }
    if (first && !pre.decision.empty()) report.decisions.push_back(pre.decision);
    report.seconds_analyse += seconds_since(start);

    start = Clock::now();
    auto crout = factor(pre);
    std::vector<Index> order = crout.accepted;
    order.insert(order.end(), crout.postponed.begin(), crout.postponed.end());
    const auto  nB = static_cast<Index>(crout.accepted.size()), nC = static_cast<Index>(crout.postponed.size());
    const auto  A = permute(pre.A, order, order);
    const auto  block = [&](Index row0, Index rows, Index col0, Index cols) {
        std::vector<Offset> row_ptr{0};
        std::vector<Index>  col;
        std::vector<double> val;
        for (Index i = row0; i < row0 + rows; ++i) {
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (const Index j = A.col()[p] - col0; j >= 0 && j < cols) {
                    col.push_back(j);
                    val.push_back(A.val()[p]);
                }
            row_ptr.push_back(static_cast<Offset>(col.size()));
        }
        return CsrMatrix<double>::from_sorted(rows, cols, std::move(row_ptr), std::move(col), std::move(val));
    };
    for (auto* perm : {&pre.p, &pre.q}) {
        std::vector<Index> composed(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) composed[i] = (*perm)[order[i]];
        *perm = std::move(composed);
    }
    S = schur_complement(be_, block(nB, nC, nB, nC), crout.L_G, crout.d, crout.U_F, opt_.schur_drop_tol, pre.symmetric);
    store(pre, crout, block(0, nB, nB, nC), block(nB, nC, 0, nB));
    report.seconds_factor += seconds_since(start);
    return S;
}

void Builder::store(Preprocessed& pre, CroutLevel& crout, CsrMatrix<double> F, CsrMatrix<double> G)
{
    MlIluLevelReport report{.n = pre.A.rows(), .accepted = static_cast<Index>(crout.accepted.size()),
                            .postponed = static_cast<Index>(crout.postponed.size())};
    MlIluLevel level;
    level.n = report.n;
    level.nB = report.accepted;
    level.p = std::move(pre.p);
    level.q = std::move(pre.q);
    level.row_scale = std::move(pre.row_scale);
    level.col_scale = std::move(pre.col_scale);
    level.keep = opt_.off_diagonal == OffDiagonal::keep
                 || (opt_.off_diagonal == OffDiagonal::automatic && crout.L_G.nnz() + crout.U_F.nnz() <= F.nnz() + G.nnz());
    level.lower = std::move(level.keep ? crout.L_G : G);
    level.upper = std::move(level.keep ? crout.U_F : F);
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
    factors_.levels.push_back(std::move(level));
}

void Builder::add_dense(const CsrMatrix<double>& S)
{
    const auto start = Clock::now();
    factors_.dense = DenseLevel(S, positive_);
    factors_.report.dense = true;
    factors_.report.deficiency = factors_.dense.deficiency();
    factors_.report.levels.push_back({.n = S.rows(), .accepted = S.rows(), .nnz_U = factors_.dense.stored()});
    factors_.report.seconds_factor += seconds_since(start);
}

void Builder::finish()
{
    auto& report = factors_.report;
    for (const auto& level : factors_.levels) {
        report.stored += level.L_B.matrix().nnz() + level.U_B.matrix().nnz() + level.nB + level.lower.nnz() + level.upper.nnz();
        report.bytes += level.L_B.bytes() + level.U_B.bytes() + level.lower.bytes() + level.upper.bytes()
                        + level.n * (2 * sizeof(Index) + 2 * sizeof(double)) + level.nB * sizeof(double);
    }
    report.stored += factors_.dense.stored();
    report.bytes += factors_.dense.bytes();
    report.fill = nnz_ > 0 ? static_cast<double>(report.stored) / static_cast<double>(nnz_) : 0;
}

}  // namespace

MlIlu MlIlu::build(Cpu& be, const CsrMatrix<double>& A, const MlIluOptions& options, const Monitor& monitor)
{
    require(A.rows() == A.cols(), [&] { return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols()); });
    validate(options);
    MlIlu mlilu;
    mlilu.factors_ = std::make_shared<const MlIluFactors>(Builder(be, A, options, monitor).run(A));
    return mlilu;
}

const MlIluReport& MlIlu::report() const { return factors_->report; }

}  // namespace ilux
