#pragma once
// A DotProgram (dot_program.hpp) on a GPU for many members at once: systems of one pattern, or right-hand sides of one
// factorization.

#include <cstddef>
#include <cstdint>
#include <span>

#include "ilux/base/gpu.hpp"
#include "ilux/direct/batch_dots.hpp"
#include "ilux/sptrsv/device_arrays.hpp"

namespace ilux {

/// The defaults serve every GPU; what is best differs little, or with the L2 cache.
struct BatchTuning {
    Index pilot_distance = 4;  ///< levels
    /// Members that are worked at at the same time, rounded up to 32: more hide more waiting, fewer find more of their
    /// numbers in the L2 cache. 0: as many as fit it, and at least 64.
    Index    together = 0;
    unsigned nap = 0;  ///< nanoseconds between looks at numbers that are not there yet
};

/// As kernels get it.
struct BatchDotsView {
    const BatchDots::Item*    item = nullptr;
    const BatchDots::Product* product = nullptr;
    std::uint32_t             items = 0;
    Index                     members = 0, stride = 0;
    Index                     groups_together = 1;  ///< of 32 members
    unsigned                  nap = 0;
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
struct DotsBatchSpace {
    DeviceBuffer<T>      v;      ///< slot s of member m at s · stride + m; behind them a ticket
    DeviceBuffer<double> input;  ///< the same for inputs
};

/// Arithmetic is in double; T, double or float, is what slots hold. With double each member has the bits that it has
/// alone (GpuDots, run_serial), whatever its neighbours hold; with float those of run_serial where every slot is
/// rounded to float. Immutable: serves several streams at once, each with a space of its own. Repeatable: bitwise.
class GpuDotsBatch {
public:
    GpuDotsBatch() = default;
    /// @param inputs     of a member
    /// @param out_index, out_scale  by slot (SolveDots), or empty
    /// @throws InvalidInput for no members, or more entries than 30 bits count
    GpuDotsBatch(Gpu& gpu, const DotProgram& program, Index members, std::size_t inputs,
                 std::span<const std::int32_t> out_index = {}, std::span<const double> out_scale = {},
                 const BatchTuning& tuning = {});

    Index       members() const { return view_.members; }
    Index       stride() const { return view_.stride; }  ///< members, rounded up to 32
    std::size_t slots() const { return slots_; }
    std::size_t bytes() const { return arrays_.bytes(); }

    /// Constants in place.
    template <class T>
    DotsBatchSpace<T> space(Gpu& gpu) const;
    template <class T>
    std::size_t space_bytes() const
    {
        return (slots_ * sizeof(T) + inputs_ * sizeof(double)) * stride() + sizeof(T);
    }

    /// All slots of a program that reads itself; only enqueued.
    /// @param input  on the device, member after member
    template <class T>
    void run(Gpu& gpu, const double* input, DotsBatchSpace<T>& space) const;

    /// All slots of a program with a_given, and the result; only enqueued.
    /// @param out  on the device, member after member
    template <class A>
    void run(Gpu& gpu, const double* input, GivenFactors<A> a, DotsBatchSpace<double>& space, double* out) const;

private:
    DeviceArrays        arrays_;
    BatchDotsView       view_;
    const std::int32_t* out_slot_ = nullptr;   // by component of the result
    const double*       out_scale_ = nullptr;  // the same
    std::size_t         slots_ = 0, inputs_ = 0, outputs_ = 0;
};

}  // namespace ilux
