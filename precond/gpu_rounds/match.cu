// A matching of a level, found by the host: columns get the numbers of the rows that they are matched to.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/level_on_host.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"

namespace ilux::rounds {
namespace {

/// Columns of entries that lie together get new numbers.
__global__ void renumber(Offset count, const Index* number, Index* col)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p < count) col[p] = number[col[p]];
}

/// What columns have goes to their new numbers. @param width  items a column
template <class Item>
__global__ void move_items(Offset count, const Index* number, Index width, const Item* from, Item* to)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p < count) to[Offset{number[p / width]} * width + p % width] = from[p];
}

template <class Item>
void move_columns(Gpu& gpu, DeviceSpan<const Index> number, Item* there, Index width = 1)
{
    DeviceBuffer<Item> old(number.size() * width);
    copy_device(gpu, there, old);
    launch(gpu, move_items<Item>, old.size(), old.size(), number.data(), width, old.data(), there);
}

template <class Item>
void to_device(Gpu& gpu, const std::vector<Item>& here, Item* there)
{
    detail::upload_bytes(gpu, here.data(), there, here.size() * sizeof(Item));
}

/// What the level is to be scaled by from here on, and the new numbers of columns by the old ones.
template <Scalar S>
std::vector<Index> take(const Matching& matching, bool scaling, LevelOnHost<S>& level)
{
    std::vector<Index> number(level.row_scale.size());
    std::iota(number.begin(), number.end(), Index{0});
    for (std::size_t a = 0; a < level.active.size(); ++a) {
        const Index k = level.active[a];
        number[level.active[matching.col_of_row[a]]] = k;
        level.row_scale[k] = scaling ? matching.row_scale[a] / level.row_scale[k] : 1;
        level.col_scale[k] = scaling ? matching.col_scale[a] / level.col_scale[k] : 1;
    }
    return number;
}

bool usable(const std::vector<double>& scale)
{
    return std::ranges::all_of(scale, [](double s) { return s >= 1 / largest_scale && s <= largest_scale; });
}

}  // namespace

template <Scalar S>
MatchedLevel match_level(const Cpu& cpu, Gpu& gpu, RoundsState<S>& state, bool scaling, const StopToken& stop)
{
    auto level = level_on_host(cpu, gpu, state);
    if (!std::ranges::all_of(level.A.val(), [](S a) { return std::isfinite(std::abs(a)); }))
        return {.why_not = "has a number that is not finite"};
    const auto matching = matching_of_level<S>(cpu, level.A, stop);
    if (matching.rank < state.active_count) return {.why_not = "is structurally singular"};
    const auto number_here = take(matching, scaling, level);
    if (!usable(level.row_scale) || !usable(level.col_scale)) return {.why_not = "has too large scale factors"};

    DeviceBuffer<Index> number(number_here.size());
    upload<Index>(gpu, number_here, number);
    move_columns(gpu, number, state.at.scale);
    if (state.at.vector_count > 0) move_columns(gpu, number, state.at.vectors, state.at.vector_count);
    move_columns(gpu, number, state.at.col_first);
    move_columns(gpu, number, state.at.col_fold);
    move_columns(gpu, number, state.column);
    to_device(gpu, level.row_scale, state.at.row_scale);
    to_device(gpu, level.col_scale, state.at.col_scale);
    move_columns(gpu, number, state.at.col_scale);
    cuda::check(cudaMemsetAsync(state.at.col_largest, 0, number.size() * sizeof(Status), cuda::stream(gpu)),
                "cudaMemsetAsync");

    launch(gpu, renumber, state.nnz, state.nnz, number.data(), state.entries[state.now].col.data());
    for (const auto& round : state.rounds)  // rows of U have columns of this level
        launch(gpu, renumber, round.U_count, round.U_count, number.data(), round.U_col);
    state.matched = true;
    return {.facts = scale_by_matching(gpu, state),
            .moved = moves_rows(matching.col_of_row),
            .optimal = matching.optimal};
}

#define ILUX_INSTANTIATE(S) \
    template MatchedLevel match_level(const Cpu&, Gpu&, RoundsState<S>&, bool, const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
