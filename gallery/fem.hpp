#pragma once
// Finite elements on structured grids: local matrices and their assembly row by row, without a triplet list.

#include <array>
#include <cmath>
#include <string_view>

#include "ilux/gallery/assemble.hpp"

namespace ilux::gallery {

/// Square local matrix of a cell with 2^d corners and `dof` unknowns each, unknown (corner a, component s) at dof·a +
/// s. Bit x of a corner's number says whether it lies at the far end in direction x.
template <int d, int dof>
struct CellMatrix {
    static constexpr int            size = dof << d;
    std::array<double, size * size> value{};
    double&                         operator()(int a, int b) { return value[a * size + b]; }
    const double&                   operator()(int a, int b) const { return value[a * size + b]; }
};

/// Stiffness of the bilinear rectangle (d = 2, plane strain, thickness 1) or trilinear brick (d = 3) of edges h,
/// Young's modulus 1: ∫ λ div u div v + 2μ ε(u):ε(v), exact by 2^d Gauss points.
template <int d>
CellMatrix<d, d> q1_elasticity(const std::array<double, d>& h, double poisson_ratio);

/// A linear triangle: which corners of its rectangle, and the constant gradients of its three shape functions.
struct P1Triangle {
    std::array<int, 3>                   corner;
    std::array<std::array<double, 2>, 3> gradient;
};
/// The rectangle hx × hy cut along its diagonal from corner 0 to corner 3; both areas are hx·hy/2.
std::array<P1Triangle, 2> p1_triangles(double hx, double hy);

/// Cells of a grid; nodes are one more in each direction, numbered x fastest. A clamped grid has no unknowns at x = 0.
template <int d>
struct CellGrid {
    std::array<Index, d> cells{};
    bool                 clamped = false;
    Index                nodes(int axis) const { return cells[axis] + (axis > 0 || !clamped); }
    double               size() const
    {
        double product = 1;
        for (int axis = 0; axis < d; ++axis) product *= 1. * cells[axis] + (axis > 0 || !clamped);
        return product;
    }
};

/// Adds up a row's contributions: local(e) gives, for the cell at e, a callable (a, b) → entry of its matrix.
/// `triangles`: corners 1 and 2 are not coupled (cells cut from 0 to 3). The sum over cells has the same order for
/// (i, j) as for (j, i): symmetric local matrices give a bitwise symmetric result.
template <int d, int dof, bool triangles, class Local>
CsrMatrix<double> assemble_cells(std::string_view problem, const CellGrid<d>& grid, Local&& local)
{
    constexpr int corners = 1 << d, around = d == 2 ? 9 : 27;
    const Index   rows = checked_rows(problem, dof * grid.size());
    const Index   shift = grid.clamped ? 1 : 0;
    RowWriter     A(rows, rows, dof * (triangles ? 7 : around));
    const auto    bit = [](int corner, int axis) { return corner >> axis & 1; };

    for (Index node = 0; node < rows / dof; ++node) {
        std::array<Index, d> at{};
        for (Index axis = 0, rest = node; axis < d; rest /= grid.nodes(axis++)) at[axis] = rest % grid.nodes(axis);
        at[0] += shift;
        std::array<std::array<double, dof * dof>, around> block{};
        std::array<bool, around>                          coupled{};
        for (int a = 0; a < corners; ++a) {  // the cell in which this node is corner a
            std::array<Index, d> e{};
            bool                 inside = true;
            for (int axis = 0; axis < d; ++axis) {
                e[axis] = at[axis] - bit(a, axis);
                inside = inside && e[axis] >= 0 && e[axis] < grid.cells[axis];
            }
            if (!inside) continue;
            const auto K = local(e);
            for (int b = 0; b < corners; ++b) {
                if (e[0] + bit(b, 0) < shift || (triangles && a + b == 3 && (a == 1 || b == 1))) continue;
                int place = 0;
                for (int axis = d - 1; axis >= 0; --axis) place = 3 * place + 1 + bit(b, axis) - bit(a, axis);
                coupled[place] = true;
                for (int s = 0; s < dof; ++s)
                    for (int t = 0; t < dof; ++t) block[place][s * dof + t] += K(dof * a + s, dof * b + t);
            }
        }
        for (int s = 0; s < dof; ++s) {
            for (int place = 0; place < around; ++place) {
                if (!coupled[place]) continue;
                Index other = node, stride = 1;
                for (int axis = 0, rest = place; axis < d; rest /= 3, stride *= grid.nodes(axis++))
                    other += (rest % 3 - 1) * stride;
                for (int t = 0; t < dof; ++t) A.add(dof * other + t, block[place][s * dof + t]);
            }
            A.end_row();
        }
    }
    return std::move(A).finish();
}

}  // namespace ilux::gallery
