// Nodes around roots, on a device: a thread a node.

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/precond/coarse_steps/root_rules.hpp"
#include "ilux/precond/coarse_steps/roots.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

using namespace roots;
using rounds::launch;
using rounds::thread_in_grid;

__global__ void set_keys(Index n, Key* key)
{
    const Index i = thread_in_grid();
    if (i < n) key[i] = key_of(i);
}

__global__ void find_least(Index n, TieRows there, TieRows back, const Key* key, Key* least)
{
    const Index i = thread_in_grid();
    if (i < n) least[i] = least_near(there, back, key, i);
}

__global__ void decide(Index n, Key* key, const Key* least, Index* waiting)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    const Key now = decided(key[i], least[i]);
    key[i] = now;
    if (waits(now)) *waiting = 1;
}

__global__ void count_roots(Index n, TieRows there, TieRows back, const Key* key, bool alone, Index* number)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    const bool tied = there.ptr[i + 1] > there.ptr[i] || back.ptr[i + 1] > back.ptr[i];
    number[i] = key[i] == root && (alone || tied) ? 1 : 0;
}

/// Numbers summed up become those of roots, from 0; −1 elsewhere.
__global__ void take_numbers(Index n, const Index* number, Index* at_root)
{
    const Index i = thread_in_grid();
    if (i < n) at_root[i] = number[i] > (i > 0 ? number[i - 1] : 0) ? number[i] - 1 : -1;
}

__global__ void join(Index n, TieRows there, TieRows back, const Index* before, Index* after)
{
    const Index i = thread_in_grid();
    if (i < n) after[i] = before[i] >= 0 ? before[i] : strongest(there, back, before, i);
}

TieRows rows_of(const DeviceCsr<double>& ties) { return {ties.row_ptr().data(), ties.col().data(), ties.val().data()}; }

DeviceBuffer<Key> choose(Gpu& gpu, Index n, const TieRows& there, const TieRows& back, int distance)
{
    const auto          rows = static_cast<std::size_t>(n);
    DeviceBuffer<Key>   key(rows), near(rows), least(rows);
    DeviceBuffer<Index> waiting(1);
    launch(gpu, set_keys, n, n, key.data());
    for (Index wait = n > 0 ? 1 : 0; wait != 0;) {
        cuda::check(cudaMemsetAsync(waiting.data(), 0, sizeof wait, cuda::stream(gpu)), "cudaMemsetAsync");
        launch(gpu, find_least, n, n, there, back, key.data(), near.data());
        if (distance == 2) launch(gpu, find_least, n, n, there, back, near.data(), least.data());
        launch(gpu, decide, n, n, key.data(), distance == 2 ? least.data() : near.data(), waiting.data());
        detail::download_bytes(gpu, waiting.data(), &wait, sizeof wait);
    }
    return key;
}

}  // namespace

Groups<Gpu> around_roots(Gpu& be, const Ties<Gpu>& ties, int distance, bool alone)
{
    be.make_current();
    const Index         n = ties.there.rows();
    const auto          rows = static_cast<std::size_t>(n);
    const TieRows       there = rows_of(ties.there), back = rows_of(ties.back);
    const auto          key = choose(be, n, there, back, distance);
    DeviceBuffer<Index> number(rows), at_root(rows), near_root(rows), of(rows);
    launch(be, count_roots, n, n, there, back, key.data(), alone, number.data());
    const Index count = add_up(be, number);
    launch(be, take_numbers, n, n, number.data(), at_root.data());
    launch(be, join, n, n, there, back, at_root.data(), near_root.data());
    launch(be, join, n, n, there, back, near_root.data(), of.data());
    return grouped(be, std::move(of), count);
}

}  // namespace ilux
