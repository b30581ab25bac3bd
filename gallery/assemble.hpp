#pragma once
// What the generators are written in: rows appended to a CSR matrix, random numbers that are the same everywhere,
// and rectangular grids.

#include <complex>
#include <cstdint>
#include <random>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::gallery {

/// Appends the rows of a matrix one after the other. Entries of a row may come in any order; equal columns are summed.
/// Ascending columns cost nothing extra.
template <Scalar S>
class RowWriterOf {
public:
    RowWriterOf(Index rows, Index cols, double entries_per_row);
    void add(Index j, S value)
    {
        col_.push_back(j);
        val_.push_back(value);
    }
    void end_row();
    /// @throws InvalidOption when an entry is not finite: parameters too large for double
    CsrMatrix<S> finish() &&;

private:
    void sort_row(std::size_t begin);

    Index                            rows_, cols_;
    std::vector<Offset>              row_ptr_;
    std::vector<Index>               col_;
    std::vector<S>                   val_;
    std::vector<std::pair<Index, S>> unsorted_;  // scratch of sort_row
};
using RowWriter = RowWriterOf<double>;

/// @return rows as an Index
/// @throws InvalidOption with the size when it does not fit 31 bits
Index checked_rows(std::string_view problem, double rows);

/// Numbers from std::mt19937_64, whose sequence the standard fixes, mapped here: std::uniform_*_distribution may
/// differ between libraries.
class Random {
public:
    explicit Random(std::int64_t seed) : engine_(static_cast<std::uint64_t>(seed)) {}
    double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  ///< uniform on [0, 1)
    double between(double lo, double hi) { return lo + (hi - lo) * unit(); }
    Index  below(Index n) { return static_cast<Index>(((engine_() >> 32) * static_cast<std::uint64_t>(n)) >> 32); }

private:
    std::mt19937_64 engine_;
};

/// Uniform on [0, 1), a function of (key, seed) alone (splitmix64): both ends of an edge draw the same number
/// without storing it.
double keyed_unit(std::uint64_t key, std::uint64_t seed);

/// 2^x by a straight line between integers: spreads u over decades with IEEE arithmetic only, unlike std::pow.
double power_of_two(double x);

/// `low`·10^(decades·u) up to 6 %, for u in [0, 1).
double log_spread(double u, double low, double decades);

/// The conductivity between two points; bitwise the same from both sides.
inline double harmonic_mean(double a, double b) { return 2 * (a * b) / (a + b); }

/// Points numbered x fastest. A 2-D grid has nz = 1.
struct Grid {
    Index  nx = 1, ny = 1, nz = 1;
    Index  row(Index i, Index j, Index k = 0) const { return i + nx * (j + ny * k); }
    double size() const { return 1. * nx * ny * nz; }
};

/// Entries of one row of a 7-point stencil (5-point when nz = 1).
template <Scalar S>
struct StarOf {
    using Value = S;
    S center, west, east, south, north, below = 0, above = 0;
};
using Star = StarOf<double>;

/// The matrix whose row (i, j, k) is star_at(i, j, k), cut off at the grid's edge.
template <class StarAt>
auto star_matrix(std::string_view problem, const Grid& g, StarAt&& star_at)
{
    using S = typename std::invoke_result_t<StarAt, Index, Index, Index>::Value;
    const Index    rows = checked_rows(problem, g.size());
    RowWriterOf<S> A(rows, rows, g.nz > 1 ? 7 : 5);
    for (Index k = 0; k < g.nz; ++k)
        for (Index j = 0; j < g.ny; ++j)
            for (Index i = 0; i < g.nx; ++i) {
                const StarOf<S> s = star_at(i, j, k);
                const Index     r = g.row(i, j, k);
                if (k > 0) A.add(r - g.nx * g.ny, s.below);
                if (j > 0) A.add(r - g.nx, s.south);
                if (i > 0) A.add(r - 1, s.west);
                A.add(r, s.center);
                if (i + 1 < g.nx) A.add(r + 1, s.east);
                if (j + 1 < g.ny) A.add(r + g.nx, s.north);
                if (k + 1 < g.nz) A.add(r + g.nx * g.ny, s.above);
                A.end_row();
            }
    return std::move(A).finish();
}

}  // namespace ilux::gallery
