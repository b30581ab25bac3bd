#include "ilux/direct/gpu/member_union.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace ilux {
namespace {

constexpr Offset most_short_entries = 65'535;  // of a column whose positions fit 16 bits
constexpr Offset least_run = 4;                // multiply-adds a run, on average, from which on runs are used

constexpr std::array segment_order{UnionIndex::plain, UnionIndex::wide, UnionIndex::runs};

/// visit(t, position) for the entries of L(:,i), where U(i,k) is entry p: one walk along column k, for positions
/// ascend.
template <class Visit>
void walk_segment(const LuPattern& P, Index k, Offset p, Visit&& visit)
{
    const Index  i = P.row[p];
    const Offset lower = P.diag[i] + 1;
    for (Offset q = p, s = lower; s < P.col_ptr[i + 1]; ++s) {
        while (P.row[q] != P.row[s]) ++q;  // it is there: the pattern is closed
        visit(static_cast<Index>(s - lower), static_cast<Index>(q - P.col_ptr[k]));
    }
}

/// visit(t, position) for those that begin a run.
template <class Visit>
void walk_runs(const LuPattern& P, Index k, Offset p, Visit&& visit)
{
    Index before = -1;
    walk_segment(P, k, p, [&](Index t, Index position) {
        if (t == 0 || position != before + 1) visit(t, position);
        before = position;
    });
}

Index first_word(const LuPattern& P, Index k) { return P.row[P.col_ptr[k]] / 32; }

/// 32-row words between a column's first and last row; a column without updates needs none.
Offset words_of(const LuPattern& P, Index k)
{
    return P.upper_count(k) == 0 ? 0 : P.row[P.col_ptr[k + 1] - 1] / 32 - first_word(P, k) + 1;
}

/// What every encoding of a column costs, and the choice among them.
class Planner {
public:
    Planner(const LuPattern& pattern, std::span<const Offset> runs) : P(pattern), runs_(runs), multiply_adds_(P.n)
    {
        for (Index k = 0; k < P.n; ++k)
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) multiply_adds_[k] += P.lower_count(P.row[p]);
        plan_.multiply_adds = std::accumulate(multiply_adds_.begin(), multiply_adds_.end(), 0.0);
        plan_.index.assign(P.n, UnionIndex::search);
    }

    UnionPlan forced(UnionIndex index)
    {
        for (Index k = 0; k < P.n; ++k) {
            if (index == UnionIndex::plain) change(k, direct(k));
            else if (index == UnionIndex::runs && !is_short(k)) change(k, UnionIndex::lookup);
            else change(k, index);
        }
        return std::move(plan_);
    }

    UnionPlan within(std::size_t limit)
    {
        std::vector<Index> most_used(P.n);
        std::iota(most_used.begin(), most_used.end(), 0);
        std::ranges::stable_sort(most_used, std::greater{}, [&](Index k) { return multiply_adds_[k]; });
        const auto change_within = [&](Index k, UnionIndex to) {
            if (plan_.bytes - bytes(k, plan_.index[k]) + bytes(k, to) <= limit) change(k, to);
        };
        for (const Index k : most_used) change_within(k, smallest(k));
        for (const Index k : most_used)
            if (runs_pay(k) && plan_.index[k] > UnionIndex::runs) change_within(k, UnionIndex::runs);
        for (const Index k : most_used)
            if (plan_.index[k] > direct(k)) change_within(k, direct(k));
        return std::move(plan_);
    }

private:
    bool       is_short(Index k) const { return P.col_ptr[k + 1] - P.col_ptr[k] <= most_short_entries; }
    UnionIndex direct(Index k) const { return is_short(k) ? UnionIndex::plain : UnionIndex::wide; }
    bool       runs_known() const { return !runs_.empty(); }
    Offset     runs(Index k) const { return runs_known() ? runs_[k] : multiply_adds_[k]; }
    bool runs_pay(Index k) const { return is_short(k) && runs_known() && least_run * runs(k) <= multiply_adds_[k]; }

    std::size_t bytes(Index k, UnionIndex index) const
    {
        const std::size_t segments = sizeof(Offset) * P.upper_count(k);
        switch (index) {
            case UnionIndex::plain:
                return segments + sizeof(std::uint16_t) * multiply_adds_[k];
            case UnionIndex::wide:
                return segments + sizeof(std::uint32_t) * multiply_adds_[k];
            case UnionIndex::runs:
                return segments + sizeof(UnionRun) * runs(k);
            case UnionIndex::lookup:
                return sizeof(UnionWord) * words_of(P, k);
            case UnionIndex::search:
                break;
        }
        return 0;
    }

    /// The smallest of the encodings; the fastest of equal ones.
    UnionIndex smallest(Index k) const
    {
        UnionIndex best = direct(k);
        if (runs_pay(k) && bytes(k, UnionIndex::runs) < bytes(k, best)) best = UnionIndex::runs;
        return bytes(k, UnionIndex::lookup) < bytes(k, best) ? UnionIndex::lookup : best;
    }

    void change(Index k, UnionIndex to)
    {
        plan_.bytes += bytes(k, to) - bytes(k, plan_.index[k]);
        plan_.index[k] = to;
    }

    const LuPattern&        P;
    std::span<const Offset> runs_;
    std::vector<Offset>     multiply_adds_;
    UnionPlan               plan_;
};

/// The segment of entry p of U(:,k).
void append_segment(const LuPattern& P, Index k, Offset p, UnionIndex index, MemberUnion& M)
{
    if (index == UnionIndex::plain)
        walk_segment(P, k, p, [&](Index, Index q) { M.plain.push_back(static_cast<std::uint16_t>(q)); });
    else if (index == UnionIndex::wide)
        walk_segment(P, k, p, [&](Index, Index q) { M.wide.push_back(static_cast<std::uint32_t>(q)); });
    else
        walk_runs(P, k, p, [&](Index t, Index q) {
            M.runs.push_back({static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(q)});
        });
    M.len.push_back(static_cast<Offset>(M.plain.size() + M.wide.size() + M.runs.size()));
}

void fill_words(const LuPattern& P, Index k, std::span<UnionWord> words)
{
    const Index base = first_word(P, k);
    for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
        UnionWord& word = words[P.row[p] / 32 - base];
        if (word.bits == 0) word.before = static_cast<std::uint32_t>(p - P.col_ptr[k]);
        word.bits |= 1u << (P.row[p] % 32);
    }
}

Index looked_up(const LuPattern& P, const MemberUnion& M, Index k, Index row)
{
    const UnionWord word = M.words[M.layout.first[k] + row / 32 - first_word(P, k)];
    return static_cast<Index>(word.before) + std::popcount(word.bits & ((1u << (row % 32)) - 1));
}

/// Where entry t of L(:,i) lands in column k, U(i,k) being entry p.
Index decoded_position(const LuPattern& P, const MemberUnion& M, Index k, Offset p, Index t)
{
    const UnionIndex index = M.plan.index[k];
    if (index == UnionIndex::search) return -1;
    if (index == UnionIndex::lookup) return looked_up(P, M, k, P.row[P.diag[P.row[p]] + 1 + t]);
    const Offset segment = M.layout.first[k] + (p - P.col_ptr[k]), begin = M.len[segment], end = M.len[segment + 1];
    if (index == UnionIndex::plain) return M.plain[begin + t];
    if (index == UnionIndex::wide) return static_cast<Index>(M.wide[begin - M.layout.plain + t]);
    const auto     runs = std::span(M.runs).subspan(begin - M.layout.plain - M.layout.wide, end - begin);
    const UnionRun run = *std::prev(std::ranges::upper_bound(runs, t, {}, &UnionRun::begin));
    return run.position + t - run.begin;
}

}  // namespace

UnionPlan plan_union(const LuPattern& pattern, std::size_t limit, std::optional<UnionIndex> forced,
                     std::span<const Offset> runs)
{
    Planner planner(pattern, runs);
    if (forced) return planner.forced(*forced);
    return planner.within(limit);
}

std::vector<Offset> count_runs(const LuPattern& pattern)
{
    std::vector<Offset> runs(pattern.n);
    for (Index k = 0; k < pattern.n; ++k)
        for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p)
            walk_runs(pattern, k, p, [&](Index, Index) { ++runs[k]; });
    return runs;
}

UnionLayout layout_union(const LuPattern& pattern, const UnionPlan& plan, std::span<const Offset> runs)
{
    UnionLayout layout;
    layout.first.resize(pattern.n);
    for (const UnionIndex index : segment_order)
        for (Index k = 0; k < pattern.n; ++k) {
            if (plan.index[k] != index) continue;
            layout.first[k] = layout.segments;
            layout.segments += pattern.upper_count(k);
            if (index == UnionIndex::runs) layout.runs += runs[k];
            else
                for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p)
                    (index == UnionIndex::plain ? layout.plain : layout.wide) += pattern.lower_count(pattern.row[p]);
        }
    for (Index k = 0; k < pattern.n; ++k)
        if (plan.index[k] == UnionIndex::lookup) {
            layout.first[k] = layout.words;
            layout.words += words_of(pattern, k);
        }
    return layout;
}

MemberUnion member_union(const LuPattern& pattern, UnionPlan plan)
{
    MemberUnion M;
    M.layout = layout_union(pattern, plan, count_runs(pattern));
    M.len = {0};
    M.words.resize(M.layout.words);
    for (const UnionIndex index : segment_order)
        for (Index k = 0; k < pattern.n; ++k)
            if (plan.index[k] == index)
                for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p) append_segment(pattern, k, p, index, M);
    for (Index k = 0; k < pattern.n; ++k)
        if (plan.index[k] == UnionIndex::lookup)
            if (const Offset words = words_of(pattern, k); words > 0)
                fill_words(pattern, k, std::span(M.words).subspan(M.layout.first[k], words));
    M.plan = std::move(plan);
    return M;
}

std::vector<Index> decoded(const LuPattern& pattern, const MemberUnion& members)
{
    std::vector<Index> positions;
    for (Index k = 0; k < pattern.n; ++k)
        for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p)
            for (Index t = 0; t < pattern.lower_count(pattern.row[p]); ++t)
                positions.push_back(decoded_position(pattern, members, k, p, t));
    return positions;
}

std::vector<Index> union_by_search(const LuPattern& pattern)
{
    std::vector<Index> positions;
    for (Index k = 0; k < pattern.n; ++k) {
        const auto column =
            std::span(pattern.row).subspan(pattern.col_ptr[k], pattern.col_ptr[k + 1] - pattern.col_ptr[k]);
        for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p)
            for (Offset q = pattern.diag[pattern.row[p]] + 1; q < pattern.col_ptr[pattern.row[p] + 1]; ++q)
                positions.push_back(
                    static_cast<Index>(std::ranges::lower_bound(column, pattern.row[q]) - column.begin()));
    }
    return positions;
}

}  // namespace ilux
