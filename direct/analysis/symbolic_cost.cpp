#include "ilux/direct/analysis/symbolic_cost.hpp"

#include <algorithm>
#include <vector>

#include "ilux/direct/analysis/elimination_tree.hpp"

namespace ilux {
namespace {

std::vector<Index> inverse(std::span<const Index> perm)
{
    std::vector<Index> inv(perm.size());
    for (std::size_t k = 0; k < perm.size(); ++k) inv[perm[k]] = static_cast<Index>(k);
    return inv;
}

/// The columns of L one after another, as far as later reaches need them: a pruned one is cut short. When row k is in
/// L(:,i) and i in U(:,k), the rows of L(:,i) beyond k are in L(:,k) too, and i leads to k.
class PrunedColumns {
public:
    explicit PrunedColumns(Index n) { column_.reserve(n); }

    Offset begin(Index i) const { return column_[i].begin; }
    Offset end(Index i) const { return column_[i].end; }
    Index  row(Offset p) const { return row_[p]; }
    Index  lower_count(Index i) const { return column_[i].lower_count; }

    void begin_column() { column_.push_back({static_cast<Offset>(row_.size()), 0, lowest_none, 0, false}); }
    void add(Index r)
    {
        row_.push_back(r);
        column_.back().lowest = std::min(column_.back().lowest, r);
    }
    void end_column()
    {
        Column& c = column_.back();
        c.end = static_cast<Offset>(row_.size());
        c.lower_count = static_cast<Index>(c.end - c.begin);
    }

    bool pruned(Index i) const { return column_[i].pruned; }
    /// k is in L(:,i).
    void prune(Index i, Index k)
    {
        Column& c = column_[i];
        if (c.lowest == k) {  // nearly always, where the pattern is nearly symmetric
            row_[c.begin] = k;
            c.end = c.begin + 1;
        } else {
            const auto begin = row_.begin() + c.begin, end = row_.begin() + c.end;
            c.end = c.begin + (std::partition(begin, end, [&](Index r) { return r <= k; }) - begin);
        }
        c.pruned = true;
    }

private:
    static constexpr Index lowest_none = std::numeric_limits<Index>::max();
    struct Column {
        Offset begin, end;
        Index  lowest, lower_count;
        bool   pruned;
    };
    std::vector<Column> column_;
    std::vector<Index>  row_;
};

/// The height of a tree whose vertices come before their parents. @param weight  of each in the tree
template <class Weight>
Index height(std::span<const Index> parent, const Weight& weight)
{
    std::vector<Index> below(parent.size(), 0);
    Index              most = 0;
    for (std::size_t k = 0; k < parent.size(); ++k) {
        const Index of = below[k] + weight(k);
        most = std::max(most, of);
        if (parent[k] >= 0) below[parent[k]] = std::max(below[parent[k]], of);
    }
    return most;
}
Index height(std::span<const Index> parent)
{
    return height(parent, [](std::size_t) { return 1; });
}

/// Row by row, as far as there is not more of L + U than `most`.
std::optional<SymbolicCost> by_row_subtrees(const PatternView& C, std::span<const Index> order, double most,
                                            bool levels, const StopToken& stop)
{
    const auto         inv = inverse(order);
    std::vector<Index> mark(C.n, -1), parent(C.n, -1), lower_count(C.n, 0);
    SymbolicCost       cost{.nnz = static_cast<double>(C.n)};
    Steps              step(stop);
    for (Index k = 0; k < C.n; ++k) {
        mark[k] = k;
        for (Offset p = C.row_ptr[order[k]]; p < C.row_ptr[order[k] + 1]; ++p) {
            for (Index i = inv[C.col[p]]; i < k && mark[i] != k; i = parent[i]) {  // up to where row k has been
                if (parent[i] < 0) parent[i] = k;
                mark[i] = k;
                step();
                ++lower_count[i];
                cost.nnz += 2;
            }
        }
        if (cost.nnz > most) return std::nullopt;
    }
    for (const double count : lower_count) cost.multiply_adds += count * count;
    if (levels) cost.levels = height(parent);
    return cost;
}

SymbolicCost by_column_counts(const PatternView& C, std::span<const Index> order, bool levels, const StopToken& stop,
                              const Cpu& be)
{
    SymbolicCost          cost{.nnz = static_cast<double>(C.n)};
    const EliminationTree tree = elimination_tree(be, C, order, stop);
    for (const double count : column_counts(be, C, tree, stop)) {
        cost.nnz += 2 * count;
        cost.multiply_adds += count * count;
    }
    if (levels) cost.levels = height(tree.parent);
    return cost;
}

}  // namespace

// Rows are taken for columns: the factors of Cᵀ have the transposed pattern and the same counts.
std::optional<SymbolicCost> symbolic_cost(const PatternView& C, std::span<const Index> order, CostLimit limit,
                                          const StopToken& stop)
{
    const auto         inv = inverse(order);
    PrunedColumns      L(C.n);
    std::vector<Index> mark(C.n, -1), upper, level(limit.levels ? C.n : 0, 1);
    SymbolicCost       cost{.nnz = static_cast<double>(C.n)};
    Steps              step(stop);
    upper.reserve(C.n);
    for (Index k = 0; k < C.n; ++k) {
        upper.clear();
        L.begin_column();
        mark[k] = k;
        const auto reach = [&](Index r) {
            if (mark[r] == k) return;
            mark[r] = k;
            if (r > k) L.add(r);
            else upper.push_back(r);
        };
        for (Offset p = C.row_ptr[order[k]]; p < C.row_ptr[order[k] + 1]; ++p) reach(inv[C.col[p]]);
        for (std::size_t u = 0; u < upper.size(); ++u) {
            const Index i = upper[u];
            step();
            bool leads_to_k = false;
            cost.multiply_adds += L.lower_count(i);
            for (Offset p = L.begin(i); p < L.end(i); ++p) {  // reach() may move the memory
                leads_to_k = leads_to_k || L.row(p) == k;
                reach(L.row(p));
            }
            if (leads_to_k && !L.pruned(i)) L.prune(i, k);
            if (limit.levels) level[k] = std::max(level[k], level[i] + 1);
        }
        L.end_column();
        if (limit.levels) cost.levels = std::max(cost.levels, level[k]);
        cost.nnz += static_cast<double>(upper.size()) + L.lower_count(k);
        if (cost.nnz > limit.nnz || cost.multiply_adds > limit.multiply_adds) return std::nullopt;
    }
    return cost;
}

std::optional<SymbolicCost> symmetric_symbolic_cost(const PatternView& C, std::span<const Index> order, CostLimit limit,
                                                    const StopToken& stop, const Cpu& be)
{
    constexpr double little_fill = 6;  // entries of L + U for each of C up to which walking over them all is faster
    const double     most = std::min(limit.nnz, little_fill * static_cast<double>(C.nnz()));
    auto             cost = by_row_subtrees(C, order, most, limit.levels, stop);
    if (!cost && most < limit.nnz) cost = by_column_counts(C, order, limit.levels, stop, be);
    if (!cost || cost->nnz > limit.nnz || cost->multiply_adds > limit.multiply_adds) return std::nullopt;
    return cost;
}

SymbolicCost cost_of_classes(const Cpu& be, const CompressedGraph& c, std::span<const Index> order, bool levels,
                             const StopToken& stop)
{
    SymbolicCost          cost{.nnz = static_cast<double>(c.member.size())};
    const EliminationTree tree = elimination_tree(be, c.pattern(), order, stop);
    const auto            below = column_counts(be, c.pattern(), tree, stop, c.weight);
    for (Index k = 0; k < c.classes(); ++k) {
        const double w = c.weight[tree.order[k]], r = below[k];
        cost.nnz += w * (w - 1) + 2 * w * r;
        cost.multiply_adds += w * r * r + r * w * (w - 1) + (w - 1) * w * (2 * w - 1) / 6;  // Σ (r + t)² over t < w
    }
    if (levels) cost.levels = height(tree.parent, [&](std::size_t k) { return c.weight[tree.order[k]]; });
    return cost;
}

}  // namespace ilux
