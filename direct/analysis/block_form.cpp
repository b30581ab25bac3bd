#include "ilux/direct/analysis/block_form.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "ilux/base/tasks.hpp"
#include "ilux/reorder/symmetric_graph.hpp"

namespace ilux {
namespace {

/// Tarjan's search with its recursion on a stack of its own. An arc v → j for each entry (v, j).
class ComponentSearch {
public:
    ComponentSearch(std::span<const Offset> ptr, std::span<const Index> col, std::span<const Index> row_of)
        : ptr_(ptr), col_(col), row_of_(row_of), low_(row_of.size(), unseen), next_(row_of.size())
    {
        open_.reserve(row_of.size());
        path_.reserve(row_of.size());
    }

    /// @return the number of components; component_of[v] is set for every v. Components are found after all those that
    /// they have arcs to.
    Index run(std::span<Index> component_of)
    {
        const Index n = static_cast<Index>(row_of_.size());
        for (Index root = 0; root < n; ++root)
            if (low_[root] == unseen) search_from(root, component_of);
        return found_;
    }

private:
    static constexpr Index unseen = -1;

    void enter(Index v)
    {
        low_[v] = static_cast<Index>(seen_++);
        next_[v] = ptr_[row_of_[v]];
        open_.push_back(v);
        path_.push_back(v);
    }

    void search_from(Index root, std::span<Index> component_of)
    {
        const Index done = static_cast<Index>(row_of_.size());  // above every number: no longer lowers others
        enter(root);
        number_.assign(1, low_[root]);
        while (!path_.empty()) {
            const Index  v = path_.back();
            const Offset end = ptr_[row_of_[v] + 1];
            Offset       p = next_[v];
            Index        low = low_[v];
            while (p < end && low_[col_[p]] != unseen) low = std::min(low, low_[col_[p++]]);
            low_[v] = low;
            if (p < end) {
                next_[v] = p;  // looked at once more when the child is done, for its low
                enter(col_[p]);
                number_.push_back(low_[col_[p]]);
                continue;
            }
            if (low == number_.back()) {
                Index w;
                do {
                    w = open_.back();
                    open_.pop_back();
                    low_[w] = done;
                    component_of[w] = found_;
                } while (w != v);
                ++found_;
            }
            path_.pop_back();
            number_.pop_back();
        }
    }

    std::span<const Offset> ptr_;
    std::span<const Index>  col_, row_of_;
    std::vector<Index>      low_;     // n; smallest number in reach through the search tree
    std::vector<Offset>     next_;    // n; first entry not yet looked at
    std::vector<Index>      open_;    // vertices whose component is not complete
    std::vector<Index>      path_;    // from the root to the current vertex
    std::vector<Index>      number_;  // of the vertices on the path, by first visit
    Index                   seen_ = 0, found_ = 0;
};

/// Sets that threads join: the smallest vertex of each is its root. Paths are halved where they are walked; a vertex
/// that is no root never becomes one again, so a late store leads to a root, too.
class JoinedSets {
public:
    explicit JoinedSets(Index n) : up_(n) { std::iota(up_.begin(), up_.end(), Index{0}); }

    bool is_root(Index v) const { return up_[v] == v; }
    void join(Index u, Index v)
    {
        for (;;) {
            u = root(u);
            v = root(v);
            if (u == v) return;
            if (u < v) std::swap(u, v);
            Index self = u;
            if (at(u).compare_exchange_strong(self, v, std::memory_order_relaxed)) return;
        }
    }

private:
    std::atomic_ref<Index> at(Index v) { return std::atomic_ref(up_[v]); }
    Index                  root(Index v)
    {
        for (;;) {
            const Index up = at(v).load(std::memory_order_relaxed);
            if (up == v) return v;
            const Index next = at(up).load(std::memory_order_relaxed);
            if (next != up) at(v).store(next, std::memory_order_relaxed);
            v = next;
        }
    }

    std::vector<Index> up_;
};

}  // namespace

bool is_one_component(const PatternView& C)
{
    if (C.n == 0 || !detail::is_symmetric(C)) return false;
    JoinedSets sets(C.n);
    for_pieces(C.n, [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            for (Offset p = C.row_ptr[i]; p < C.row_ptr[i + 1] && C.col[p] < i; ++p) sets.join(i, C.col[p]);
    });
    return !any_by_tasks(C.n, [&](Index v) { return v > 0 && sets.is_root(v); });
}

BlockForm block_form(std::span<const Offset> ptr, std::span<const Index> col, std::span<const Index> row_of)
{
    const Index        n = static_cast<Index>(row_of.size());
    std::vector<Index> component_of(n);
    const Index        blocks = ComponentSearch(ptr, col, row_of).run(component_of);
    BlockForm          form{.perm = std::vector<Index>(n), .block_ptr = std::vector<Index>(blocks + 1, 0)};
    // The first one found has arcs to itself only, so it comes last.
    for (const Index c : component_of) ++form.block_ptr[blocks - c];
    std::partial_sum(form.block_ptr.begin(), form.block_ptr.end(), form.block_ptr.begin());
    std::vector<Index> next(form.block_ptr.begin(), form.block_ptr.end() - 1);
    for (Index v = 0; v < n; ++v) form.perm[next[blocks - 1 - component_of[v]]++] = v;
    return form;
}

BlockForm single_block(Index n)
{
    BlockForm form{.perm = std::vector<Index>(n), .block_ptr = {0}};
    std::iota(form.perm.begin(), form.perm.end(), Index{0});
    if (n > 0) form.block_ptr.push_back(n);
    return form;
}

}  // namespace ilux
