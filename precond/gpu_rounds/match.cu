// A matching of a level, found by the host: columns get the numbers of the rows that they are matched to.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
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

template <class Item>
std::vector<Item> on_host(Gpu& gpu, const Item* there, std::size_t count)
{
    return ilux::on_host<Item>(gpu, DeviceSpan<const Item>(there, count));
}
template <class Item>
void to_device(Gpu& gpu, const std::vector<Item>& here, Item* there)
{
    detail::upload_bytes(gpu, here.data(), there, here.size() * sizeof(Item));
}

/// What columns have goes to their new numbers. @param width  items a column
template <class Item>
void move_columns(Gpu& gpu, const std::vector<Index>& number, Item* there, std::size_t width = 1)
{
    const auto old = on_host(gpu, there, number.size() * width);
    auto       moved = old;
    for (std::size_t k = 0; k < number.size(); ++k)
        std::copy_n(old.data() + k * width, width, moved.data() + static_cast<std::size_t>(number[k]) * width);
    to_device(gpu, moved, there);
}

/// Row numbers of the level, and the scale factors of all rows and columns.
struct LevelOnHost {
    std::vector<Index>  active;
    std::vector<double> row_scale, col_scale;
};

/// The level's matrix as it was before it was scaled.
template <Scalar S>
CsrMatrix<S> unscaled(Gpu& gpu, const RoundsState<S>& state, const LevelOnHost& level)
{
    const auto         n = static_cast<std::size_t>(state.n), nnz = static_cast<std::size_t>(state.nnz);
    const auto&        entries = state.entries[state.now];
    const auto         start = on_host(gpu, state.start[state.now], n);
    const auto         length = on_host(gpu, state.length[state.now], n);
    const auto         col = on_host(gpu, entries.col.data(), nnz);
    const auto         val = on_host(gpu, reinterpret_cast<const S*>(entries.val.data()), nnz);
    std::vector<Index> place(n);
    for (std::size_t a = 0; a < level.active.size(); ++a) place[level.active[a]] = static_cast<Index>(a);

    std::vector<Offset>              ptr{0};
    std::vector<Index>               cols;
    std::vector<S>                   vals;
    std::vector<std::pair<Index, S>> row;
    for (const Index k : level.active) {
        row.clear();
        for (Offset p = start[k]; p < start[k] + length[k]; ++p)
            row.emplace_back(place[col[p]],
                             scaled_entry<S>(1 / level.row_scale[k], val[p], 1 / level.col_scale[col[p]]));
        std::ranges::sort(row, {}, &std::pair<Index, S>::first);
        for (const auto& [j, value] : row) {
            cols.push_back(j);
            vals.push_back(value);
        }
        ptr.push_back(static_cast<Offset>(cols.size()));
    }
    return CsrMatrix<S>::from_sorted(state.active_count, state.active_count, std::move(ptr), std::move(cols),
                                     std::move(vals));
}

/// The matching of the level, as the host's setup finds it. Nothing for NaN and Inf.
template <Scalar S>
std::optional<Matching> matching_found(const CsrMatrix<S>& A, const StopToken& stop)
{
    if (!std::ranges::all_of(A.val(), [](S a) { return std::isfinite(std::abs(a)); })) return {};
    return matching_of_level<S>(A, stop);
}

/// What the level is to be scaled by from here on, and the new numbers of columns by the old ones.
std::vector<Index> take(const Matching& matching, bool scaling, LevelOnHost& level)
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
MatchedLevel match_level(Gpu& gpu, RoundsState<S>& state, bool scaling, const StopToken& stop)
{
    const auto  n = static_cast<std::size_t>(state.n);
    LevelOnHost level{.active = on_host(gpu, state.active[state.now], static_cast<std::size_t>(state.active_count)),
                      .row_scale = on_host(gpu, state.at.row_scale, n),
                      .col_scale = on_host(gpu, state.at.col_scale, n)};
    const auto  matching = matching_found(unscaled(gpu, state, level), stop);
    if (!matching) return {.why_not = "has a number that is not finite"};
    if (matching->rank < state.active_count) return {.why_not = "is structurally singular"};
    const auto number = take(*matching, scaling, level);
    if (!usable(level.row_scale) || !usable(level.col_scale)) return {.why_not = "has too large scale factors"};

    move_columns(gpu, number, state.at.scale);
    if (state.at.vector_count > 0)
        move_columns(gpu, number, state.at.vectors, static_cast<std::size_t>(state.at.vector_count));
    move_columns(gpu, number, state.at.col_first);
    move_columns(gpu, number, state.at.col_fold);
    move_columns(gpu, number, state.column);
    to_device(gpu, level.row_scale, state.at.row_scale);
    to_device(gpu, level.col_scale, state.at.col_scale);
    move_columns(gpu, number, state.at.col_scale);
    cuda::check(cudaMemsetAsync(state.at.col_largest, 0, n * sizeof(Status), cuda::stream(gpu)), "cudaMemsetAsync");

    DeviceBuffer<Index> number_there(n);
    upload<Index>(gpu, number, number_there);
    launch(gpu, renumber, state.nnz, state.nnz, number_there.data(), state.entries[state.now].col.data());
    for (const auto& round : state.rounds)  // rows of U have columns of this level
        launch(gpu, renumber, round.U_count, round.U_count, number_there.data(), round.U_col);
    state.matched = true;
    return {.facts = scale_by_matching(gpu, state),
            .moved = moves_rows(matching->col_of_row),
            .optimal = matching->optimal};
}

#define ILUX_INSTANTIATE(S) template MatchedLevel match_level(Gpu&, RoundsState<S>&, bool, const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
