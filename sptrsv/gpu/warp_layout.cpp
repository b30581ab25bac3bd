#include "ilux/sptrsv/gpu/warp_layout.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ilux/base/cpu.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr Index most_steps = 16;  // of a lane that shares its row with fewer than 31 others

/// Rows and partial sums, with the level of each.
template <class T>
struct DependentNodes {
    const CsrView<T>&      L;
    std::span<const Index> level;

    Index  size() const { return L.rows(); }
    Offset length(Index i) const { return L.row_ptr()[i + 1] - L.row_ptr()[i]; }
};

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
Sorted sort_nodes(const DependentNodes<T>& nodes, int lanes)
{
    const Index count = nodes.size();
    Sorted      sorted;
    sorted.shape.resize(count);
#pragma omp parallel for schedule(static) num_threads(Cpu().team())
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
void make_tasks(const DependentNodes<T>& nodes, const Sorted& sorted, Index ahead, WarpLayout<T>& layout)
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
void fill_task(const DependentNodes<T>& nodes, std::span<const Index> order, std::span<const Index> position,
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
            layout.col[to] = present ? position[nodes.L.col()[nodes.L.row_ptr()[i] + e]] : -1;
            layout.val[to] = present ? nodes.L.val()[nodes.L.row_ptr()[i] + e] : T{0};
        }
    }
}

template <class T>
WarpLayout<T> make_layout(const DependentNodes<T>& nodes, const WarpLayoutOptions& options)
{
    const Sorted  sorted = sort_nodes(nodes, options.lanes);
    WarpLayout<T> layout;
    make_tasks(nodes, sorted, options.ahead, layout);
    layout.row = sorted.order;
    std::vector<Index> position(layout.row.size());
#pragma omp parallel for schedule(static) num_threads(Cpu().team())
    for (std::size_t s = 0; s < position.size(); ++s) position[layout.row[s]] = static_cast<Index>(s);
#pragma omp parallel for schedule(static) num_threads(Cpu().team())
    for (std::size_t t = 0; t < layout.tasks.size(); ++t)
        fill_task(nodes, layout.row, position, layout.tasks[t], layout);
    return layout;
}

}  // namespace

template <class T>
WarpLayout<T> warp_layout(const CsrView<T>& L, std::span<const Index> level, const WarpLayoutOptions& options)
{
    if (longest_row(L.row_ptr()) <= options.longest) return make_layout<T>({L, level}, options);
    const auto split = split_long_rows(L, options.longest, options.segment);
    const auto own_level = levels(split.L);
    auto       layout = make_layout<T>({split.L, own_level}, options);
    for (Index& i : layout.row) i = split.row[i];
    return layout;
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

#define ILUX_INSTANTIATE(T)        \
    template struct WarpLayout<T>; \
    template WarpLayout<T> warp_layout(const CsrView<T>&, std::span<const Index>, const WarpLayoutOptions&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
