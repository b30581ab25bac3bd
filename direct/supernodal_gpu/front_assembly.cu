// The caller's values, and large fronts from inputs and children.
//
// Launch shape: a thread an input; a block a tile of a large front. Largest entries of columns meet in atomic maxima,
// whose order does not matter. Nobody waits for others. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/gpu/device_input.hpp"
#include "ilux/direct/supernodal_gpu/device_assembly.hpp"
#include "ilux/direct/supernodal_gpu/device_pivot.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/shared_room.hpp"

namespace ilux {
namespace {

constexpr int threads = 256;
constexpr int tile = front_tile, stride = tile + 1;

template <class V>
__global__ void __launch_bounds__(threads) scale_inputs(FrontInputs<V> inputs, const V* values)
{
    const Offset e = Offset{blockIdx.x} * threads + threadIdx.x;
    if (e >= inputs.entries + inputs.f_entries) return;
    if (e < inputs.entries) {
        V sum{};
        for (Offset q = inputs.ptr[e]; q < inputs.ptr[e + 1]; ++q)
            sum = add_input(sum, values[inputs.source[q]], inputs.scale[q]);
        inputs.value[e] = sum;
        atomicMax(inputs.bmax + inputs.col[e], magnitude_bits(sum));
    } else {
        const Offset q = inputs.ptr[inputs.entries] + e - inputs.entries;
        inputs.f_value[e - inputs.entries] = add_input(V{}, values[inputs.source[q]], inputs.scale[q]);
    }
}

/// First of `count` ascending numbers that is at least `limit`.
__device__ Index first_from(const Index* ascending, Index count, Index limit)
{
    Index begin = 0;
    while (begin < count) {
        const Index middle = (begin + count) / 2;
        if (ascending[middle] < limit) begin = middle + 1;
        else count = middle;
    }
    return begin;
}

/// Rows and columns of a child that lie in a tile.
struct Part {
    Index row, rows, col, cols;
};

template <class V>
__global__ void __launch_bounds__(threads) assemble_tiles(FrontsView<V> F, const AssemblyItem* items)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ Part                               part[threads];
    V* const                                      a = reinterpret_cast<V*>(memory);
    const AssemblyItem                            item = items[blockIdx.x];
    const DeviceFront                             d = F.front[item.item.front];
    const Index                                   row = item.item.row * tile, col = item.item.col * tile;
    for (int e = threadIdx.x; e < stride * tile; e += threads) a[e] = V{};
    __syncthreads();
    for (Index e = threadIdx.x; e < item.inputs; e += threads) {
        const std::uint32_t at = F.input_at[item.input + e];
        a[static_cast<Index>(at & 0xFFFFu) - row + (static_cast<Index>(at >> 16) - col) * stride] =
            F.input[item.input + e];
    }
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (Index begin = d.child_begin; begin < d.child_end; begin += threads) {
        const Index count = min(threads, d.child_end - begin);
        __syncthreads();
        if (static_cast<Index>(threadIdx.x) < count) {
            const DeviceFront& child = F.front[F.child[begin + threadIdx.x]];
            const Index* const place = F.place + child.row;
            const Index        u = child.m - child.k, r = first_from(place, u, row), c = first_from(place, u, col);
            part[threadIdx.x] = {r, first_from(place, u, row + tile) - r, c, first_from(place, u, col + tile) - c};
        }
        __syncthreads();
        for (Index c = 0; c < count; ++c) {
            const Part p = part[c];
            if (p.rows == 0 || p.cols == 0) continue;
            const DeviceFront& child = F.front[F.child[begin + c]];
            const Index* const place = F.place + child.row;
            const Index        u = child.m - child.k;
            const V* const     rest = F.rest + child.rest + p.row;
            for (Index j = warp; j < p.cols; j += threads / 32) {
                V* const column = a + (place[p.col + j] - col) * stride - row;
                for (Index i = lane; i < p.rows; i += 32) column[place[p.row + i]] += rest[Offset{p.col + j} * u + i];
            }
            __syncthreads();
        }
    }
    __syncthreads();
    for (Index j = warp; j < min(tile, d.m - col); j += threads / 32)
        for (Index i = lane; i < min(tile, d.m - row); i += 32) *number_at(F, d, row + i, col + j) = a[i + j * stride];
}

}  // namespace

template <class V>
void launch_inputs(Gpu& gpu, const FrontInputs<V>& inputs, const V* values)
{
    const Offset      count = inputs.entries + inputs.f_entries;
    const cuda::Range range("front_inputs");
    if (inputs.magnitudes > 0)
        cuda::check(cudaMemsetAsync(inputs.cleared, 0, inputs.magnitudes * sizeof(Magnitude), cuda::stream(gpu)),
                    "memset");
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
    scale_inputs<<<blocks, threads, 0, cuda::stream(gpu)>>>(inputs, values);
    cuda::check_launch("scale_inputs");
}

template <class V>
void launch_assembly(Gpu& gpu, const FrontsView<V>& F, FrontRange items, const AssemblyItem* item)
{
    if (items.empty()) return;
    const cuda::Range range("front_assembly");
    cuda::allow_all_shared(gpu, assemble_tiles<V>);
    assemble_tiles<<<items.count(), threads, stride * tile * sizeof(V), cuda::stream(gpu)>>>(F, item + items.begin);
    cuda::check_launch("assemble_tiles");
}

#define ILUX_INSTANTIATE(V)                                                \
    template void launch_inputs<V>(Gpu&, const FrontInputs<V>&, const V*); \
    template void launch_assembly<V>(Gpu&, const FrontsView<V>&, FrontRange, const AssemblyItem*);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
