#pragma once
// Small families with one trait each: for tests of solvers rather than of discretisations. n = 0 is allowed.
// Every function throws InvalidOption for a parameter outside its range.

#include <cstdint>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

/// Diagonal 2, one full row and column of −1 meeting at a tip of value n. SPD.
/// Tip first: elimination in natural order fills everything; tip last: no fill at all.
enum class Tip { first, last };
constexpr auto names(Tip) { return words("first", "last"); }
/// Parameters of arrow.
struct ArrowOptions {
    Index n = 1000;
    Tip   tip = Tip::first;
};
template <class Visit>
void fields(ArrowOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(0), "order");
    visit("tip", o.tip, anything(), "where the full row and column are");
}
CsrMatrix<double> arrow(const ArrowOptions& options);

/// Constant bands. Eigenvalues diagonal + 2√(lower·upper) cos(kπ/(n+1)).
struct TridiagonalOptions {
    Index  n = 1000;
    double lower = -1, diagonal = 2, upper = -1;
};
template <class Visit>
void fields(TridiagonalOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(0), "order");
    visit("lower", o.lower, within(-1e300, 1e300), "a(i, i-1)");
    visit("diagonal", o.diagonal, within(-1e300, 1e300), "a(i, i)");
    visit("upper", o.upper, within(-1e300, 1e300), "a(i, i+1)");
}
CsrMatrix<double> tridiagonal(const TridiagonalOptions& options);

/// min(per_row, n − 1) distinct off-diagonal entries a row, uniform on [−1, 1); a_ii = 1 + Σ_j |a_ij|, so strictly
/// dominant and ‖A⁻¹‖_∞ ≤ 1.
struct RandomDominantOptions {
    Index        n = 1000, per_row = 5;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(RandomDominantOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(0), "order");
    visit("per_row", o.per_row, at_least(0), "off-diagonal entries a row");
    visit("seed", o.seed, at_least(0), "of the random numbers");
}
CsrMatrix<double> random_dominant(const RandomDominantOptions& options);
CsrMatrix<double> random_dominant(Index n, Index per_row, std::int64_t seed = 1);

/// Lower triangle with its diagonal, for L x = b: min(per_row, i) distinct entries left of the diagonal, drawn from
/// the `band` nearest columns (0: all), |l_ij| ≤ 1/per_row, 1 ≤ |l_ii| < 2, so rows are dominant.
/// band = per_row gives a dependency chain of n rows.
struct RandomLowerOptions {
    Index        n = 1000, per_row = 5, band = 0;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(RandomLowerOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(0), "order");
    visit("per_row", o.per_row, at_least(0), "entries left of the diagonal");
    visit("band", o.band, at_least(0), "only this many columns left of the diagonal; 0: all");
    visit("seed", o.seed, at_least(0), "of the random numbers");
}
CsrMatrix<double> random_lower(const RandomLowerOptions& options);
CsrMatrix<double> random_lower(Index n, Index per_row, std::int64_t seed = 1);

/// The 5-point Laplacian of an n × n grid with Neumann conditions: singular, null vector 1 on both sides,
/// semidefinite. A x = b is solvable exactly when Σ b_i = 0; b = A·1 is zero.
struct SingularOptions {
    Index n = 32;
};
template <class Visit>
void fields(SingularOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "points a side");
}
CsrMatrix<double> singular(const SingularOptions& options);

/// Tridiagonal (−1, 4, −1) spoilt so that its structural rank is n − deficiency:
/// `empty_row` / `empty_column`: that many rows / columns hold nothing, evenly spread;
/// `crowd`: the first deficiency + 1 rows hold column 0 alone; nothing is empty while deficiency < n − 1.
enum class Defect { empty_row, empty_column, crowd };
constexpr auto names(Defect) { return words("empty_row", "empty_column", "crowd"); }
/// Parameters of structurally_singular.
struct StructurallySingularOptions {
    Index  n = 100, deficiency = 1;
    Defect defect = Defect::crowd;
};
template <class Visit>
void fields(StructurallySingularOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(2), "order");
    visit("deficiency", o.deficiency, at_least(1), "n minus the structural rank; less than n");
    visit("defect", o.defect, anything(), "what is missing");
}
CsrMatrix<double> structurally_singular(const StructurallySingularOptions& options);

}  // namespace ilux::gallery
