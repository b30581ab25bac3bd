#include "ilux/precond/rounds/round_eliminate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/crout/inverse_norms.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"
#include "ilux/precond/rounds/row_sums.hpp"
#include "ilux/precond/crout/sparse_accumulator.hpp"

namespace ilux {
namespace {

using rounds::least_diagonal;

template <class T>
class Eliminator {
public:
    Eliminator(Cpu& be, const RoundSystem<T>& system, const RoundSet<T>& set, const RoundDropping& dropping,
               const std::function<void()>& tell)
        : be_(be),
          in_(system),
          set_(set),
          dropping_(dropping),
          tell_(tell),
          place_(system.S.rows()),
          is_pivot_(system.S.rows(), 0),
          t_val_(picked_rows(system.t.values(), system.S.rows(), set.rest)),
          t_(t_val_, static_cast<Index>(set.rest.size())),
          size_(set.rest.size()),
          nB_(static_cast<Index>(set.pivots.size())),
          nC_(static_cast<Index>(set.rest.size()))
    {
        for (Index i = 0; i < nB_; ++i) is_pivot_[set.pivots[i]] = 1, place_[set.pivots[i]] = i;
        for (Index i = 0; i < nC_; ++i) {
            place_[set.rest[i]] = i;
            size_[i] = std::sqrt(set.largest[set.rest[i]]);
        }
    }

    EliminatedRound<T> run()
    {
        take_pivots();
        split_rest();
        form_next();
        return std::move(out_);
    }

private:
    void take_pivots();
    void split_rest();
    void form_next();
    struct Pivot {
        T      d;
        double cut;
    };
    Pivot  pivot(Index k) const;
    bool   has_image() const { return dropping_.mirror != Mirror::none; }
    double form_row(Index i, RowSums<T>& row) const;
    auto   drop_rule(Index i, double largest_term, const RowSums<T>& row) const;
    void   finish_row(Index i, double largest_term, RowSums<T>& row, typename RowCollector<T>::Block& to) const;
    T      compensated(T d, T lumped, double kept) const;

    Cpu&                         be_;
    const RoundSystem<T>&        in_;
    const RoundSet<T>&           set_;
    const RoundDropping&         dropping_;
    const std::function<void()>& tell_;
    std::vector<Index>           place_;     // n: among the pivots, or in the rest
    std::vector<char>            is_pivot_;  // n
    std::vector<double>          t_val_;     // of the rest
    TestVectors                  t_;
    std::vector<double>          size_;  // nC: root of the largest entry
    const Index                  nB_, nC_;
    std::vector<T>               y_, z_;         // nB: L y = e, Uᵀ z = e
    std::vector<double>          largest_in_U_;  // nB: of each row of D U
    EliminatedRound<T>           out_;
};

/// s_kk, with its couplings to other pivots of the round added where that is asked for, and these as a share of it.
template <class T>
auto Eliminator<T>::pivot(Index k) const -> Pivot
{
    const T before = set_.diagonal[k];
    T       d = before;
    double  cut = 0;
    for (Offset p = in_.S.row_ptr()[k]; p < in_.S.row_ptr()[k + 1]; ++p)
        if (const Index j = in_.S.col()[p]; j != k && is_pivot_[j]) {
            cut += std::abs(in_.S.val()[p]) * (in_.t.size(j) / in_.t.size(k));
            if (dropping_.compensate) d += in_.S.val()[p] * in_.t.weight(k, j);
            if (dropping_.lump) d += std::abs(in_.S.val()[p]);
        }
    d = on_diagonal(dropping_.mirror, d);
    const bool too_small = dropping_.compensate && !(std::abs(d) >= least_diagonal * std::abs(before));
    return {too_small ? before : d, cut / std::abs(before)};
}

/// D, U, y and z.
template <class T>
void Eliminator<T>::take_pivots()
{
    out_.d.resize(nB_);
    y_.resize(nB_);
    z_.resize(nB_);
    largest_in_U_.resize(nB_);
    RowCollector<T>     U(nB_);
    std::vector<double> cut(row_blocks(nB_), 0.);
    for_row_blocks(be_, nB_, [&](Index b, Index begin, Index end, int) {
        auto& rows = U.block(b);
        for (Index i = begin; i < end; ++i) {
            const Index k = set_.pivots[i];
            const auto [d, cut_here] = pivot(k);
            double largest = 0;
            for (Offset p = in_.S.row_ptr()[k]; p < in_.S.row_ptr()[k + 1]; ++p)
                if (const Index j = in_.S.col()[p]; !is_pivot_[j]) {
                    rows.add(place_[j], in_.S.val()[p] / d);
                    largest = std::max(largest, std::abs(in_.S.val()[p]));
                }
            rows.end_row();
            out_.d[i] = d;
            cut[b] += cut_here;
            y_[i] = InverseNorms<T>::greedy_for(in_.w_L[k]);
            z_[i] = InverseNorms<T>::greedy_for(in_.w_U[k]);
            largest_in_U_[i] = largest;
        }
    });
    out_.U = U.matrix(be_, nC_);
    out_.cut = std::accumulate(cut.begin(), cut.end(), 0.);
    for (Index i = 0; i < nB_; ++i) {
        out_.inverse_L = std::max(out_.inverse_L, std::abs(y_[i]));
        out_.inverse_U = std::max(out_.inverse_U, std::abs(z_[i]));
    }
}

/// L, and the estimates of the rest.
template <class T>
void Eliminator<T>::split_rest()
{
    out_.w_L.resize(nC_);
    out_.w_U.resize(nC_);
    RowCollector<T> L(nC_);
    for_row_blocks(be_, nC_, [&](Index b, Index begin, Index end, int) {
        auto& rows = L.block(b);
        for (Index i = begin; i < end; ++i) {
            const Index r = set_.rest[i];
            T           w_L = in_.w_L[r], w_U = in_.w_U[r];
            for (Offset p = in_.S.row_ptr()[r]; p < in_.S.row_ptr()[r + 1]; ++p)
                if (const Index k = in_.S.col()[p]; is_pivot_[k]) {
                    const T l = in_.S.val()[p] / out_.d[place_[k]];
                    rows.add(place_[k], l);
                    w_L += l * y_[place_[k]];
                }
            rows.end_row();
            for (Offset p = in_.St.row_ptr()[r]; p < in_.St.row_ptr()[r + 1] && !has_image(); ++p)
                if (const Index k = in_.St.col()[p]; is_pivot_[k])
                    w_U += in_.St.val()[p] / out_.d[place_[k]] * z_[place_[k]];
            out_.w_L[i] = w_L;
            out_.w_U[i] = has_image() ? mirrored(dropping_.mirror, w_L) : w_U;
        }
    });
    out_.L = L.matrix(be_, nB_);
}

/// row ← s_r − Σ_k l_rk d_k u_k over the rest. @return the largest magnitude that went into it
template <class T>
double Eliminator<T>::form_row(Index i, RowSums<T>& row) const
{
    const Index r = set_.rest[i];
    double      largest_term = 0;
    row.start();
    for (Offset p = in_.S.row_ptr()[r]; p < in_.S.row_ptr()[r + 1]; ++p)
        if (const Index j = in_.S.col()[p]; !is_pivot_[j]) {
            row.add(place_[j], in_.S.val()[p]);
            largest_term = std::max(largest_term, std::abs(in_.S.val()[p]));
        }
    for (Offset p = out_.L.row_ptr()[i]; p < out_.L.row_ptr()[i + 1]; ++p) {
        const Index k = out_.L.col()[p];
        const T     l = out_.L.val()[p], d = out_.d[k];
        largest_term = std::max(largest_term, std::abs(l) * largest_in_U_[k]);
        for (Offset q = out_.U.row_ptr()[k]; q < out_.U.row_ptr()[k + 1];
             ++q)  // (l u) d: for s_ji the same or its conjugate
            row.add(out_.U.col()[q], -(l * out_.U.val()[q]) * d);
    }
    return largest_term;
}

/// The diagonal with `lumped` added, as far as it stays dominant over `kept` = Σ |s_rj| |t_j / t_r| of the entries that
/// stay, and is not a tenth of itself; a row that is not dominant anyway gets nothing.
template <class T>
T Eliminator<T>::compensated(T d, T lumped, double kept) const
{
    const double size = std::abs(d), least = std::max(kept, least_diagonal * size);
    const T      sum = on_diagonal(dropping_.mirror, d + lumped);
    if (!(size > least) || !is_finite(sum)) return d;  // also where t has over- or underflowed, and kept is NaN
    const bool turned = real_part(sum * conj(d)) <= 0;
    return turned || std::abs(sum) < least ? d * (least / size) : sum;
}

/// Up to where an entry of row i goes. What is Inf never does: the caller must see that S overflowed. Where it is
/// compensated an entry goes that is weak for both unknowns, whatever their scale: |s_ij t_i t_j| ≤ τ_S min(m_i t_i²,
/// m_j t_j²). An island loses no tie that is weak for it alone, and so does not become singular.
template <class T>
auto Eliminator<T>::drop_rule(Index i, double largest_term, const RowSums<T>& row) const
{
    constexpr double most = std::numeric_limits<double>::max();
    double           largest = 0;
    for (const auto& [j, value] : row.entries()) largest = std::max(largest, std::abs(value));
    const double noise = std::min(noise_level * largest_term, most);
    const double by_row = std::clamp(dropping_.drop_tol * largest, noise, most);
    const double size = has_image() ? size_[i] : std::sqrt(largest), t = t_.size(i);
    return [=, this](Index j) {
        if (j == i) return noise;
        const double both = size_[i] * size_[j];
        if (!dropping_.compensate)
            return has_image() ? std::min(std::max(dropping_.drop_tol, noise_level) * both, most) : by_row;
        const double t_j = t_.size(j), least = std::min(size * t, size_[j] * t_j);
        const double floor = has_image() ? std::min(noise_level * both, most) : noise;
        return std::clamp(dropping_.drop_tol * ((least / t) * (least / t_j)), floor, most);
    };
}

template <class T>
void Eliminator<T>::finish_row(Index i, double largest_term, RowSums<T>& row, typename RowCollector<T>::Block& to) const
{
    const auto bound = drop_rule(i, largest_term, row);
    const auto goes = [&](const auto& entry) { return std::abs(entry.value) <= bound(entry.col); };
    T          lumped = 0;
    double     kept = 0;
    if (dropping_.compensate)
        for (const auto& entry : row.entries()) {
            if (entry.col == i) continue;
            const double weight = t_.weight(i, entry.col);
            if (goes(entry)) lumped += entry.value * weight;
            else kept += std::abs(entry.value) * std::abs(weight);
        }
    if (dropping_.lump)
        for (const auto& entry : row.entries())
            if (entry.col != i && goes(entry)) lumped += std::abs(entry.value);
    row.finish(goes);
    for (const auto& [j, value] : row.entries())
        to.add(j, j != i ? value : dropping_.compensate ? compensated(value, lumped, kept) : value + lumped);
    to.end_row();
}

template <class T>
void Eliminator<T>::form_next()
{
    RowCollector<T> rows(nC_);
    for_row_blocks(be_, nC_, [&](Index b, Index begin, Index end, int thread) {
        if (tell_ && thread == 0) tell_();
        RowSums<T> row;
        for (Index i = begin; i < end; ++i) {
            const double largest_term = form_row(i, row);
            finish_row(i, largest_term, row, rows.block(b));
        }
    });
    out_.next = rows.matrix(be_, nC_);
}

}  // namespace

template <class T>
EliminatedRound<T> eliminate(Cpu& be, const RoundSystem<T>& system, const RoundSet<T>& set,
                             const RoundDropping& dropping, const std::function<void()>& tell)
{
    return Eliminator<T>(be, system, set, dropping, tell).run();
}

#define ILUX_INSTANTIATE(T)                                                                                      \
    template EliminatedRound<T> eliminate(Cpu&, const RoundSystem<T>&, const RoundSet<T>&, const RoundDropping&, \
                                          const std::function<void()>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
