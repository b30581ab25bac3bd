#pragma once
// Where a method keeps an entry's value.

#include <cstdint>

namespace ilux {

/// A position in the array of values of a refactorization, which need not be in the order of the pattern's entries.
using ValueSlot = std::uint32_t;

}  // namespace ilux
