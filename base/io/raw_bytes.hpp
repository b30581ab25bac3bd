#pragma once
// Numbers as they lie in binary files, of either byte order; for base/io alone.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ilux/base/types.hpp"

namespace ilux::detail {

/// The number at p, which need not be aligned.
template <std::endian order, class T>
T load(const char* p)
{
    static_assert(std::is_arithmetic_v<T>);
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), p, sizeof(T));
    if constexpr (order != std::endian::native) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}
template <class T>
T load(const char* p, std::endian order)
{
    return order == std::endian::little ? load<std::endian::little, T>(p) : load<std::endian::big, T>(p);
}

/// Whether `count` things of `size` bytes lie within `room` bytes; no product overflows.
inline bool fits(Offset count, std::size_t size, std::size_t room)
{
    return count >= 0 && static_cast<std::size_t>(count) <= room / size;
}

}  // namespace ilux::detail
