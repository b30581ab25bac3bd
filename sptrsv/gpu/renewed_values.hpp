#pragma once
// The numbers of an engine on the device, renewed from an array there. Internal to sptrsv/.

#include <cstddef>
#include <cstdint>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// Where an engine keeps the values of L, each anywhere and any number of times, and the inverse diagonal.
template <class T>
struct EngineNumbers {
    DeviceSpan<T>             val;
    DeviceSpan<working_of<T>> inv_diag;
};

/// Takes 4 bytes a number.
template <class T>
class RenewedValues {
public:
    /// @param numbers  of an engine that was made of a RenewedSystem, in float of its renewed_in_float; they outlive
    /// this. Waits
    RenewedValues(Gpu& gpu, EngineNumbers<T> numbers);

    /// Each l_ij ← values[p], each 1/d_i ← 1 / values[p]; constants stay. Only enqueued, allocates nothing.
    void fill(Gpu& gpu, const T* values) const;

    std::size_t bytes() const { return position_.size() * sizeof(std::uint32_t); }

private:
    EngineNumbers<T>            numbers_;
    DeviceBuffer<std::uint32_t> position_;  // of the numbers of val, then of inv_diag; `constant` where there is none
};

}  // namespace ilux
