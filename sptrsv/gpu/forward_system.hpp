#pragma once
// What every GPU engine solves: one lower triangular system by forward substitution, read from and written to other
// numberings. An upper triangle becomes one by numbering its rows backwards.

#include <algorithm>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {

/// What surrounds a solve with A: x ← A⁻¹ (in_scale ∘ b[in_index]), then out[out_index] ← out_scale ∘ x.
/// Each vector has n entries, by rows of A, or none: the identity.
/// @tparam S  of b and x
template <Scalar S = double>
struct SolveFrame {
    std::vector<Index>  in_index = {};  ///< where in b row i finds its right-hand side
    std::vector<double> in_scale = {};
    std::vector<Index>  out_index = {};  ///< where in `out` x_i goes; a permutation
    std::vector<S>      out_scale = {};
    /// Length of b and out; −1: n. Where it is given, rows with in_index −1 have the right-hand side 0, and those with
    /// out_index −1 are not part of out; the others fill out.
    Index length = -1;
};

/// x_i ← (s_i b[g_i] − Σ_{j<i} l_ij x_j) / d_i for i = 0, 1, ..., n−1, and out[o_i] ← t_i x_i.
template <class T>
struct ForwardSystem {
    using S = working_of<T>;  ///< of b and x

    CsrMatrix<T>   L;         ///< n×n, strictly lower
    std::vector<S> inv_diag;  ///< n: 1/d_i; Inf for a zero pivot; empty: all ones
    SolveFrame<S>  frame;     ///< by rows of L

    Index size() const { return L.rows(); }
    Index length() const { return frame.length < 0 ? size() : frame.length; }  ///< of b and out
};

/// The forward system of A x = b for either triangle, its frame (by rows of A) renumbered with it. Values are rounded
/// to T. O(n + nnz). @throws InvalidInput when a vector of the frame is neither empty nor of n entries
template <class T>
ForwardSystem<T> forward_system(const CsrView<working_of<T>>& A, Triangle triangle, Diagonal diagonal,
                                SolveFrame<working_of<T>> frame = {});

/// The pattern and frame of `system`, whose numbers l_ij become number(l_ij) and those of inv_diag inverse(1/d_i).
template <class T, class Number, class Inverse>
ForwardSystem<T> with_numbers(const ForwardSystem<double>& system, Number number, Inverse inverse)
{
    using S = working_of<T>;
    const auto& [L, inv_diag, frame] = system;
    std::vector<T> val(L.val().size());
    std::vector<S> inverses(inv_diag.size());
    std::ranges::transform(L.val(), val.begin(), number);
    std::ranges::transform(inv_diag, inverses.begin(), inverse);
    return {.L = CsrMatrix<T>::from_sorted(L.rows(), L.cols(), {L.row_ptr().begin(), L.row_ptr().end()},
                                           {L.col().begin(), L.col().end()}, std::move(val)),
            .inv_diag = std::move(inverses),
            .frame = {.in_index = frame.in_index,
                      .in_scale = frame.in_scale,
                      .out_index = frame.out_index,
                      .out_scale = {frame.out_scale.begin(), frame.out_scale.end()},
                      .length = frame.length}};
}

/// The level of every row: 0 when it depends on none, else 1 + the highest level it depends on. O(n + nnz).
template <class T>
std::vector<Index> levels(const CsrView<T>& L);

/// Forward substitution as written above, on one thread: what the engines are measured against.
/// @param b, out  of at least n values, or as many as the frame's indices reach
template <class T>
void solve_serial(const ForwardSystem<T>& system, std::span<const working_of<T>> b, std::span<working_of<T>> out);

}  // namespace ilux
