#pragma once
// A DataflowProgram (dataflow_program.hpp) on a GPU for many members at once: systems of one pattern, or right-hand
// sides of one factorization.

#include <cstddef>
#include <cstdint>
#include <span>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/batch/batch_dataflow.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// How a batch is spread over a GPU.
struct BatchTuning {
    /// Members of a group, one of 8, 16 and 32: fewer let more of the GPU work at few members. 0: 8, or 32 from 256
    /// members on
    Index lanes = 0;
    /// Multiprocessors that share a group, one of 1, 2, 4, 8 and 16. 0: as the GPU has room
    Index cluster = 0;
};

/// What kernels get.
struct BatchDataflowView {
    const BatchDataflow::Task*    task = nullptr;
    const BatchDataflow::Item*    item = nullptr;
    const BatchDataflow::Product* product = nullptr;
    const std::uint32_t*          level = nullptr;  ///< depth + 1; first tasks
    Index                         depth = 0;
    Index                         members = 0, stride = 0;
};

/// Where a program with a_given reads factors and divisors: slot s of member m is at values[s · stride + m]; with
/// stride 0 one factorization serves all members.
template <class T>
struct GivenFactors {
    const T* values = nullptr;
    Index    stride = 0;
};

/// What one stream works in.
template <class T>
struct DataflowBatchSpace {
    DeviceBuffer<T>      v;      ///< slot s of member m at s · stride + m
    DeviceBuffer<double> sum;    ///< the same for places of sums
    DeviceBuffer<double> input;  ///< and for inputs
};

/// Arithmetic is in double; T, double or float, is what slots hold. With double each member has the bits that it has
/// alone (GpuDataflow, run_serial), whatever its neighbours hold; with float those of run_serial where every slot is
/// rounded to float. Immutable: serves several streams at once, each with a space of its own. Repeatable: bitwise.
class GpuDataflowBatch {
public:
    GpuDataflowBatch() = default;
    /// @param inputs     of a member
    /// @param out_index, out_scale  by slot (SolveDataflow), or empty
    /// @throws InvalidInput for no members, sizes that there is no kernel for, or more entries than a batch can count
    GpuDataflowBatch(Gpu& gpu, const DataflowProgram& program, Index members, std::size_t inputs,
                     std::span<const std::int32_t> out_index = {}, std::span<const double> out_scale = {},
                     const BatchTuning& tuning = {});

    /// From now on so many, at most those that this was made for; spaces made before serve no longer.
    void set_members(Index members);

    Index       members() const { return view_.members; }
    Index       stride() const { return view_.stride; }  ///< members, rounded up to 32
    std::size_t slots() const { return slots_; }
    std::size_t bytes() const { return arrays_.bytes(); }

    /// Constants in place.
    template <class T>
    DataflowBatchSpace<T> space(Gpu& gpu) const;
    template <class T>
    std::size_t space_bytes() const
    {
        return (slots_ * sizeof(T) + (places_ + inputs_) * sizeof(double)) * stride();
    }

    /// All slots of a program that reads itself; only enqueued.
    /// @param input  on the device, member after member
    template <class T>
    void run(Gpu& gpu, const double* input, DataflowBatchSpace<T>& space) const;

    /// All slots of a program with a_given, and the result; only enqueued.
    /// @param out  on the device, member after member
    template <class A>
    void run(Gpu& gpu, const double* input, GivenFactors<A> a, DataflowBatchSpace<double>& space, double* out) const;

private:
    DeviceArrays                         arrays_;
    BatchDataflowView                    view_;
    [[maybe_unused]] const std::int32_t* out_slot_ = nullptr;   // by component of the result
    [[maybe_unused]] const double*       out_scale_ = nullptr;  // the same
    [[maybe_unused]] std::size_t         slots_ = 0, places_ = 0, inputs_ = 0, outputs_ = 0;
    [[maybe_unused]] Index               lanes_ = 8, cluster_ = 1;
};

}  // namespace ilux
