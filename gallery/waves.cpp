#include "ilux/gallery/waves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

using Complex = std::complex<double>;

/// k h by whichever of the two was given.
double resolved_kh(double kh, double k, double h)
{
    if (k == 0) return kh;
    if (kh != ten_points) throw InvalidOption(fmt::format("k={} and kh={}: only one of them can be given", k, kh));
    return k * h;
}

/// One axis of the box: −u″ and u, times h² and s, on points that may be stretched.
struct Axis {
    std::vector<Complex> width;  ///< s at a point, times the part of its cell that lies inside: ½ at the boundary
    std::vector<Complex> link;   ///< 1/s half way from point i − 1 to i; 0 for i = 0 and i = n
    Complex              end;    ///< what the impedance adds at the boundary

    /// The diagonal of −u″.
    Complex stiffness(Index i) const
    {
        const bool boundary = i == 0 || i + 1 == std::ssize(width);
        return std::ssize(width) == 1 ? 0 : link[i] + link[i + 1] + (boundary ? end : 0);
    }
};

/// An axis that a problem of fewer dimensions does not have.
Axis no_axis() { return {.width = {1}, .link = {0, 0}, .end = 0}; }

/// @param layer  points that absorb, at either end
Axis open_axis(Index n, double kh, Index layer)
{
    constexpr double decay = 9.210340371976184;  // ln 10⁴: how much weaker a wave comes back from the layer
    const double     strongest = layer > 0 ? 1.5 * decay / layer : 0;  // σh at the wall: 2 ∫σ = ln 10⁴
    const auto       stretch = [&](double point) {
        const double depth = layer > 0 ? std::max({0., layer - point, point - (n - 1. - layer)}) / layer : 0;
        return Complex{1, -strongest * depth * depth / kh};
    };
    Axis axis{.width = {}, .link = {0}, .end = {0, kh}};
    for (Index i = 0; i < n; ++i) {
        axis.width.push_back((i == 0 || i + 1 == n ? 0.5 : 1) * stretch(i));
        axis.link.push_back(i + 1 < n ? 1. / stretch(i + 0.5) : 0);
    }
    return axis;
}

template <int d>
CsrMatrix<Complex> open_helmholtz(std::string_view name, const OpenHelmholtzOptions<d>& o)
{
    validate(o);
    const double kh = resolved_kh(o.kh, o.k, 1 / (o.n - 1.));
    const Grid   g{.nx = o.n, .ny = o.n, .nz = d == 3 ? o.n : 1};
    checked_rows(name, g.size());  // before the axes take memory
    if (2. * o.layer >= o.n)
        throw InvalidOption(fmt::format("layer={}: two of them do not fit into n={} points", o.layer, o.n));
    const Axis    x = open_axis(o.n, kh, o.layer), &y = x, z = d == 3 ? x : no_axis();
    const Complex squared = kh * kh * Complex{1, -o.shift};
    return star_matrix(name, g, [&](Index i, Index j, Index k) {
        const Complex yz = y.width[j] * z.width[k], zx = z.width[k] * x.width[i], xy = x.width[i] * y.width[j];
        const Complex center = x.stiffness(i) * yz + y.stiffness(j) * zx + z.stiffness(k) * xy;
        return StarOf<Complex>{.center = center - squared * (xy * z.width[k]),
                               .west = -x.link[i] * yz,
                               .east = -x.link[i + 1] * yz,
                               .south = -y.link[j] * zx,
                               .north = -y.link[j + 1] * zx,
                               .below = -z.link[k] * xy,
                               .above = -z.link[k + 1] * xy};
    });
}

/// Edges of n³ cells in a box of conducting walls. An edge on a wall has no unknown: E is 0 along it.
struct YeeGrid {
    using Point = std::array<Index, 3>;  ///< where an edge begins, in cells
    Index n;

    Index in_one_direction() const { return n * (n - 1) * (n - 1); }
    bool  has_unknown(int direction, const Point& at) const
    {
        for (int axis = 0; axis < 3; ++axis)
            if (at[axis] < (axis != direction) || at[axis] >= n) return false;
        return true;
    }
    Index row(int direction, const Point& at) const
    {
        const auto first = [&](int axis) { return axis == direction ? 0 : 1; };
        const auto place = [&](int axis) { return at[axis] - first(axis); };
        const auto count = [&](int axis) { return n - first(axis); };
        return direction * in_one_direction() + place(0) + count(0) * (place(1) + count(1) * place(2));
    }
};

/// One row of CᵀC: the circulation around each of the four faces at the edge, counted along the edge.
void add_curl_curl(RowWriterOf<Complex>& A, const YeeGrid& g, int d, const YeeGrid::Point& at)
{
    const auto add = [&](int direction, YeeGrid::Point edge, int step_along, double value) {
        if (step_along >= 0) ++edge[step_along];
        if (g.has_unknown(direction, edge)) A.add(g.row(direction, edge), value);
    };
    constexpr int here = -1;
    for (const int m : {(d + 1) % 3, (d + 2) % 3})
        for (const bool far_side : {false, true}) {  // of a face of directions d and m, which begins at `face`
            YeeGrid::Point face = at;
            face[m] -= far_side;
            const double along = far_side ? -1 : 1;
            add(d, face, here, along);
            add(m, face, d, along);
            add(d, face, m, -along);
            add(m, face, here, -along);
        }
}

}  // namespace

CsrMatrix<Complex> helmholtz2d_open(const Helmholtz2dOpenOptions& o) { return open_helmholtz("helmholtz2d_open", o); }
CsrMatrix<Complex> helmholtz3d_open(const Helmholtz3dOpenOptions& o) { return open_helmholtz("helmholtz3d_open", o); }

CsrMatrix<Complex> maxwell3d(const Maxwell3dOptions& o)
{
    validate(o);
    const double         n = o.n, kh = resolved_kh(o.kh, o.k, 1 / n);
    const Complex        mass{-kh * kh, kh * kh * o.loss};
    const Index          rows = checked_rows("maxwell3d", 3 * n * (n - 1) * (n - 1));
    const YeeGrid        g{o.n};
    RowWriterOf<Complex> A(rows, rows, 13);
    for (int d = 0; d < 3; ++d) {
        const auto first = [&](int axis) -> Index { return axis == d ? 0 : 1; };
        for (Index z = first(2); z < o.n; ++z)
            for (Index y = first(1); y < o.n; ++y)
                for (Index x = first(0); x < o.n; ++x) {
                    add_curl_curl(A, g, d, {x, y, z});
                    A.add(g.row(d, {x, y, z}), mass);
                    A.end_row();
                }
    }
    return std::move(A).finish();
}

std::vector<Problem> wave_problems()
{
    constexpr Traits  symmetric{.symmetric = true, .pattern_symmetric = true};
    const std::string open =
        "indefinite, regular for every k; Im A >= 0; shift > 0 damps waves inside, layer > 0 absorbs them along the sides; zero diagonals inside at kh = ";
    return {
        complex_entry<Helmholtz2dOpenOptions, helmholtz2d_open>(
            "helmholtz2d_open",
            "Helmholtz -Laplace u - k^2 u on the unit square, waves leave through its sides, complex", symmetric,
            open + "2"),
        complex_entry<Helmholtz3dOpenOptions, helmholtz3d_open>(
            "helmholtz3d_open", "Helmholtz -Laplace u - k^2 u in the unit cube, waves leave through its sides, complex",
            symmetric, open + "sqrt(6)"),
        complex_entry<Maxwell3dOptions, maxwell3d>(
            "maxwell3d",
            "Maxwell curl curl E - (omega^2 eps - i omega sigma) E in a conducting box, edge unknowns, complex",
            symmetric,
            "indefinite; (n-1)^3 gradients have eigenvalue -(kh)^2 (1 - i loss); kh=0 is singular, loss=0 where kh meets a resonance"),
    };
}

}  // namespace ilux::gallery
