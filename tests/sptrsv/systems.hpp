#pragma once
// Triangular systems and frames that several tests solve.

#include <numeric>

#include "ilux/sptrsv/forward_system.hpp"
#include "ilux/tests/support/checks.hpp"

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
    Random              random(seed);
    std::vector<Index>  row, col;
    std::vector<double> val;
    const auto          put = [&](Index i, Index j, double a) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(a);
    };
    for (Index i = 0; i < n; ++i) {
        const bool  lower = shape.triangle == Triangle::lower;
        const Index room = lower ? i : n - 1 - i;
        for (Index e = 0; room > 0 && i % 7 != 3 && e < per_row; ++e) {
            const Index away = 1 + random.below(room);
            put(i, lower ? i - away : i + away, random.uniform() / per_row);
        }
        if (shape.diagonal == Diagonal::stored) put(i, i, random.uniform(1, 2));
    }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
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
inline SolveFrame random_frame(Index n, std::uint64_t seed)
{
    SolveFrame frame{random_permutation(n, seed), random_vector(n, seed + 1), random_permutation(n, seed + 2),
                     random_vector(n, seed + 3)};
    for (double& s : frame.out_scale) s += s < 0 ? -1 : 1;  // so that x can be had back
    return frame;
}

}  // namespace ilux::test
