#pragma once
// A forward system whose values change while its pattern stays: they are positions in an array that is given later.

#include <bit>
#include <cstdint>
#include <span>

#include "ilux/base/error.hpp"
#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// What stands in a RenewedSystem for number `position` of the array: a subnormal, finite and never computed with.
/// @param position  below 2³² − 1
inline double renewed(std::uint32_t position)
{
    ILUX_ASSERT(position != ~std::uint32_t{0});
    return std::bit_cast<double>(std::uint64_t{position} + 1);
}

/// The position that `renewed` put into `value`; −1: none, it is a constant.
inline Offset renewed_position(double value)
{
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return bits - 1 < ~std::uint32_t{0} ? static_cast<Offset>(bits) - 1 : -1;
}

/// Values of L are renewed(p), l_ij being number p of the array, or constants; 1/d_i is renewed(p), d_i being number p,
/// or a constant. No constant is subnormal. In engines of complex numbers either stands in the real part.
struct RenewedSystem {
    ForwardSystem<double> system;
};

/// What stands for either in an engine that keeps values in float: the constants 0, 1 and −1 themselves, and for number
/// p the (p + 1)-th of the other bit patterns, whatever it means as a float. None is ever computed with, only copied.
/// @throws InvalidInput for other constants, and for positions of 2³² − 3 and more
float renewed_in_float(double value);

/// The system that the numbers of `values` make of it. O(n + nnz)
template <Scalar S = double>
ForwardSystem<S> with_values(const RenewedSystem& renewed, std::span<const NotDeduced<S>> values);

}  // namespace ilux
