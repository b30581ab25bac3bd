#pragma once
// Vectors that a coarse space begins with, made where they are used.

#include "ilux/precond/coarse_steps/basis.hpp"
#include "ilux/reorder/node_numbering.hpp"

namespace ilux {

/// A constant for each unknown of a node.
template <Scalar T>
NearNull<Cpu, T> constants_of(Cpu& be, const NodeNumbering& nodes);
template <Scalar T>
NearNull<Gpu, T> constants_of(Gpu& be, const NodeNumbering& nodes);

/// Numbers of (−1, 1), the same on either side. @param which  of such vectors
template <Scalar T>
std::vector<T> random_numbers(Cpu& be, Index n, Index which);
template <Scalar T>
DeviceBuffer<T> random_numbers(Gpu& be, Index n, Index which);

}  // namespace ilux
