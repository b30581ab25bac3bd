#pragma once
// A DataflowProgram (dataflow_program.hpp) on a GPU.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// What kernels get.
struct DataflowView {
    const DataflowProgram::Task*    task = nullptr;
    const DataflowProgram::Operand* operand = nullptr;
    const DataflowProgram::Late*    late = nullptr;
    const std::int32_t*             source = nullptr;
    const double*                   scale = nullptr;
    const DataflowProgram::Slot*    divisor = nullptr;
    const std::int32_t*             out_index = nullptr;  ///< null: nothing goes out
    const double*                   out_scale = nullptr;
    Index                           task_count = 0;
    unsigned                        delay = 0;
};

/// Size of a program that is still to be written.
struct DataflowSize {
    Index  tasks = 0;
    Offset rows = 0;  ///< of 32 operands
    Offset slots = 0;
};

/// Its arrays on the device, as DataflowProgram has them; zeros.
struct DataflowRoom {
    DataflowProgram::Task*    task = nullptr;
    DataflowProgram::Operand* operand = nullptr;
    DataflowProgram::Late*    late = nullptr;
    std::int32_t*             source = nullptr;
    double*                   scale = nullptr;
    DataflowProgram::Slot*    divisor = nullptr;
};

namespace detail {
/// What tests vary: neither changes a bit.
struct DataflowTrial {
    unsigned    delay = 0;         ///< as in KernelTrial, before a warp reads and before it writes
    std::size_t shared_bytes = 0;  ///< that each block takes for nothing, so that fewer are resident
};
}  // namespace detail

/// A program on the device. Slots hold double or complex, or float: then each is rounded once when it is known, and all
/// arithmetic is in double nevertheless. Immutable: serves several streams at once, each with slots of its own.
class GpuDataflow {
public:
    GpuDataflow() = default;
    /// A program of the host's, for tests. @param out_index, out_scale  by slot (SolveDataflow), or empty
    GpuDataflow(Gpu& gpu, const DataflowProgram& program, std::span<const std::int32_t> out_index = {},
                std::span<const double> out_scale = {}, const detail::DataflowTrial& trial = {});

    /// A program that kernels write: fill(room) enqueues them. Waits for them.
    GpuDataflow(Gpu& gpu, const DataflowSize& size, const std::function<void(const DataflowRoom&)>& fill);

    const DataflowView& view() const { return view_; }
    std::size_t         slots() const { return slots_; }
    std::size_t         bytes() const { return arrays_.bytes(); }

    /// Slots for one stream, constants in place: slots() numbers and a ticket.
    template <class T = double>
    DeviceBuffer<T> workspace(Gpu& gpu) const;

    /// Computes all slots of v, in one launch behind one memset; only enqueued. Repeatable: bitwise.
    /// @param a    where the program reads factors and divisors, or null where it reads v itself
    /// @param out  result by out_index, or null
    void run(Gpu& gpu, const double* input, const double* a, DeviceSpan<double> v, double* out) const;
    void run(Gpu& gpu, const double* input, const float* a, DeviceSpan<float> v, double* out) const;
    void run(Gpu& gpu, const std::complex<double>* input, const std::complex<double>* a,
             DeviceSpan<std::complex<double>> v, std::complex<double>* out) const;

private:
    template <class T>
    void run_as(Gpu& gpu, const working_of<T>* input, const T* a, DeviceSpan<T> v, working_of<T>* out) const;

    DeviceArrays          arrays_;
    DataflowView          view_;
    std::size_t           slots_ = 0;
    std::size_t           unused_shared_bytes_ = 0;  ///< DataflowTrial::shared_bytes
    [[maybe_unused]] bool a_given_ = false;          // unused in a build without CUDA
};

}  // namespace ilux
