#pragma once
// A DotProgram (dot_program.hpp) on a GPU.

#include <cstddef>
#include <cstdint>

#include "ilux/base/gpu.hpp"
#include "ilux/direct/dot_program.hpp"
#include "ilux/sptrsv/device_arrays.hpp"

namespace ilux {

/// As kernels get it.
struct DotsView {
    const DotProgram::Task*    task = nullptr;
    const DotProgram::Operand* operand = nullptr;
    const DotProgram::Late*    late = nullptr;
    const std::int32_t*        source = nullptr;
    const double*              scale = nullptr;
    const DotProgram::Slot*    divisor = nullptr;
    const std::int32_t*        out_index = nullptr;  ///< null: nothing goes out
    const double*              out_scale = nullptr;
    Index                      task_count = 0;
};

/// A program on the device. Immutable: serves several streams at once, each with slots of its own.
class GpuDots {
public:
    GpuDots() = default;
    /// @param out_index, out_scale  by slot (SolveDots), or empty
    GpuDots(Gpu& gpu, const DotProgram& program, std::span<const std::int32_t> out_index = {},
            std::span<const double> out_scale = {});

    std::size_t slots() const { return slots_; }
    std::size_t bytes() const { return arrays_.bytes(); }

    /// Slots for one stream, constants in place: slots() numbers and a ticket.
    DeviceBuffer<double> workspace(Gpu& gpu) const;

    /// Computes all slots of v, in one launch behind one memset; only enqueued. Repeatable: bitwise.
    /// @param a    where the program reads factors and divisors, or null where it reads v itself
    /// @param out  result by out_index, or null
    void run(Gpu& gpu, const double* input, const double* a, DeviceSpan<double> v, double* out) const;

private:
    DeviceArrays          arrays_;
    DotsView              view_;
    std::size_t           slots_ = 0;
    [[maybe_unused]] bool a_given_ = false;  // unused in a build without CUDA
};

}  // namespace ilux
