#include "ilux/gallery/systems.hpp"

#include <array>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/fem.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

/// Where the unknowns of a marker-and-cell grid stand in the vector.
struct MacGrid {
    Index n;
    Index u(Index i, Index j) const { return i - 1 + (n - 1) * j; }            ///< face x = i h, 1 ≤ i < n
    Index v(Index i, Index j) const { return (n - 1) * n + i + n * (j - 1); }  ///< face y = j h, 1 ≤ j < n
    Index p(Index i, Index j) const { return 2 * (n - 1) * n + i + n * j; }
};

void add_horizontal_momentum(RowWriter& A, const MacGrid& g, Index pressures_end)
{
    const auto pressure = [&](Index column, double value) {
        if (column < pressures_end) A.add(column, value);
    };
    for (Index j = 0; j < g.n; ++j)
        for (Index i = 1; i < g.n; ++i) {
            if (j > 0) A.add(g.u(i, j - 1), -1);
            if (i > 1) A.add(g.u(i - 1, j), -1);
            A.add(g.u(i, j), 4 + (j == 0) + (j == g.n - 1));
            if (i + 1 < g.n) A.add(g.u(i + 1, j), -1);
            if (j + 1 < g.n) A.add(g.u(i, j + 1), -1);
            pressure(g.p(i - 1, j), -1);
            pressure(g.p(i, j), 1);
            A.end_row();
        }
}

void add_vertical_momentum(RowWriter& A, const MacGrid& g, Index pressures_end)
{
    const auto pressure = [&](Index column, double value) {
        if (column < pressures_end) A.add(column, value);
    };
    for (Index j = 1; j < g.n; ++j)
        for (Index i = 0; i < g.n; ++i) {
            if (j > 1) A.add(g.v(i, j - 1), -1);
            if (i > 0) A.add(g.v(i - 1, j), -1);
            A.add(g.v(i, j), 4 + (i == 0) + (i == g.n - 1));
            if (i + 1 < g.n) A.add(g.v(i + 1, j), -1);
            if (j + 1 < g.n) A.add(g.v(i, j + 1), -1);
            pressure(g.p(i, j - 1), -1);
            pressure(g.p(i, j), 1);
            A.end_row();
        }
}

void add_divergence(RowWriter& A, const MacGrid& g, Index pressures_end)
{
    for (Index j = 0; j < g.n; ++j)
        for (Index i = 0; i < g.n; ++i) {
            if (g.p(i, j) >= pressures_end) continue;
            if (i > 0) A.add(g.u(i, j), 1);
            if (i + 1 < g.n) A.add(g.u(i + 1, j), -1);
            if (j > 0) A.add(g.v(i, j), 1);
            if (j + 1 < g.n) A.add(g.v(i, j + 1), -1);
            A.end_row();
        }
}

template <int d>
CsrMatrix<double> elasticity(const char* name, const ElasticityOptions<d>& o)
{
    validate(o);
    std::array<double, d> h;
    CellGrid<d>           grid{.clamped = true};
    h.fill(1. / o.n);
    grid.cells.fill(o.n);
    const auto K = q1_elasticity<d>(h, o.nu);
    return assemble_cells<d, d, false>(name, grid, [&](const auto&) { return [&](int a, int b) { return K(a, b); }; });
}

}  // namespace

CsrMatrix<double> elasticity2d(const Elasticity2dOptions& o) { return elasticity("elasticity2d", o); }
CsrMatrix<double> elasticity3d(const Elasticity3dOptions& o) { return elasticity("elasticity3d", o); }

CsrMatrix<double> stokes2d(const Stokes2dOptions& o)
{
    validate(o);
    const double  n = o.n;
    const Index   rows = checked_rows("stokes2d", 2 * n * (n - 1) + n * n - (o.pressure == Pressure::pinned));
    RowWriter     A(rows, rows, 6);
    const MacGrid g{o.n};
    add_horizontal_momentum(A, g, rows);
    add_vertical_momentum(A, g, rows);
    add_divergence(A, g, rows);
    return std::move(A).finish();
}

std::vector<Problem> system_problems()
{
    return {
        entry<Elasticity2dOptions, elasticity2d>(
            "elasticity2d", "plane-strain elasticity, Q1, plate clamped on one side",
            {.symmetric = true, .pattern_symmetric = true, .positive_definite = true},
            "two unknowns a node, 18 entries a row inside; condition grows as nu approaches 1/2"),
        entry<Elasticity3dOptions, elasticity3d>(
            "elasticity3d", "elasticity, Q1, cube clamped on one side",
            {.symmetric = true, .pattern_symmetric = true, .positive_definite = true},
            "three unknowns a node, 81 entries a row inside; six rigid-body modes are its near-null space"),
        entry<Stokes2dOptions, stokes2d>(
            "stokes2d", "Stokes flow in a box, marker-and-cell",
            {.symmetric = true, .pattern_symmetric = true, .zero_diagonal = true},
            "indefinite saddle point with a zero block; pressure=pinned is regular, pressure=free singular with constant pressure as null vector"),
    };
}

}  // namespace ilux::gallery
