#include "ilux/direct/supernodal/front_plan.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

void lay_out(FrontPlan& plan)
{
    const FrontTree& tree = plan.tree;
    plan.val_ptr.resize(static_cast<std::size_t>(tree.fronts()) + 1, 0);
    for (Index f = 0; f < tree.fronts(); ++f) {
        const Offset k = tree.pivots(f), m = tree.size(f);
        plan.val_ptr[f + 1] = plan.val_ptr[f] + k * (2 * m - k);
        plan.multiply_adds += front_multiply_adds(tree.size(f), tree.pivots(f));
        plan.largest_front = std::max(plan.largest_front, tree.size(f));
    }
}

/// Calls work(first, last) for parts of the fronts with about as many of what `ptr` counts, by tasks.
template <class Work>
void for_fronts(std::span<const Offset> ptr, const Work& work)
{
    constexpr int most = 16;
    const Index   parts = std::min(omp_get_num_threads(), most), fronts = static_cast<Index>(ptr.size()) - 1;
    const auto    first = [&](Index part) {
        const auto at = std::ranges::lower_bound(ptr, ptr.back() / parts * part) - ptr.begin();
        return part < parts ? static_cast<Index>(at) : fronts;
    };
    for_tasks(parts, [&](Index part) { work(first(part), first(part + 1)); });
}

/// Both lists ascend, and the parent's pivots and rows hold every row of the child.
void find_places_of(FrontPlan& plan, Index f)
{
    const FrontTree& tree = plan.tree;
    const Index      up = tree.parent[f];
    if (up < 0) return;
    const Index  begin = tree.pivot_ptr[up], end = tree.pivot_ptr[up + 1], pivots = end - begin;
    const Offset rows = tree.row_ptr[up];
    Offset       q = rows;
    for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p) {
        const Index i = tree.row[p];
        if (i >= end)
            while (tree.row[q] < i) ++q;
        plan.place[p] = i < end ? i - begin : pivots + static_cast<Index>(q - rows);
    }
}

void find_places(FrontPlan& plan)
{
    plan.place.resize(plan.tree.row.size());
    for_fronts(plan.tree.row_ptr, [&](Index first, Index last) {
        for (Index f = first; f < last; ++f) find_places_of(plan, f);
    });
}

UnsetVector<Index, Pages::usual> front_of_position(const FrontTree& tree)
{
    UnsetVector<Index, Pages::usual> front(tree.order.size());
    for_pieces(tree.fronts(), [&](Index, Index first, Index last) {
        for (Index f = first; f < last; ++f)
            std::fill(front.begin() + tree.pivot_ptr[f], front.begin() + tree.pivot_ptr[f + 1], f);
    });
    return front;
}

/// Splits the entries of B into those of fronts, sorted by front, and F. Both keep the order of B's columns. By tasks.
class Entries {
public:
    Entries(const LuSymbolic& symbolic, FrontPlan& plan)
        : s_(symbolic), plan_(plan), position_(inverse_by_tasks(plan.tree.order)), front_(front_of_position(plan.tree))
    {}

    void sort_by_front()
    {
        Grouping by_front(plan_.n, s_.input_nnz, plan_.fronts(), [this](Index begin, Index end, auto&& take) {
            for_each(
                begin, end, [&](Index r, Index c, Offset source) { take(front_[std::min(r, c)], r, c, source); },
                [](Index, Index, Offset) {});
        });
        plan_.in_source.resize(by_front.size());
        plan_.in_target.resize(by_front.size());
        plan_.in_row.resize(by_front.size());
        plan_.in_col.resize(by_front.size());
        by_front.place([this](Offset q, Index r, Index c, Offset source) {
            plan_.in_source[q] = source;
            plan_.in_row[q] = r;
            plan_.in_col[q] = c;
        });
        plan_.in_ptr = by_front.take_ptr();
    }

    /// After sort_by_front().
    void find_targets()
    {
        for_fronts(plan_.in_ptr, [&](Index first, Index last) {
            UnsetVector<Index, Pages::usual> local(plan_.n);  // row of the front, for the rows of this one
            for (Index f = first; f < last; ++f) find_targets_of(f, local);
        });
    }

    /// Rows of F ascend in every column, and the position of each source goes with it.
    void take_F()
    {
        plan_.f_col_ptr.assign(static_cast<std::size_t>(plan_.n) + 1, 0);
        if (std::ssize(plan_.in_source) == s_.input_nnz) return;
        const auto no_entry = [](Index, Index, Offset) {};
        for_pieces(plan_.n, [&](Index, Index begin, Index end) {
            for_each(begin, end, no_entry, [&](Index, Index c, Offset) { ++plan_.f_col_ptr[c + 1]; });
        });
        std::partial_sum(plan_.f_col_ptr.begin(), plan_.f_col_ptr.end(), plan_.f_col_ptr.begin());
        plan_.f_row.resize(plan_.f_col_ptr.back());
        plan_.f_source.resize(plan_.f_col_ptr.back());
        for_pieces(plan_.n, [&](Index, Index begin, Index end) {
            Offset q = plan_.f_col_ptr[begin];
            for_each(begin, end, no_entry, [&](Index r, Index, Offset source) {
                plan_.f_row[q] = r;
                plan_.f_source[q++] = source;
            });
            sort_F(begin, end);
        });
    }

private:
    /// Calls in(row, column, source) for entries of diagonal blocks and above(…) for others, column after column by
    /// position.
    template <class In, class Above>
    void for_each(Index begin, Index end, In&& in, Above&& above) const
    {
        auto block = std::ranges::upper_bound(plan_.block_ptr, begin) - 1;
        for (Index c = begin; c < end; ++c) {
            while (block[1] <= c) ++block;
            const Index k = plan_.tree.order[c];
            for (Offset p = s_.col_ptr[k]; p < s_.col_ptr[k + 1]; ++p) {
                const Index r = position_[s_.row[p]];
                r < *block ? above(r, c, s_.source[p]) : in(r, c, s_.source[p]);
            }
        }
    }

    void find_targets_of(Index f, std::span<Index> local)
    {
        const FrontTree& tree = plan_.tree;
        const Index      begin = tree.pivot_ptr[f];
        const Offset     k = tree.pivots(f), m = tree.size(f);
        for (Index i = 0; i < k; ++i) local[begin + i] = i;
        for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p)
            local[tree.row[p]] = static_cast<Index>(k + p - tree.row_ptr[f]);
        for (Offset q = plan_.in_ptr[f]; q < plan_.in_ptr[f + 1]; ++q) {
            const Offset i = local[plan_.in_row[q]], j = local[plan_.in_col[q]];
            plan_.in_target[q] = plan_.val_ptr[f] + (j < k ? i + j * m : m * k + i + (j - k) * k);
        }
    }

    void sort_F(Index first, Index last)
    {
        std::vector<std::pair<Index, Offset>> column;
        for (Index c = first; c < last; ++c) {
            const Offset begin = plan_.f_col_ptr[c], end = plan_.f_col_ptr[c + 1];
            if (std::is_sorted(plan_.f_row.begin() + begin, plan_.f_row.begin() + end)) continue;
            column.clear();
            for (Offset p = begin; p < end; ++p) column.emplace_back(plan_.f_row[p], plan_.f_source[p]);
            std::stable_sort(column.begin(), column.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            for (Offset p = begin; p < end; ++p) std::tie(plan_.f_row[p], plan_.f_source[p]) = column[p - begin];
        }
    }

    const LuSymbolic&                s_;
    FrontPlan&                       plan_;
    UnsetVector<Index, Pages::usual> position_;  // of B's numbers
    UnsetVector<Index, Pages::usual> front_;     // of positions
};

std::vector<Index> composed(std::span<const Index> perm, std::span<const Index> order)
{
    std::vector<Index> both(order.size());
    for_pieces(static_cast<Index>(order.size()), [&](Index, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) both[k] = perm[order[k]];
    });
    return both;
}

/// What follows from the tree. By tasks.
void fill_plan(const LuSymbolic& symbolic, FrontPlan& plan)
{
    plan.row_perm = composed(symbolic.row_perm, plan.tree.order);
    plan.col_perm = composed(symbolic.col_perm, plan.tree.order);
    plan.block_ptr = symbolic.block_ptr;
    for (const Index begin : plan.block_ptr)
        plan.block_front.push_back(
            static_cast<Index>(std::ranges::lower_bound(plan.tree.pivot_ptr, begin) - plan.tree.pivot_ptr.begin()));
    lay_out(plan);
    find_places(plan);
    Entries entries(symbolic, plan);
    entries.sort_by_front();
    entries.find_targets();
    entries.take_F();
    for (Index block = 0; block < plan.blocks(); ++block)
        if (auto passes = front_passes(plan.tree, block, plan.block_front[block], plan.block_front[block + 1]))
            plan.passes.push_back(std::move(*passes));
}

template <class V>
std::size_t bytes_of(const V& v)
{
    return v.capacity() * sizeof(typename V::value_type);
}

}  // namespace

double front_multiply_adds(Index m, Index k)
{
    const auto squares = [](double j) { return j * (j + 1) * (2 * j + 1) / 6; };  // Σ_{i ≤ j} i²
    return squares(m - 1.0) - squares(m - k - 1.0);
}

std::size_t FrontPlan::bytes() const
{
    return bytes_of(tree.order) + bytes_of(tree.pivot_ptr) + bytes_of(tree.row_ptr) + bytes_of(tree.row) +
           bytes_of(tree.parent) + bytes_of(tree.child_ptr) + bytes_of(tree.child) + bytes_of(row_perm) +
           bytes_of(col_perm) + bytes_of(block_ptr) + bytes_of(block_front) + bytes_of(val_ptr) + bytes_of(place) +
           bytes_of(in_ptr) + bytes_of(in_source) + bytes_of(in_target) + bytes_of(in_row) + bytes_of(in_col) +
           bytes_of(f_col_ptr) + bytes_of(f_row) + bytes_of(f_source);
}

std::shared_ptr<const FrontPlan> make_front_plan(Cpu& be, const LuSymbolic& symbolic, const FrontMerging& merging)
{
    try {
        auto  shared = std::make_shared<FrontPlan>();
        auto& plan = *shared;
        plan.n = symbolic.n;
        plan.tree = front_tree(be, symbolic, merging);
        constexpr Offset worth_threads = 50'000;
        with_tasks(be, symbolic.input_nnz >= worth_threads, [&] { fill_plan(symbolic, plan); });
        return shared;
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory for the supernodes of a matrix with n = {}, nnz = {}", symbolic.n,
                                      symbolic.input_nnz));
    }
}

}  // namespace ilux
