#include "ilux/sptrsv/warp_layout.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace ilux {
namespace {

constexpr Index most_steps = 16;  // of a lane that shares its row with fewer than 31 others

/// Rows and partial sums, with the entries and the level of each. Views L itself when no row is split.
template <class T>
struct Nodes {
    std::span<const Offset> row_ptr;
    std::span<const Index>  col, level;
    std::span<const T>      val;
    std::vector<Offset>     own_row_ptr;
    std::vector<Index>      own_col, own_level;
    std::vector<T>          own_val;

    Index  size() const { return static_cast<Index>(level.size()); }
    Offset length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
};

/// Splits the long rows of L. Rows keep their numbers; partial sums follow.
template <class T>
class Splitter {
public:
    Splitter(const CsrMatrix<T>& L, const WarpLayoutOptions& options) : L_(L), options_(options), level_(L.rows(), 0) {}

    Nodes<T> split()
    {
        const Index n = L_.rows();
        count_partials();
        for (Index i = 0; i < n; ++i) {
            const auto cols = L_.col().subspan(L_.row_ptr()[i], length(i));
            if (length(i) > options_.longest) split_row(i);
            else
                for (Index j : cols) level_[i] = std::max(level_[i], level_[j] + 1);
        }
        return assemble();
    }

private:
    Offset length(Index i) const { return L_.row_ptr()[i + 1] - L_.row_ptr()[i]; }

    void count_partials()
    {
        first_partial_.assign(L_.rows() + std::size_t{1}, L_.rows());
        for (Index i = 0; i < L_.rows(); ++i) {
            const Offset parts =
                length(i) > options_.longest ? (length(i) + options_.segment - 1) / options_.segment : 0;
            first_partial_[i + 1] = first_partial_[i] + static_cast<Index>(parts);
        }
        partial_ptr_.push_back(0);
    }

    /// Entries by level, so that the segments whose unknowns come first are summed first.
    void split_row(Index i)
    {
        std::vector<Offset> order(length(i));
        std::iota(order.begin(), order.end(), L_.row_ptr()[i]);
        std::stable_sort(order.begin(), order.end(),
                         [&](Offset p, Offset q) { return level_[L_.col()[p]] < level_[L_.col()[q]]; });
        for (std::size_t begin = 0; begin < order.size(); begin += options_.segment) {
            const std::size_t end = std::min<std::size_t>(order.size(), begin + options_.segment);
            for (std::size_t s = begin; s < end; ++s) {
                partial_col_.push_back(L_.col()[order[s]]);
                partial_val_.push_back(L_.val()[order[s]]);
            }
            partial_ptr_.push_back(static_cast<Offset>(partial_col_.size()));
            partial_level_.push_back(level_[partial_col_.back()] + 1);
        }
        level_[i] = partial_level_.back() + 1;
    }

    Nodes<T> assemble()
    {
        const Index n = L_.rows();
        Nodes<T>    nodes;
        auto&       ptr = nodes.own_row_ptr;
        ptr.push_back(0);
        for (Index i = 0; i < n; ++i) {
            if (first_partial_[i] < first_partial_[i + 1])
                for (Index p = first_partial_[i]; p < first_partial_[i + 1]; ++p) {
                    nodes.own_col.push_back(p);
                    nodes.own_val.push_back(T{-1});  // a partial sum is published as 0 − Σ l x
                }
            else
                for (Offset p = L_.row_ptr()[i]; p < L_.row_ptr()[i + 1]; ++p) {
                    nodes.own_col.push_back(L_.col()[p]);
                    nodes.own_val.push_back(L_.val()[p]);
                }
            ptr.push_back(static_cast<Offset>(nodes.own_col.size()));
        }
        const Offset rows_end = ptr.back();
        for (std::size_t p = 1; p < partial_ptr_.size(); ++p) ptr.push_back(rows_end + partial_ptr_[p]);
        nodes.own_col.insert(nodes.own_col.end(), partial_col_.begin(), partial_col_.end());
        nodes.own_val.insert(nodes.own_val.end(), partial_val_.begin(), partial_val_.end());
        nodes.own_level = std::move(level_);
        nodes.own_level.insert(nodes.own_level.end(), partial_level_.begin(), partial_level_.end());
        nodes.row_ptr = nodes.own_row_ptr;
        nodes.col = nodes.own_col;
        nodes.val = nodes.own_val;
        nodes.level = nodes.own_level;
        return nodes;
    }

    const CsrMatrix<T>&      L_;
    const WarpLayoutOptions& options_;
    std::vector<Index>       level_;
    std::vector<Index>       first_partial_;  // n + 1, as numbers of nodes
    std::vector<Offset>      partial_ptr_;
    std::vector<Index>       partial_col_, partial_level_;
    std::vector<T>           partial_val_;
};

template <class T>
Nodes<T> nodes_of(const CsrMatrix<T>& L, std::span<const Index> level, const WarpLayoutOptions& options)
{
    const auto ptr = L.row_ptr();
    for (Index i = 0; i < L.rows(); ++i)
        if (ptr[i + 1] - ptr[i] > options.longest) return Splitter<T>(L, options).split();
    Nodes<T> nodes;
    nodes.row_ptr = ptr;
    nodes.col = L.col();
    nodes.val = L.val();
    nodes.level = level;
    return nodes;
}

int log2_part(Offset length, int lanes)
{
    if (lanes == 0) return std::bit_width(static_cast<unsigned>(std::clamp<Offset>(length, 1, 32) - 1));
    int part = lanes;
    while (part < 32 && length > Offset{most_steps} * part) part *= 2;
    return std::countr_zero(static_cast<unsigned>(part));
}

Offset steps_of(Offset length, int log2) { return (length + (1 << log2) - 1) >> log2; }

/// Stable counting sort of `items` by key(item) in [0, keys). @return where each key begins, keys + 1
template <class Key>
std::vector<Index> sort_by(std::vector<Index>& items, Index keys, Key key)
{
    std::vector<Index> begin(keys + std::size_t{1}, 0), sorted(items.size());
    for (Index i : items) ++begin[key(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<Index> at(begin.begin(), begin.end() - 1);
    for (Index i : items) sorted[at[key(i)]++] = i;
    items = std::move(sorted);
    return begin;
}

/// Nodes by level, then by lanes and steps, then by number.
struct Sorted {
    std::vector<Index>        order;
    std::vector<Index>        level_begin;  // levels + 1: where each begins in `order`
    std::vector<std::uint8_t> shape;        // of each node: log2 of its lanes · (most_steps + 1) + its steps, capped
};

template <class T>
Sorted sort_nodes(const Nodes<T>& nodes, int lanes)
{
    const Index count = nodes.size();
    Sorted      sorted;
    sorted.shape.resize(count);
#pragma omp parallel for schedule(static)
    for (Index i = 0; i < count; ++i) {
        const int log2 = log2_part(nodes.length(i), lanes);
        sorted.shape[i] = static_cast<std::uint8_t>(log2 * (most_steps + 1) +
                                                    std::min<Offset>(steps_of(nodes.length(i), log2), most_steps));
    }
    sorted.order.resize(count);
    std::iota(sorted.order.begin(), sorted.order.end(), Index{0});
    sort_by(sorted.order, 6 * (most_steps + 1), [&](Index i) { return Index{sorted.shape[i]}; });
    const Index depth = count == 0 ? 0 : *std::max_element(nodes.level.begin(), nodes.level.end()) + 1;
    sorted.level_begin = sort_by(sorted.order, depth, [&](Index i) { return nodes.level[i]; });
    return sorted;
}

/// Cuts the rows of each level into tasks.
template <class T>
void make_tasks(const Nodes<T>& nodes, const Sorted& sorted, Index ahead, WarpLayout<T>& layout)
{
    Index entries = 0;
    layout.level_ptr.push_back(0);
    for (std::size_t l = 0; l + 1 < sorted.level_begin.size(); ++l) {
        const bool  piloted = ahead > 0 && l >= static_cast<std::size_t>(ahead);
        const Index pilot = piloted ? sorted.level_begin[l - ahead + 1] - 1 : -1;
        for (Index s = sorted.level_begin[l]; s < sorted.level_begin[l + 1];) {
            const int log2 = sorted.shape[sorted.order[s]] / (most_steps + 1);
            WarpTask  task{s, entries, pilot, 0, 0, static_cast<std::uint8_t>(log2)};
            for (; s < sorted.level_begin[l + 1] && task.rows < 32 >> log2; ++s, ++task.rows) {
                const Index i = sorted.order[s];
                if (sorted.shape[i] / (most_steps + 1) != log2) break;
                Offset steps = sorted.shape[i] % (most_steps + 1);
                if (steps == most_steps) steps = steps_of(nodes.length(i), log2);
                task.steps = std::max(task.steps, static_cast<std::uint16_t>(steps));
            }
            entries += task.steps;
            layout.tasks.push_back(task);
        }
        layout.level_ptr.push_back(static_cast<Index>(layout.tasks.size()));
    }
    layout.col.resize(32 * static_cast<std::size_t>(entries));
    layout.val.resize(32 * static_cast<std::size_t>(entries));
}

template <class T>
void fill_task(const Nodes<T>& nodes, std::span<const Index> order, std::span<const Index> position,
               const WarpTask& task, WarpLayout<T>& layout)
{
    const int part = 1 << task.log2_part;
    for (int lane = 0; lane < 32; ++lane) {
        const int   r = lane >> task.log2_part;
        const Index i = r < task.rows ? order[task.first + r] : -1;
        for (int s = 0; s < task.steps; ++s) {
            const std::size_t to = 32 * (static_cast<std::size_t>(task.entries) + s) + lane;
            const Offset      e = Offset{s} * part + lane % part;
            const bool        present = i >= 0 && e < nodes.length(i);
            layout.col[to] = present ? position[nodes.col[nodes.row_ptr[i] + e]] : -1;
            layout.val[to] = present ? nodes.val[nodes.row_ptr[i] + e] : T{0};
        }
    }
}

template <class V, class Get>
std::vector<V> by_position(std::span<const Index> row, V of_partial, Get get)
{
    std::vector<V> values(row.size());
#pragma omp parallel for schedule(static)
    for (std::size_t s = 0; s < row.size(); ++s) values[s] = row[s] < 0 ? of_partial : get(row[s]);
    return values;
}

}  // namespace

template <class T>
WarpLayout<T> warp_layout(const CsrMatrix<T>& L, std::span<const Index> level, const WarpLayoutOptions& options)
{
    const Nodes<T> nodes = nodes_of(L, level, options);
    const Sorted   sorted = sort_nodes(nodes, options.lanes);
    const auto&    order = sorted.order;
    WarpLayout<T>  layout;
    make_tasks(nodes, sorted, options.ahead, layout);
    std::vector<Index> position(order.size());
    layout.row.resize(order.size());
#pragma omp parallel for schedule(static)
    for (std::size_t s = 0; s < order.size(); ++s) {
        position[order[s]] = static_cast<Index>(s);
        layout.row[s] = order[s] < L.rows() ? order[s] : -1;
    }
#pragma omp parallel for schedule(static)
    for (std::size_t t = 0; t < layout.tasks.size(); ++t) fill_task(nodes, order, position, layout.tasks[t], layout);
    return layout;
}

SolveFrame frame_by_position(const SolveFrame& frame, std::span<const Index> row)
{
    const auto index = [&](const std::vector<Index>& of_row) {
        return by_position<Index>(row, -1, [&](Index i) { return of_row.empty() ? i : of_row[i]; });
    };
    const auto scale = [&](const std::vector<double>& of_row) {
        if (of_row.empty()) return std::vector<double>();
        return by_position<double>(row, 1, [&](Index i) { return of_row[i]; });
    };
    return {index(frame.in_index), scale(frame.in_scale), index(frame.out_index), scale(frame.out_scale)};
}

std::vector<double> inv_diag_by_position(const std::vector<double>& inv_diag, std::span<const Index> row)
{
    if (inv_diag.empty()) return {};
    return by_position<double>(row, 1, [&](Index i) { return inv_diag[i]; });
}

std::vector<LevelRun> level_runs(std::span<const Index> level_ptr, Index thin)
{
    std::vector<LevelRun> runs;
    for (std::size_t l = 0; l + 1 < level_ptr.size(); ++l) {
        const bool walked = level_ptr[l + 1] - level_ptr[l] <= thin;
        if (walked && !runs.empty() && runs.back().walked) ++runs.back().end;
        else runs.push_back({static_cast<Index>(l), static_cast<Index>(l) + 1, walked});
    }
    return runs;
}

template struct WarpLayout<double>;
template struct WarpLayout<float>;
template WarpLayout<double> warp_layout(const CsrMatrix<double>&, std::span<const Index>, const WarpLayoutOptions&);
template WarpLayout<float>  warp_layout(const CsrMatrix<float>&, std::span<const Index>, const WarpLayoutOptions&);

}  // namespace ilux
