// Transpositions by squares of 32 × 32 in shared memory, so that both sides are read and written side by side.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/solve/gpu_transpose.hpp"

namespace ilux {
namespace {

constexpr int tile = 32;  // threads are 32 × tile_rows
constexpr int tile_rows = 8;

__global__ void gather_inputs(const double* from, std::size_t count, Index members, Index stride, double* to)
{
    __shared__ double square[tile][tile + 1];
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile;
    const Index       m0 = static_cast<Index>(blockIdx.y) * tile;
    for (int r = threadIdx.y; r < tile; r += tile_rows) {
        const std::size_t i = first + threadIdx.x, m = min(m0 + r, members - 1);
        if (i < count) square[r][threadIdx.x] = from[m * count + i];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (first + r < count) to[(first + r) * stride + m0 + threadIdx.x] = square[threadIdx.x][r];
}

__global__ void scatter_results(const double* v, const std::int32_t* slot, const double* scale, std::size_t count,
                                Index members, Index stride, double* to)
{
    __shared__ double square[tile][tile + 1];
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile;
    const Index       m0 = static_cast<Index>(blockIdx.y) * tile;
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (const std::size_t i = first + r; i < count)
            square[r][threadIdx.x] = scale[i] * v[static_cast<std::size_t>(slot[i]) * stride + m0 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (const std::size_t i = first + threadIdx.x; i < count && m0 + r < members)
            to[(m0 + r) * count + i] = square[threadIdx.x][r];
}

dim3 tiles(std::size_t count, Index stride)
{
    return {static_cast<unsigned>((count + tile - 1) / tile), static_cast<unsigned>(stride / tile)};
}

}  // namespace

void gather_members(Gpu& gpu, const double* from, std::size_t count, Index members, Index stride, double* to)
{
    if (count == 0) return;
    const cuda::Range range("gather_members");
    const dim3        grid = tiles(count, stride), block(tile, tile_rows);
    gather_inputs<<<grid, block, 0, cuda::stream(gpu)>>>(from, count, members, stride, to);
    cuda::check_launch("gather_inputs");
}

void scatter_members(Gpu& gpu, const double* v, const std::int32_t* slot, const double* scale, std::size_t count,
                     Index members, Index stride, double* to)
{
    if (count == 0) return;
    const cuda::Range range("scatter_members");
    const dim3        grid = tiles(count, stride), block(tile, tile_rows);
    scatter_results<<<grid, block, 0, cuda::stream(gpu)>>>(v, slot, scale, count, members, stride, to);
    cuda::check_launch("scatter_results");
}

}  // namespace ilux
