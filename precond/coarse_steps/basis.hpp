#pragma once
// P of a coarse space before it is smoothed: groups of unknowns times near-null vectors.

#include <cstddef>

#include "ilux/precond/coarse_steps/groups.hpp"

namespace ilux {

/// Vectors that A takes to little, one after another: n of each.
template <Backend B, class T>
struct NearNull {
    Buffer<B, T> values;
    Index        count = 0;

    std::size_t bytes() const { return values.size() * sizeof(T); }
    std::size_t n() const { return count > 0 ? values.size() / static_cast<std::size_t>(count) : 0; }
};
/// One vector more. @param x  n values
template <Backend B, Scalar T>
void append(B& be, NearNull<B, T>& vectors, ConstSpan<B, T> x)
{
    Buffer<B, T> wider(vectors.values.size() + x.size());
    Span<B, T>   to = wider;
    copy<T>(be, vectors.values, to.first(vectors.values.size()));
    copy<T>(be, x, to.subspan(vectors.values.size(), x.size()));
    vectors.values = std::move(wider);
    ++vectors.count;
}

/// P, n × coarse unknowns, and what is needed for a coarse space of the coarse matrix.
template <Backend B, class T>
struct Basis {
    Sparse<B, T>   P;
    NearNull<B, T> coarse;  ///< the vectors in the coarse unknowns: P times them are the fine ones
    Groups<B>      nodes;   ///< coarse unknowns, by the group that they come from
};

constexpr double dependent = 1e-6;  ///< what is left of a vector that the others span, relative to it

/// For each group an orthonormal basis of the vectors restricted to it, by modified Gram-Schmidt, twice; what is
/// left of a vector below `dependent` of it is no column. Pᴴ P = I. Groups side by side. O(n count²)
template <class T>
Basis<Cpu, T> orthonormal_basis(Cpu& be, const Groups<Cpu>& groups, const NearNull<Cpu, NotDeduced<T>>& vectors);
template <class T>
Basis<Gpu, T> orthonormal_basis(Gpu& be, const Groups<Gpu>& groups, const NearNull<Gpu, NotDeduced<T>>& vectors);

}  // namespace ilux
