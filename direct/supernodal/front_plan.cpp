#include "ilux/direct/supernodal/front_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "ilux/base/csr.hpp"
#include "ilux/base/error.hpp"

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

/// Both lists ascend, and the parent's pivots and rows hold every row of the child.
void find_places(FrontPlan& plan)
{
    const FrontTree& tree = plan.tree;
    plan.place.resize(tree.row.size());
    for (Index f = 0; f < tree.fronts(); ++f) {
        const Index up = tree.parent[f];
        if (up < 0) continue;
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
}

std::vector<Index> front_of_position(const FrontTree& tree)
{
    std::vector<Index> front(tree.order.size());
    for (Index f = 0; f < tree.fronts(); ++f)
        std::fill(front.begin() + tree.pivot_ptr[f], front.begin() + tree.pivot_ptr[f + 1], f);
    return front;
}

/// Splits the entries of B into those of fronts, sorted by front, and F. Both keep the order of B's columns.
class Entries {
public:
    Entries(const LuSymbolic& symbolic, FrontPlan& plan)
        : s_(symbolic),
          plan_(plan),
          position_(inverse_permutation(plan.tree.order)),
          front_(front_of_position(plan.tree))
    {}

    void sort_by_front()
    {
        plan_.in_ptr.assign(static_cast<std::size_t>(plan_.fronts()) + 1, 0);
        for_each([&](Index r, Index c, Offset) { ++plan_.in_ptr[front_[std::min(r, c)] + 1]; },
                 [](Index, Index, Offset) {});
        std::partial_sum(plan_.in_ptr.begin(), plan_.in_ptr.end(), plan_.in_ptr.begin());
        const auto          count = static_cast<std::size_t>(plan_.in_ptr.back());
        std::vector<Offset> next(plan_.in_ptr.begin(), plan_.in_ptr.end() - 1);
        plan_.in_source.resize(count);
        plan_.in_target.resize(count);
        plan_.in_row.resize(count);
        plan_.in_col.resize(count);
        plan_.f_col_ptr.assign(static_cast<std::size_t>(plan_.n) + 1, 0);
        for_each(
            [&](Index r, Index c, Offset source) {
                const Offset q = next[front_[std::min(r, c)]]++;
                plan_.in_source[q] = source;
                plan_.in_row[q] = r;
                plan_.in_col[q] = c;
            },
            [&](Index r, Index c, Offset source) {
                plan_.f_row.push_back(r);
                plan_.f_source.push_back(source);
                ++plan_.f_col_ptr[c + 1];
            });
        std::partial_sum(plan_.f_col_ptr.begin(), plan_.f_col_ptr.end(), plan_.f_col_ptr.begin());
    }

    void find_targets()
    {
        const FrontTree&   tree = plan_.tree;
        std::vector<Index> local(plan_.n);  // row of the front, for the rows of this one
        for (Index f = 0; f < tree.fronts(); ++f) {
            const Index  begin = tree.pivot_ptr[f];
            const Offset k = tree.pivots(f), m = tree.size(f);
            for (Index i = 0; i < k; ++i) local[begin + i] = i;
            for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p)
                local[tree.row[p]] = static_cast<Index>(k + p - tree.row_ptr[f]);
            for (Offset q = plan_.in_ptr[f]; q < plan_.in_ptr[f + 1]; ++q) {
                const Offset i = local[plan_.in_row[q]], j = local[plan_.in_col[q]];
                plan_.in_target[q] = plan_.val_ptr[f] + (j < k ? i + j * m : m * k + i + (j - k) * k);
            }
        }
    }

private:
    /// Calls in(row, column, source) for entries of diagonal blocks and above(…) for others, column after column by position.
    template <class In, class Above>
    void for_each(In&& in, Above&& above) const
    {
        for (Index block = 0; block < plan_.blocks(); ++block)
            for (Index c = plan_.block_ptr[block]; c < plan_.block_ptr[block + 1]; ++c) {
                const Index k = plan_.tree.order[c];
                for (Offset p = s_.col_ptr[k]; p < s_.col_ptr[k + 1]; ++p) {
                    const Index r = position_[s_.row[p]];
                    r < plan_.block_ptr[block] ? above(r, c, s_.source[p]) : in(r, c, s_.source[p]);
                }
            }
    }

    const LuSymbolic&  s_;
    FrontPlan&         plan_;
    std::vector<Index> position_;  // of B's numbers
    std::vector<Index> front_;     // of positions
};

/// Rows of F ascend in every column; the position of each source goes with it.
void sort_F(FrontPlan& plan)
{
    std::vector<std::pair<Index, Offset>> column;
    for (Index c = 0; c < plan.n; ++c) {
        const Offset begin = plan.f_col_ptr[c], end = plan.f_col_ptr[c + 1];
        if (std::is_sorted(plan.f_row.begin() + begin, plan.f_row.begin() + end)) continue;
        column.clear();
        for (Offset p = begin; p < end; ++p) column.emplace_back(plan.f_row[p], plan.f_source[p]);
        std::stable_sort(column.begin(), column.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (Offset p = begin; p < end; ++p) std::tie(plan.f_row[p], plan.f_source[p]) = column[p - begin];
    }
}

std::vector<Index> composed(std::span<const Index> perm, std::span<const Index> order)
{
    std::vector<Index> both(order.size());
    std::ranges::transform(order, both.begin(), [&](Index k) { return perm[k]; });
    return both;
}

template <class T>
std::size_t bytes_of(const std::vector<T>& v)
{
    return v.capacity() * sizeof(T);
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
        sort_F(plan);
        for (Index block = 0; block < plan.blocks(); ++block)
            if (auto passes = front_passes(plan.tree, block, plan.block_front[block], plan.block_front[block + 1]))
                plan.passes.push_back(std::move(*passes));
        return shared;
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory for the supernodes of a matrix with n = {}, nnz = {}", symbolic.n,
                                      symbolic.input_nnz));
    }
}

}  // namespace ilux
