#include "ilux/gallery/special.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

/// `count` distinct numbers below `n`, ascending (Floyd's sampling).
void draw_distinct(Random& random, Index n, Index count, std::vector<Index>& drawn)
{
    drawn.clear();
    for (Index top = n - count; top < n; ++top) {
        const Index candidate = random.below(top + 1);
        const auto  place = std::ranges::lower_bound(drawn, candidate);
        if (place != drawn.end() && *place == candidate) drawn.push_back(top);  // larger than all drawn so far
        else drawn.insert(place, candidate);
    }
}

}  // namespace

CsrMatrix<double> arrow(const ArrowOptions& o)
{
    validate(o);
    const Index tip = o.tip == Tip::first ? 0 : o.n - 1;
    RowWriter   A(o.n, o.n, 3);
    for (Index i = 0; i < o.n; ++i) {
        if (i == tip) {
            for (Index j = 0; j < o.n; ++j) A.add(j, j == tip ? o.n : -1);
        } else {
            if (tip < i) A.add(tip, -1);
            A.add(i, 2);
            if (tip > i) A.add(tip, -1);
        }
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> tridiagonal(const TridiagonalOptions& o)
{
    validate(o);
    RowWriter A(o.n, o.n, 3);
    for (Index i = 0; i < o.n; ++i) {
        if (i > 0) A.add(i - 1, o.lower);
        A.add(i, o.diagonal);
        if (i + 1 < o.n) A.add(i + 1, o.upper);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> random_dominant(const RandomDominantOptions& o)
{
    validate(o);
    Random             random(o.seed);
    RowWriter          A(o.n, o.n, std::min(o.per_row, o.n) + 1.);
    std::vector<Index> others;
    for (Index i = 0; i < o.n; ++i) {
        draw_distinct(random, o.n - 1, std::min(o.per_row, o.n - 1), others);
        double sum = 0;
        for (Index other : others) {
            const double value = random.between(-1, 1);
            A.add(other < i ? other : other + 1, value);  // skips the diagonal
            sum += std::abs(value);
        }
        A.add(i, 1 + sum);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> random_dominant(Index n, Index per_row, std::int64_t seed)
{
    return random_dominant({.n = n, .per_row = per_row, .seed = seed});
}

CsrMatrix<double> random_lower(const RandomLowerOptions& o)
{
    validate(o);
    Random             random(o.seed);
    RowWriter          L(o.n, o.n, std::min(o.per_row, o.n) + 1.);
    std::vector<Index> left;
    for (Index i = 0; i < o.n; ++i) {
        const Index reach = o.band == 0 ? i : std::min(o.band, i);
        draw_distinct(random, reach, std::min(o.per_row, reach), left);
        for (Index j : left) L.add(i - reach + j, random.between(-1, 1) / o.per_row);
        const double diagonal = random.between(1, 2);
        L.add(i, random.unit() < 0.5 ? -diagonal : diagonal);
        L.end_row();
    }
    return std::move(L).finish();
}

CsrMatrix<double> random_lower(Index n, Index per_row, std::int64_t seed)
{
    return random_lower({.n = n, .per_row = per_row, .seed = seed});
}

CsrMatrix<double> singular(const SingularOptions& o)
{
    validate(o);
    return star_matrix("singular", {.nx = o.n, .ny = o.n}, [&](Index i, Index j, Index) {
        const int neighbours = (i > 0) + (i + 1 < o.n) + (j > 0) + (j + 1 < o.n);
        return Star{1. * neighbours, -1, -1, -1, -1};
    });
}

CsrMatrix<double> structurally_singular(const StructurallySingularOptions& o)
{
    validate(o);
    if (o.deficiency >= o.n)
        throw InvalidOption(fmt::format("deficiency={}: expected less than n = {}", o.deficiency, o.n));
    std::vector<char> spoilt(o.n, 0);
    for (Index k = 0; k < o.deficiency; ++k) spoilt[Offset{k} * o.n / o.deficiency] = 1;
    RowWriter A(o.n, o.n, 3);
    for (Index i = 0; i < o.n; ++i) {
        const bool crowded = o.defect == Defect::crowd && i <= o.deficiency;
        if (crowded) A.add(0, 1. + i);
        if (o.defect == Defect::crowd && i == o.deficiency + 1)
            for (Index j = 1; j < o.deficiency; ++j) A.add(j, -1);  // columns no other row holds
        if (!crowded && !(o.defect == Defect::empty_row && spoilt[i]))
            for (Index j = std::max(i - 1, 0); j <= std::min(i + 1, o.n - 1); ++j)
                if (!(o.defect == Defect::empty_column && spoilt[j])) A.add(j, i == j ? 4 : -1);
        A.end_row();
    }
    return std::move(A).finish();
}

std::vector<Problem> special_problems()
{
    constexpr Traits spd{.symmetric = true, .pattern_symmetric = true, .positive_definite = true};
    constexpr Traits spd_m{.symmetric = true,
                           .pattern_symmetric = true,
                           .positive_definite = true,
                           .m_matrix = true,
                           .dominant = true};
    return {
        entry<ArrowOptions, arrow>("arrow", "one full row and column, else diagonal", spd,
                                   "tip=first fills completely in natural order, tip=last not at all"),
        entry<TridiagonalOptions, tridiagonal>(
            "tridiagonal", "constant bands", spd_m,
            "so for the default bands; eigenvalues diagonal + 2 sqrt(lower upper) cos(k pi/(n+1))"),
        entry<RandomDominantOptions, random_dominant>("random_dominant", "random rows, strictly dominant diagonal",
                                                      {.dominant = true}, "||A^-1|| <= 1 in the maximum norm"),
        entry<RandomLowerOptions, random_lower>(
            "random_lower", "random lower triangle for triangular solves", {.dominant = true, .lower_triangular = true},
            "1 <= |diagonal| < 2, |others| < 1/per_row; a small band makes long dependency chains"),
        entry<SingularOptions, singular>(
            "singular", "-Laplace u with Neumann conditions, 5-point",
            {.symmetric = true, .pattern_symmetric = true, .dominant = true, .singular = true},
            "semidefinite, null vector 1; solvable when the right-hand side sums to 0, so rhs A1 is zero"),
        entry<StructurallySingularOptions, structurally_singular>(
            "structurally_singular", "tridiagonal with missing entries",
            {.zero_diagonal = true, .singular = true, .structurally_singular = true}, "structural rank n - deficiency"),
    };
}

}  // namespace ilux::gallery
