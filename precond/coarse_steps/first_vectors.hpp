#pragma once
// Vectors that a coarse space begins with, made where they are used.

#include "ilux/base/random_number.hpp"
#include "ilux/precond/coarse_steps/basis.hpp"
#include "ilux/reorder/node_numbering.hpp"

namespace ilux {

/// A constant for each unknown of a node.
template <Scalar T>
NearNull<Cpu, T> constants_of(Cpu& be, const NodeNumbering& nodes);
template <Scalar T>
NearNull<Gpu, T> constants_of(Gpu& be, const NodeNumbering& nodes);

/// Number i of a random vector, in (−1, 1). @param which  of such vectors
ILUX_HOST_DEVICE inline double random_number(Index i, Index which)
{
    return 2 * random_share(static_cast<Index>(random_bits(i) >> 34) + which) - 1;
}
/// All of them, alike on a Gpu and on a Cpu.
template <Scalar T>
std::vector<T> random_numbers(Cpu& be, Index n, Index which);
template <Scalar T>
DeviceBuffer<T> random_numbers(Gpu& be, Index n, Index which);

}  // namespace ilux
