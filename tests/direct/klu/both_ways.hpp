#pragma once
// Both systems that one factorization solves.

#include "ilux/base/types.hpp"

namespace ilux::test {

constexpr Transpose both_ways[] = {Transpose::no, Transpose::yes};

}  // namespace ilux::test
