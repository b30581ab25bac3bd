#pragma once
// A DenseTail (dense_tail.hpp) on a GPU.

#include <cstddef>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// Immutable: serves several streams at once, each with slots of its own. Made of nothing, it does nothing.
class GpuDenseTail {
public:
    GpuDenseTail() = default;
    /// @throws InvalidInput for more than TailColumns::most columns
    /// @throws CudaError where a thread block has less than 222 KiB of shared memory
    GpuDenseTail(Gpu& gpu, const DenseTail& tail);

    std::size_t bytes() const { return arrays_.bytes(); }

    /// Replaces S of each member by its factors, with the bits of run_tail_serial, in one launch; only enqueued, may be
    /// captured in a graph. Arithmetic is in double; T, double or float, is what slots hold. A member costs a thread
    /// block that has a multiprocessor to itself.
    /// @param v  slot s of member m at s · stride + m
    template <class T>
    void run(Gpu& gpu, T* v, Index members = 1, Index stride = 1) const;

private:
    DeviceArrays                                  arrays_;
    [[maybe_unused]] const DataflowProgram::Slot* slot_ = nullptr;  ///< of S with rows and columns to a multiple of 32
    [[maybe_unused]] Index                        size_ = 0;
};

}  // namespace ilux
