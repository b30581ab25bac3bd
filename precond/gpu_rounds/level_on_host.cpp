#include "ilux/precond/gpu_rounds/level_on_host.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"

namespace ilux::rounds {
namespace {

template <class Item>
std::vector<Item> on_host(Gpu& gpu, const Item* there, std::size_t count)
{
    return ilux::on_host<Item>(gpu, DeviceSpan<const Item>(there, count));
}

}  // namespace

template <Scalar S>
LevelOnHost<S> level_on_host(const Cpu& cpu, Gpu& gpu, const RoundsState<S>& state)
{
    const auto     n = static_cast<std::size_t>(state.n), nnz = static_cast<std::size_t>(state.nnz);
    const auto&    entries = state.entries[state.now];
    const auto     start = on_host(gpu, state.start[state.now], n);
    const auto     length = on_host(gpu, state.length[state.now], n);
    const auto     col = on_host(gpu, entries.col.data(), nnz);
    const auto     val = on_host(gpu, reinterpret_cast<const S*>(entries.val.data()), nnz);
    LevelOnHost<S> level{.A = {},
                         .active = on_host(gpu, state.active[state.now], static_cast<std::size_t>(state.active_count)),
                         .row_scale = on_host(gpu, state.at.row_scale, n),
                         .col_scale = on_host(gpu, state.at.col_scale, n)};

    std::vector<Offset> ptr{0};
    std::vector<Index>  place(n);
    for (const Index k : level.active) {
        place[k] = static_cast<Index>(ptr.size()) - 1;
        ptr.push_back(ptr.back() + length[k]);
    }
    std::vector<Index> cols(ptr.back());
    std::vector<S>     vals(ptr.back());
    const auto         bring = [&](Index a, std::vector<std::pair<Index, S>>& row) {
        const Index k = level.active[a];
        row.clear();
        for (Offset p = start[k]; p < start[k] + length[k]; ++p)
            row.emplace_back(place[col[p]],
                                     scaled_entry<S>(1 / level.row_scale[k], val[p], 1 / level.col_scale[col[p]]));
        std::ranges::sort(row, {}, &std::pair<Index, S>::first);
        for (Offset p = ptr[a]; const auto& [j, value] : row) {
            cols[p] = j;
            vals[p++] = value;
        }
    };
    with_tasks(cpu, nnz >= 100'000, [&] {
        for_pieces(state.active_count, [&](Index, Index begin, Index end) {
            std::vector<std::pair<Index, S>> row;
            for (Index a = begin; a < end; ++a) bring(a, row);
        });
    });
    level.A = CsrMatrix<S>::from_sorted(state.active_count, state.active_count, std::move(ptr), std::move(cols),
                                        std::move(vals));
    return level;
}

#define ILUX_INSTANTIATE(S) template LevelOnHost<S> level_on_host(const Cpu&, Gpu&, const RoundsState<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
