// x ← L⁻¹ b level by level [anderson89]. Wide levels: a launch each, 8 warps a block, a warp a task (warp_layout.hpp).
// Runs of thin levels: one block walks them, with a barrier after each.

#include <bit>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/device_warp.hpp"
#include "ilux/sptrsv/gpu/gpu_level_set.hpp"

namespace ilux {
namespace {

constexpr int         level_threads = 256;
constexpr int         walk_threads = 1024;
constexpr Index       thin = 2 * walk_threads / 32;  // tasks of a level that costs less walked than as a launch
constexpr std::size_t head_bytes = 256;              // of a graph's workspace: SolveEnds; then that of LevelSetEngine

/// b and out, or where to find them.
template <class S>
struct Ends {
    SolveEnds<S>        here;
    const SolveEnds<S>* there;

    __device__ SolveEnds<S> get() const { return there ? *there : here; }
};

template <class T, class S = working_of<T>>
__global__ void __launch_bounds__(level_threads)
    solve_level(WarpRowsView<T> L, Index first_task, Index end_task, Ends<S> ends, S* x)
{
    const Index t = first_task + static_cast<Index>(blockIdx.x * (level_threads / 32) + threadIdx.x / 32);
    if (t >= end_task) return;
    const auto [b, out] = ends.get();
    solve_task<Unknowns::known>(L, load_task(L.tasks + t), b, x, out);
}

/// One block. What its warps write of a level, all of them see after the barrier.
template <class T, class S = working_of<T>>
__global__ void __launch_bounds__(walk_threads)
    walk_levels(WarpRowsView<T> L, Index first_level, Index end_level, Ends<S> ends, S* x)
{
    const auto [b, out] = ends.get();
    for (Index l = first_level; l < end_level; ++l) {
        for (Index t = L.level_ptr[l] + static_cast<Index>(threadIdx.x) / 32; t < L.level_ptr[l + 1];
             t += walk_threads / 32)
            solve_task<Unknowns::known>(L, load_task(L.tasks + t), b, x, out);
        __syncthreads();
    }
}

template <class T>
void solve_runs(Gpu& gpu, const WarpRows<T>& rows, std::span<const LevelRun> runs, const Ends<working_of<T>>& given,
                DeviceSpan<std::byte> work)
{
    using V = cuda::Value<T>;
    using S = working_of<V>;
    const cuda::Range range("level_set");
    const auto        stream = cuda::stream(gpu);
    const auto        view = std::bit_cast<WarpRowsView<V>>(rows.view());
    const auto        ends = std::bit_cast<Ends<S>>(given);
    auto* const       x = reinterpret_cast<S*>(work.data());
    for (const LevelRun& run : runs) {
        const Index first = rows.level_ptr()[run.first], end = rows.level_ptr()[run.end];
        const Index blocks = (end - first + level_threads / 32 - 1) / (level_threads / 32);
        if (run.walked) walk_levels<<<1, walk_threads, 0, stream>>>(view, run.first, run.end, ends, x);
        else solve_level<<<blocks, level_threads, 0, stream>>>(view, first, end, ends, x);
        cuda::check_launch(run.walked ? "walk_levels" : "solve_level");
    }
}

template <class S>
__global__ void write_ends(SolveEnds<S>* to, SolveEnds<S> ends)
{
    *to = ends;
}

}  // namespace

template <class T>
LevelSetEngine<T>::LevelSetEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level)
    : rows_(gpu, system, level, {.ahead = 0}), runs_(level_runs(rows_.level_ptr(), thin))
{}

template <class T>
void LevelSetEngine<T>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work) const
{
    solve_runs<T>(gpu, rows_, runs_, {{b.data(), out.data()}, nullptr}, work);
}

template <class T>
void LevelSetEngine<T>::solve_at(Gpu& gpu, const SolveEnds<S>* ends, DeviceSpan<std::byte> work) const
{
    solve_runs<T>(gpu, rows_, runs_, {{}, ends}, work);
}

template <class T>
std::size_t LevelGraphEngine<T>::workspace_bytes() const
{
    const std::size_t bytes = levels_.workspace_bytes();
    return bytes == 0 ? 0 : head_bytes + bytes;
}

template <class T>
HostState LevelGraphEngine<T>::prepare(Gpu& gpu, DeviceSpan<std::byte> work) const
{
    if (work.empty()) return nullptr;
    const auto* ends = reinterpret_cast<const SolveEnds<S>*>(work.data());
    const auto  rest = work.subspan(head_bytes, work.size() - head_bytes);
    return cuda::capture_graph(gpu, [&] { levels_.solve_at(gpu, ends, rest); });
}

template <class T>
void LevelGraphEngine<T>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                                const HostState& graph) const
{
    if (work.empty()) return;
    const cuda::Range range("level_graph");
    const auto        stream = cuda::stream(gpu);
    if (!graph || cuda::capturing(stream))
        return levels_.solve(gpu, b, out, work.subspan(head_bytes, work.size() - head_bytes));
    using Value = cuda::Value<S>;
    const SolveEnds<Value> ends{cuda::as_values(b.data()), cuda::as_values(out.data())};
    write_ends<<<1, 1, 0, stream>>>(reinterpret_cast<SolveEnds<Value>*>(work.data()), ends);
    cuda::check_launch("write_ends");
    cuda::launch_graph(gpu, graph);
}

#define ILUX_INSTANTIATE(T)           \
    template class LevelSetEngine<T>; \
    template class LevelGraphEngine<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
