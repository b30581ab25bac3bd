#include "ilux/precond/rounds/rounds_ilu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ilux/base/wall_clock.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/round_replay.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

/// What a round leaves behind; rows by their number in the level's matrix.
template <class T>
struct RoundFactors {
    std::vector<Index> pivots, rest;
    CsrMatrix<T>       L, U;
};

/// The rounds of a level, put together as one factorization in the order (pivots of round 1, of round 2, ...,
/// postponed).
template <class T>
class Assembly {
public:
    Assembly(Cpu& be, std::vector<RoundFactors<T>> rounds, std::span<const Index> postponed, CroutLevel<T>& level)
        : be_(be), rounds_(std::move(rounds)), level_(level), nC_(static_cast<Index>(postponed.size()))
    {
        for (const auto& round : rounds_)
            level_.accepted.insert(level_.accepted.end(), round.pivots.begin(), round.pivots.end());
        level_.postponed.assign(postponed.begin(), postponed.end());
        nB_ = static_cast<Index>(level_.accepted.size());
        place_.resize(static_cast<std::size_t>(nB_) + nC_);
        Index next = 0;
        for (const auto* rows : {&level_.accepted, &level_.postponed})
            for (Index k : *rows) place_[k] = next++;
    }

    void run()
    {
        join_L();
        join_U();
    }

private:
    void join_L();
    void join_U();

    Cpu&                         be_;
    std::vector<RoundFactors<T>> rounds_;
    CroutLevel<T>&               level_;
    const Index                  nC_;
    Index                        nB_ = 0;
    std::vector<Index>           place_;  // n; in the new order
};

/// A row of L collects entries of every round before its own; those of later rounds lie further right.
template <class T>
void Assembly<T>::join_L()
{
    std::vector<Offset> ptr(place_.size() + 1, 0);
    for (const auto& round : rounds_)
        for_row_blocks(be_, round.L.rows(), [&](Index, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i)
                ptr[place_[round.rest[i]] + 1] += round.L.row_ptr()[i + 1] - round.L.row_ptr()[i];
        });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    const Offset        in_B = ptr[nB_];
    std::vector<Index>  col_B(in_B), col_C(ptr.back() - in_B);
    std::vector<T>      val_B(in_B), val_C(ptr.back() - in_B);
    std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
    Index               first = 0;  // pivot of the round
    for (auto& round : rounds_) {
        for_row_blocks(be_, round.L.rows(), [&](Index, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i) {
                const Index  row = place_[round.rest[i]];
                const bool   in_C = row >= nB_;
                const Offset from = in_C ? in_B : 0;
                for (Offset p = round.L.row_ptr()[i]; p < round.L.row_ptr()[i + 1]; ++p) {
                    const Offset q = next[row]++ - from;
                    (in_C ? col_C : col_B)[q] = first + round.L.col()[p];
                    (in_C ? val_C : val_B)[q] = round.L.val()[p];
                }
            }
        });
        first += static_cast<Index>(round.pivots.size());
        round.L = {};
    }
    std::vector<Offset> ptr_C(ptr.begin() + nB_, ptr.end());
    for (Offset& p : ptr_C) p -= in_B;
    ptr.resize(static_cast<std::size_t>(nB_) + 1);
    level_.L_B = CsrMatrix<T>::from_sorted(nB_, nB_, std::move(ptr), std::move(col_B), std::move(val_B));
    level_.L_G = CsrMatrix<T>::from_sorted(nC_, nB_, std::move(ptr_C), std::move(col_C), std::move(val_C));
}

/// A row of U is complete; its columns are numbered anew, sorted and split.
template <class T>
void Assembly<T>::join_U()
{
    RowCollector<T>                      B(nB_), C(nB_);
    std::vector<std::pair<Index, Index>> source;  // of every row: round, row in it
    source.reserve(nB_);
    for (std::size_t k = 0; k < rounds_.size(); ++k)
        for (Index i = 0; i < static_cast<Index>(rounds_[k].pivots.size()); ++i)
            source.emplace_back(static_cast<Index>(k), i);
    for_row_blocks(be_, nB_, [&](Index b, Index begin, Index end, int) {
        std::vector<std::pair<Index, T>> row;
        auto&                            in_B = B.block(b);
        auto&                            in_C = C.block(b);
        for (Index r = begin; r < end; ++r) {
            const auto& round = rounds_[source[r].first];
            const Index i = source[r].second;
            row.clear();
            for (Offset p = round.U.row_ptr()[i]; p < round.U.row_ptr()[i + 1]; ++p)
                row.emplace_back(place_[round.rest[round.U.col()[p]]], round.U.val()[p]);
            std::ranges::sort(row, {}, &std::pair<Index, T>::first);
            for (const auto& [j, value] : row)
                if (j < nB_) in_B.add(j, value);
                else in_C.add(j - nB_, value);
            in_B.end_row();
            in_C.end_row();
        }
    });
    level_.U_B = B.matrix(be_, nB_);
    level_.U_F = C.matrix(be_, nC_);
}

template <class T>
class Rounds {
public:
    Rounds(Cpu& be, CsrMatrix<T> A, std::vector<double> t, const RoundsOptions& options,
           const std::function<void(Index)>& tell)
        : be_(be), opt_(options), tell_(tell), w_L_(A.rows(), T(0)), w_U_(A.rows(), T(0)), rows_(A.rows())
    {
        std::iota(rows_.begin(), rows_.end(), Index{0});
        level_.S = std::move(A);
        level_.t = std::move(t);
    }

    RoundsLevel<T> run()
    {
        const Index n = level_.S.rows();
        do
            if (tell_) tell_(n - level_.S.rows());
        while (!done() && round());
        level_.full = too_many_entries();
        if (!level_.round_ends.empty()) level_.cut /= level_.round_ends.back();
        if (opt_.kept) judge_replay();
        if (!level_.why_not.empty()) return std::move(level_);
        const WallClock clock;
        Assembly<T>(be_, std::move(factors_), rows_, level_.factors).run();
        level_.seconds.assemble = clock.seconds();
        return std::move(level_);
    }

private:
    bool        round();
    RoundSet<T> next_set(const RoundSystem<T>& system, const std::function<void()>& tell);
    void        judge_replay();
    Index       pivots_so_far() const { return static_cast<Index>(level_.factors.d.size()); }
    /// L, D and U of a round are entries of S, so that the factors alone never are.
    bool too_many_entries() const
    {
        return opt_.most_entries > 0 && stored_ + static_cast<double>(level_.S.nnz()) > opt_.most_entries;
    }
    bool done() const
    {
        if (too_many_entries()) return true;
        if (opt_.kept) return level_.rounds() == static_cast<Index>(opt_.kept->ends.size());
        return level_.S.rows() <= opt_.enough || (opt_.most_rounds > 0 && level_.rounds() >= opt_.most_rounds);
    }

    Cpu&                              be_;
    const RoundsOptions&              opt_;
    const std::function<void(Index)>& tell_;
    std::vector<T>                    w_L_, w_U_;
    std::vector<Index>                rows_;  // of S, by their number in the level's matrix
    std::vector<RoundFactors<T>>      factors_;
    double                            stored_ = 0;
    RoundsLevel<T>                    level_;
};

/// What was cut and stored is known only now.
template <class T>
void Rounds<T>::judge_replay()
{
    if (!level_.why_not.empty()) return;
    if (level_.full) level_.why_not = "the memory limit leaves no room";
    else level_.why_not = why_not_cut(level_.cut, most_cut(opt_.kept->cut));
}

std::vector<Index> picked(std::span<const Index> from, std::span<const Index> at)
{
    std::vector<Index> result;
    result.reserve(at.size());
    for (Index i : at) result.push_back(from[i]);
    return result;
}

/// The pivots of a round kept, where there is one; else those that are found. Empty where they are refused.
template <class T>
RoundSet<T> Rounds<T>::next_set(const RoundSystem<T>& system, const std::function<void()>& tell)
{
    if (!opt_.kept) return choose_pivots(be_, system, opt_.bounds, tell);
    const Index               first = pivots_so_far(), end = opt_.kept->ends[level_.rounds()];
    const std::vector<Index>& all = opt_.kept->pivots;
    std::vector<Index>        pivots;  // of S
    pivots.reserve(static_cast<std::size_t>(end) - first);
    Index at = 0;
    for (Index i = first; i < end; ++i, ++at) {
        while (rows_[at] != all[i]) ++at;
        pivots.push_back(at);
    }
    auto [set, why_not] = replay_round<T>(be_, system, pivots, opt_.bounds);
    if (why_not.empty()) return std::move(set);
    level_.why_not = fmt::format("in round {} {}", level_.rounds() + 1, why_not);
    return {};
}

/// @return false where too few pivots were found, and nothing was done
template <class T>
bool Rounds<T>::round()
{
    WallClock            clock;
    const CsrMatrix<T>&  S = level_.S;
    const CsrMatrix<T>   transposed = opt_.dropping.mirror != Mirror::none ? CsrMatrix<T>() : transpose(be_, S);
    const CsrView<T>&    St = opt_.dropping.mirror != Mirror::none ? static_cast<const CsrView<T>&>(S) : transposed;
    const RoundSystem<T> system{S, St, w_L_, w_U_, TestVectors(level_.t, S.rows()), rows_};
    const Index          done = pivots_so_far();
    const auto           tell = [&] {
        if (tell_) tell_(done);
    };
    const RoundSet<T> set = next_set(system, tell);
    level_.seconds.sets += clock.lap();
    if (set.pivots.empty()) return false;
    if (!opt_.kept && static_cast<double>(set.pivots.size()) < opt_.least_share * S.rows()) return false;

    auto           made = eliminate(be_, system, set, opt_.dropping_in(level_.rounds()), tell);
    CroutLevel<T>& factors = level_.factors;
    factors.d.insert(factors.d.end(), made.d.begin(), made.d.end());
    factors.inverse_L = std::max(factors.inverse_L, made.inverse_L);
    factors.inverse_U = std::max(factors.inverse_U, made.inverse_U);
    stored_ += static_cast<double>(made.L.nnz() + made.U.nnz()) + static_cast<double>(made.d.size());
    auto t = picked_rows(level_.t, S.rows(), set.rest);
    auto rest = picked(rows_, set.rest);
    factors_.push_back({picked(rows_, set.pivots), rest, std::move(made.L), std::move(made.U)});
    rows_ = std::move(rest);
    w_L_ = std::move(made.w_L);
    w_U_ = std::move(made.w_U);
    level_.t = std::move(t);
    level_.S = std::move(made.next);
    level_.round_ends.push_back(pivots_so_far());
    level_.cut += made.cut;
    level_.seconds.eliminate += clock.seconds();
    return true;
}

}  // namespace

RoundDropping RoundsOptions::dropping_in(Index round) const
{
    RoundDropping in_round = dropping;
    in_round.drop_tol *= std::pow(drop_growth, round);
    return in_round;
}

template <Scalar T>
RoundsLevel<T> rounds_ilu(Cpu& be, CsrMatrix<T> A, std::vector<double> t, const RoundsOptions& options,
                          const std::function<void(Index)>& tell)
{
    return Rounds<T>(be, std::move(A), std::move(t), options, tell).run();
}

#define ILUX_INSTANTIATE(T)                                                                           \
    template RoundsLevel<T> rounds_ilu(Cpu&, CsrMatrix<T>, std::vector<double>, const RoundsOptions&, \
                                       const std::function<void(Index)>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
