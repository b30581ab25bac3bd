#include "ilux/precond/rounds/round_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

using namespace rounds;

/// @param t  ‖t_k‖ @param others  Σ_j≠k |s_kj| ‖t_j‖
template <class T>
bool is_dominant(T d, double t, double others)
{
    return others <= std::abs(d) * t * (1 + dominance_slack);
}

template <class T>
class Chooser {
public:
    Chooser(Cpu& be, const RoundSystem<T>& system, const RoundBounds& bounds)
        : be_(be),
          in_(system),
          bounds_(bounds),
          n_(system.S.rows()),
          priority_(n_),
          status_(n_, excluded),
          blocker_(n_),
          touched_(n_, 0),
          budget_(n_),
          used_(n_, 0.),
          spare_(n_)
    {
        set_.diagonal.resize(n_);
        set_.largest.resize(n_);
    }

    /// Every sweep reads what the sweep before has left, so that the order of the threads does not matter.
    RoundSet<T> run(const std::function<void()>& tell)
    {
        inspect();
        std::iota(blocker_.begin(), blocker_.end(), Index{0});
        for (Index k = 0; k < n_; ++k)
            if (waits(status_[k])) waiting_.push_back(k);
        set_.fit = static_cast<Index>(waiting_.size());

        const auto few = static_cast<std::size_t>(few_waiting * n_);
        for (int sweep = 0; waiting_.size() > few && (bounds_.most_sweeps == 0 || sweep < bounds_.most_sweeps);
             ++sweep) {
            if (tell) tell();
            judge();
            settle_budgets();
            confirm();
            std::erase_if(waiting_, [&](Index k) { return !waits(status_[k]); });
        }
        for (Index k = 0; k < n_; ++k) (status_[k] == chosen ? set_.pivots : set_.rest).push_back(k);
        return std::move(set_);
    }

private:
    /// |s_kj| beside the diagonal of row k: weighted by t, so that it does not depend on the scale of the unknowns.
    double coupling(T s, Index k, Index j) const { return std::abs(s) * (in_.t.size(j) / in_.t.size(k)); }

    void inspect()
    {
        const double mean = static_cast<double>(in_.S.nnz()) / std::max(n_, 1);
        for_row_blocks(be_, n_, [&](Index, Index begin, Index end, int) {
            for (Index k = begin; k < end; ++k) {
                const Offset row = in_.S.row_ptr()[k + 1] - in_.S.row_ptr()[k];
                const Offset col = in_.St.row_ptr()[k + 1] - in_.St.row_ptr()[k];
                const bool   fits = inspect_row(k);
                if (fits && static_cast<double>(std::max(row, col)) <= long_row * mean + long_row_least)
                    status_[k] = priority_[k] = priority(row, col, in_.number.empty() ? k : in_.number[k]);
            }
        });
    }

    /// @return whether row k may be a pivot
    bool inspect_row(Index k)
    {
        const auto [d, largest_in_row, largest_in_col, others] = facts_of_row(in_, k);
        set_.diagonal[k] = d;
        set_.largest[k] = std::max(largest_in_row, std::abs(d));
        spare_[k] = std::max(0., std::abs(d) - others / in_.t.size(k));
        budget_[k] = is_dominant(d, in_.t.size(k), others) ? bounds_.weak_coupling * std::abs(d) : 0;
        const bool grows = bounds_.growth > 0 && largest_in_row * largest_in_col > bounds_.growth * std::abs(d);
        return std::abs(d) > bounds_.pivot_floor && !(bounds_.positive && real_part(d) <= 0) && !grows &&
               1 + std::abs(in_.w_L[k]) <= bounds_.inverse && 1 + std::abs(in_.w_U[k]) <= bounds_.inverse;
    }

    /// Every waiting row: excluded where the pivots chosen leave it no room, tentative where it comes before all in its
    /// row that wait.
    void judge()
    {
        update_waiting([&](Index k) { return verdict(k); });
    }

    /// Tentative pivots stay, but for one that another has in its row and comes before: that one waits on.
    void confirm()
    {
        update_waiting([&](Index k) {
            if (status_[k] == rejected) return excluded;
            if (status_[k] != tentative) return status_[k];
            for (Offset p = in_.St.row_ptr()[k]; p < in_.St.row_ptr()[k + 1]; ++p)
                if (const Index j = in_.St.col()[p];
                    (status_[j] == tentative || status_[j] == rejected) && priority_[j] < priority_[k])
                    return priority_[k];
            return chosen;
        });
    }

    /// By all threads: each new status sees the old ones alone.
    template <class NewStatus>
    void update_waiting(NewStatus&& status_of)
    {
        verdict_.resize(waiting_.size());
        for_row_blocks(be_, static_cast<Index>(waiting_.size()), [&](Index, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i) verdict_[i] = status_of(waiting_[i]);
        });
        for (std::size_t i = 0; i < waiting_.size(); ++i) status_[waiting_[i]] = verdict_[i];
    }

    Status verdict(Index k)
    {
        const Status mine = status_[k];
        if (blocker_[k] != k && waits(status_[blocker_[k]])) return mine;
        Index  blocker = k;
        Status first = mine;
        double used = 0;
        for (Offset p = in_.S.row_ptr()[k]; p < in_.S.row_ptr()[k + 1]; ++p) {
            const Index  j = in_.S.col()[p];
            const Status status = status_[j];
            if (status == chosen) used += coupling(in_.S.val()[p], k, j);
            if (status < first && waits(status)) first = status, blocker = j;
        }
        if (!(used <= budget_[k])) return excluded;
        for (Offset p = in_.St.row_ptr()[k]; p < in_.St.row_ptr()[k + 1]; ++p)
            if (const Index j = in_.St.col()[p];
                status_[j] == chosen && !(used_[j] + coupling(in_.St.val()[p], j, k) <= budget_[j]))
                return excluded;
        blocker_[k] = blocker;
        if (blocker != k) return mine;
        used_[k] = used;
        return used > 0 && !ties_have_detours(k) ? rejected : tentative;
    }

    /// Tells whether each tie of row k to pivots chosen before has detours enough.
    bool ties_have_detours(Index k) const
    {
        for (Offset p = in_.S.row_ptr()[k]; p < in_.S.row_ptr()[k + 1]; ++p) {
            const Index j = in_.S.col()[p];
            if (status_[j] == chosen && !has_detours(k, j, coupling(in_.S.val()[p], k, j))) return false;
        }
        return true;
    }

    /// All in the unit of couplings of row k.
    bool has_detours(Index k, Index j, double tie) const
    {
        const double of_j = in_.t.size(j) / in_.t.size(k);
        double       sum = in_series(spare_[k], spare_[j] * of_j * of_j);
        for (Offset p = in_.S.row_ptr()[j]; p < in_.S.row_ptr()[j + 1] && tie > tie_over_detours * sum; ++p) {
            const Index r = in_.S.col()[p];
            if (r == k || r == j) continue;
            for (Offset q = in_.S.row_ptr()[k]; q < in_.S.row_ptr()[k + 1]; ++q)
                if (in_.S.col()[q] == r)
                    sum += in_series(coupling(in_.S.val()[q], k, r), coupling(in_.S.val()[p], k, r) * of_j);
        }
        return tie <= tie_over_detours * sum;
    }

    /// Tentative pivots are no neighbours of one another, but may be of the same pivot chosen before: the first that
    /// fit its budget stay.
    void settle_budgets()
    {
        if (bounds_.weak_coupling == 0) return;
        std::vector<std::vector<Index>> found(row_blocks(static_cast<Index>(waiting_.size())));
        for_row_blocks(be_, static_cast<Index>(waiting_.size()), [&](Index b, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i)
                if (const Index k = waiting_[i]; !waits(status_[k]) && status_[k] != excluded)
                    find_readers(k, found[b]);
        });
        std::vector<Index> readers;
        for (const auto& some : found) readers.insert(readers.end(), some.begin(), some.end());
        for_row_blocks(be_, static_cast<Index>(readers.size()), [&](Index, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i) settle(readers[i]);
        });
    }

    void find_readers(Index k, std::vector<Index>& readers)
    {
        for (Offset p = in_.St.row_ptr()[k]; p < in_.St.row_ptr()[k + 1]; ++p)
            if (const Index j = in_.St.col()[p];
                status_[j] == chosen && std::atomic_ref(touched_[j]).exchange(1, std::memory_order_relaxed) == 0)
                readers.push_back(j);
    }

    void settle(Index j)
    {
        touched_[j] = 0;
        for (Offset p = in_.S.row_ptr()[j]; p < in_.S.row_ptr()[j + 1]; ++p) {
            const Index             k = in_.S.col()[p];
            const double            a = coupling(in_.S.val()[p], j, k);
            std::atomic_ref<Status> status(status_[k]);
            const Status            now = status.load(std::memory_order_relaxed);
            if (now != tentative && now != rejected)
                continue;  // one rejected takes room, too: others may be rejecting it just now
            if (used_[j] + a <= budget_[j]) used_[j] += a;
            else status.store(rejected, std::memory_order_relaxed);
        }
    }

    Cpu&                  be_;
    const RoundSystem<T>& in_;
    const RoundBounds&    bounds_;
    const Index           n_;
    std::vector<Status>   priority_;       // n
    std::vector<Status>   status_;         // n
    std::vector<Index>    blocker_;        // n: a neighbour that comes before and waited when last looked at; or itself
    std::vector<char>     touched_;        // n
    std::vector<double>   budget_, used_;  // n: θ|d|, and what pivots chosen take of it
    std::vector<double>   spare_;          // n: |d| − Σ of the couplings
    std::vector<Index>    waiting_;
    std::vector<Status>   verdict_;
    RoundSet<T>           set_;
};

/// @param size  ‖t_i‖ of row i
template <class T, class Size>
Index dominant_rows_by(Cpu& be, const CsrView<T>& S, const Size& size)
{
    std::vector<Index> found(row_blocks(S.rows()), 0);
    for_row_blocks(be, S.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index k = begin; k < end; ++k) {
            T      d = 0;
            double others = 0;
            for (Offset p = S.row_ptr()[k]; p < S.row_ptr()[k + 1]; ++p)
                if (const Index j = S.col()[p]; j == k) d = S.val()[p];
                else others += std::abs(S.val()[p]) * size(j);
            found[b] += is_dominant(d, size(k), others);
        }
    });
    return std::accumulate(found.begin(), found.end(), Index{0});
}

}  // namespace

template <class T>
Index dominant_rows(Cpu& be, const CsrView<T>& S, TestVectors t)
{
    return dominant_rows_by(be, S, [&](Index i) { return t.size(i); });
}

template <class T>
Index dominant_rows(Cpu& be, const CsrView<T>& S)
{
    return dominant_rows_by(be, S, [](Index) { return 1.; });
}

template <class T>
RowFacts<T> facts_of_row(const RoundSystem<T>& system, Index k)
{
    const auto& [S, St, w_L, w_U, t, number] = system;
    RowFacts<T> facts;
    for (Offset p = S.row_ptr()[k]; p < S.row_ptr()[k + 1]; ++p) {
        const Index  j = S.col()[p];
        const double a = std::abs(S.val()[p]);
        if (j == k) {
            facts.diagonal = S.val()[p];
            continue;
        }
        facts.largest_in_row = std::max(facts.largest_in_row, a);
        facts.others += a * t.size(j);
    }
    for (Offset p = St.row_ptr()[k]; p < St.row_ptr()[k + 1]; ++p)
        if (St.col()[p] != k) facts.largest_in_col = std::max(facts.largest_in_col, std::abs(St.val()[p]));
    return facts;
}

template <class T>
RoundSet<T> choose_pivots(Cpu& be, const RoundSystem<T>& system, const RoundBounds& bounds,
                          const std::function<void()>& tell)
{
    return Chooser<T>(be, system, bounds).run(tell);
}

#define ILUX_INSTANTIATE(T)                                                   \
    template Index       dominant_rows(Cpu&, const CsrView<T>&, TestVectors); \
    template Index       dominant_rows(Cpu&, const CsrView<T>&);              \
    template RowFacts<T> facts_of_row(const RoundSystem<T>&, Index);          \
    template RoundSet<T> choose_pivots(Cpu&, const RoundSystem<T>&, const RoundBounds&, const std::function<void()>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
