#pragma once
// What the lanes of a batch's task (batch_dataflow.hpp) need to know, on its way into shared memory. Only .cu files
// include this.

#include <cstdint>

#include <cuda_pipeline.h>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/batch/gpu_dataflow_batch.hpp"

namespace ilux {

static_assert(sizeof(BatchDataflow::Task) == 8 && sizeof(BatchDataflow::Item) == 64 &&
              sizeof(BatchDataflow::Product) == 8);

/// A task of a warp's, and its level.
struct Turn {
    BatchDataflow::Task task;
    std::uint32_t       number = 0;
    Index               level = -1;  // none

    __device__ explicit operator bool() const { return level >= 0; }
};

__device__ inline std::uint32_t products_of(const BatchDataflow::Task& task)
{
    return std::uint32_t{task.steps} << task.log2_leaves;
}

/// What the lanes of a task need to know, in shared memory: loaded while the task before is at work.
template <int width>
struct Stage {
    static constexpr int rows = 16;
    uint4                item[4 * width];
    uint4                pair[rows / 2 * width];

    /// Rows `row` and the next ones.
    __device__ void load_pairs(const BatchDataflowView& P, const BatchDataflow::Task& task, std::uint32_t row)
    {
        const auto from = reinterpret_cast<const uint4*>(P.product) + std::size_t{task.first + row} / 2 * width;
        const std::uint32_t count = min((products_of(task) - row + 1) / 2, rows / 2) * width;
        for (std::uint32_t c = threadIdx.x & 31; c < count; c += 32)
            __pipeline_memcpy_async(pair + c, from + c, sizeof(uint4));
    }
    __device__ void load(const BatchDataflowView& P, const Turn& turn)
    {
        if (!turn) return;
        const auto          from = reinterpret_cast<const uint4*>(P.item + std::size_t{turn.number} * width);
        const std::uint32_t c = threadIdx.x & 31;
        if (c < 4 * width) __pipeline_memcpy_async(item + c, from + c, sizeof(uint4));
        if (products_of(turn.task) > 0) load_pairs(P, turn.task, 0);
    }
    /// All that this warp asked for is there, and nobody looks at what was there before.
    __device__ static void wait()
    {
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncwarp();
    }
};

}  // namespace ilux
