#pragma once
// Triangular systems and frames that several tests solve.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ilux/sptrsv/gpu/forward_system.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux::test {

/// Which triangle, with which diagonal.
struct Shape {
    Triangle triangle;
    Diagonal diagonal;
};

inline std::vector<Shape> shapes()
{
    return {{Triangle::lower, Diagonal::unit},
            {Triangle::lower, Diagonal::stored},
            {Triangle::upper, Diagonal::unit},
            {Triangle::upper, Diagonal::stored}};
}

/// About per_row entries a row off the diagonal, none in every seventh, small enough that solutions stay of order 1.
inline CsrMatrix<double> random_triangle(Index n, Index per_row, Shape shape, std::uint64_t seed)
{
    Random    random(seed);
    EntryList entries;
    for (Index i = 0; i < n; ++i) {
        const bool  lower = shape.triangle == Triangle::lower;
        const Index room = lower ? i : n - 1 - i;
        for (Index e = 0; room > 0 && i % 7 != 3 && e < per_row; ++e) {
            const Index away = 1 + random.below(room);
            entries.add(i, lower ? i - away : i + away, random.uniform() / per_row);
        }
        if (shape.diagonal == Diagonal::stored) entries.add(i, i, random.uniform(1, 2));
    }
    return entries.matrix(n, n);
}

/// A strictly lower matrix of n rows from has(i), the columns of row i, with values of about 1 / their number.
template <class Columns>
CsrMatrix<double> lower_from(Index n, Columns&& columns)
{
    Random              random(n);
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        const std::vector<Index> of_row = columns(i);
        for (Index j : of_row) {
            col.push_back(j);
            val.push_back(random.uniform(0.25, 1) / static_cast<double>(of_row.size()));
        }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<double>::from_sorted(n, n, std::move(row_ptr), std::move(col), std::move(val));
}

inline std::vector<Index> identity(Index n)
{
    std::vector<Index> all(n);
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

/// Permutations and scales on both sides.
inline SolveFrame<> random_frame(Index n, std::uint64_t seed)
{
    SolveFrame<> frame{random_permutation(n, seed), random_vector(n, seed + 1), random_permutation(n, seed + 2),
                       random_vector(n, seed + 3)};
    for (double& s : frame.out_scale) s += s < 0 ? -1 : 1;  // so that x can be had back
    return frame;
}

/// The largest |r_i| / ((terms of row i + 8) ε · Σ of their sizes), r = rhs − L x − d x accumulated in long double: at
/// most 1 for a row summed in any order. +Inf when x is not finite.
template <class T>
double worst_row(const ForwardSystem<T>& system, const std::vector<double>& b, const std::vector<double>& out)
{
    const auto& [L, inv_diag, frame] = system;
    std::vector<double> x(L.rows());
    for (Index i = 0; i < L.rows(); ++i) {
        x[i] = out[frame.out_index.empty() ? i : frame.out_index[i]];
        if (!frame.out_scale.empty()) x[i] /= frame.out_scale[i];
    }
    double worst = 0;
    for (Index i = 0; i < L.rows(); ++i) {
        long double rhs = b[frame.in_index.empty() ? i : frame.in_index[i]];
        if (!frame.in_scale.empty()) rhs *= frame.in_scale[i];
        const long double own = inv_diag.empty() ? x[i] : x[i] / static_cast<long double>(inv_diag[i]);
        long double       r = rhs - own, size = std::abs(rhs) + std::abs(own);
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) {
            const long double term = static_cast<long double>(L.val()[p]) * x[L.col()[p]];
            r -= term;
            size += std::abs(term);
        }
        if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
        const auto terms = static_cast<double>(L.row_ptr()[i + 1] - L.row_ptr()[i]);
        if (size > 0) worst = std::max(worst, static_cast<double>(std::abs(r) / ((terms + 8) * eps * size)));
    }
    return worst;
}

}  // namespace ilux::test
