#pragma once
// How much an LU of a large matrix is likely to fill, without an order of it.

#include "ilux/base/cpu.hpp"
#include "ilux/direct/analysis/matrix_part.hpp"

namespace ilux {

/// Entries and flops of L + U in a good order, as far as parts of the matrix tell.
struct FillEstimate {
    double nnz = 0, flops = 0;
    double growth = 1;  ///< exponent of n in the flops: about 1 for trees, 1.5 for planes, 2 for spaces
    double arcs = 0;    ///< of the compressed graph, which an order works on
    double radius = 0;  ///< steps in the graph from a row in its middle to the others; 0: not known, as of a small A,
                        ///< or of one of several parts
};

/// Orders parts of A by AMD: the unknowns around a few rows, some thousand and a quarter as many of them. What the
/// larger ones take more than the smaller ones tells how it grows up to n, since fill of a mesh is a power of n
/// [lipton_rose_tarjan_79]. Hubs are left out. A small A is ordered as a whole. Cost: some milliseconds on four
/// threads, whatever n is. Within a factor of about three on meshes.
FillEstimate estimate_fill(const Cpu& be, const PatternView& A);

/// The dimension d of A's graph: a ball of r steps has about r^d unknowns. It is about 2 for planes, 3 for spaces, and
/// more where far unknowns are coupled; 0 where it is not known, as of a small A, or of parts that are small. The
/// median of balls around a few rows counts. Hubs are left out. Cost: a millisecond or two, whatever n is.
/// @param next  the ties that count, by rows; empty: all
double graph_dimension(const Cpu& be, const PatternView& A, const NextUnknowns& next = {});

}  // namespace ilux
