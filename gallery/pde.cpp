#include "ilux/gallery/pde.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

/// −u'' + b u' on one line, times h².
struct LineStencil {
    double lower, center, upper;
};

LineStencil convection_diffusion(double bh, Scheme scheme)
{
    if (scheme == Scheme::central) return {-1 - bh / 2, 2, -1 + bh / 2};
    return {-1 - std::max(bh, 0.), 2 + std::abs(bh), -1 + std::min(bh, 0.)};
}

Star cross(const LineStencil& x, const LineStencil& y)
{
    return {.center = x.center + y.center, .west = x.lower, .east = x.upper, .south = y.lower, .north = y.upper};
}

}  // namespace

CsrMatrix<double> poisson2d(const Poisson2dOptions& o)
{
    validate(o);
    const Grid g{.nx = o.n, .ny = o.ny == 0 ? o.n : o.ny};
    return star_matrix("poisson2d", g, [](Index, Index, Index) { return Star{4, -1, -1, -1, -1}; });
}

CsrMatrix<double> poisson2d(Index nx, Index ny) { return poisson2d({.n = nx, .ny = ny}); }

CsrMatrix<double> poisson3d(const Poisson3dOptions& o)
{
    validate(o);
    const Grid g{.nx = o.n, .ny = o.ny == 0 ? o.n : o.ny, .nz = o.nz == 0 ? o.n : o.nz};
    return star_matrix("poisson3d", g, [](Index, Index, Index) { return Star{6, -1, -1, -1, -1, -1, -1}; });
}

CsrMatrix<double> poisson3d(Index nx, Index ny, Index nz) { return poisson3d({.n = nx, .ny = ny, .nz = nz}); }

CsrMatrix<double> anisotropic2d(const Anisotropic2dOptions& o)
{
    validate(o);
    const bool   on_axes = std::fmod(o.angle, 90) == 0;
    const double theta = o.angle * std::numbers::pi / 180;
    const double c = std::cos(theta), s = std::sin(theta);
    const double kxx = c * c + o.eps * s * s;
    const double kyy = s * s + o.eps * c * c;
    const double kxy = on_axes ? 0 : (1 - o.eps) * c * s;
    const Grid   g{.nx = o.n, .ny = o.n};
    const Index  rows = checked_rows("anisotropic2d", g.size());
    RowWriter    A(rows, rows, on_axes ? 5 : 9);
    for (Index j = 0; j < o.n; ++j)
        for (Index i = 0; i < o.n; ++i) {
            for (Index dj = -1; dj <= 1; ++dj)
                for (Index di = -1; di <= 1; ++di) {
                    if (i + di < 0 || i + di >= o.n || j + dj < 0 || j + dj >= o.n) continue;
                    if (di == 0 && dj == 0) A.add(g.row(i, j), 2 * kxx + 2 * kyy);
                    else if (dj == 0) A.add(g.row(i + di, j), -kxx);
                    else if (di == 0) A.add(g.row(i, j + dj), -kyy);
                    else if (!on_axes) A.add(g.row(i + di, j + dj), -di * dj * kxy / 2);  // −2 kxy u_xy
                }
            A.end_row();
        }
    return std::move(A).finish();
}

CsrMatrix<double> jump2d(const Jump2dOptions& o)
{
    validate(o);
    const Grid   g{.nx = o.n, .ny = o.n};
    const double low = power_of_two(-o.decades / 2 * 3.321928094887362);
    const auto   tile = [&](Index i) { return static_cast<std::uint64_t>(Offset{i} * o.blocks / o.n); };
    const auto   a = [&](Index i, Index j) {  // points outside take the coefficient of the nearest one inside
        const auto x = tile(std::clamp(i, 0, o.n - 1)), y = tile(std::clamp(j, 0, o.n - 1));
        return log_spread(keyed_unit(x + y * static_cast<std::uint64_t>(o.blocks), o.seed), low, o.decades);
    };
    return star_matrix("jump2d", g, [&](Index i, Index j, Index) {
        const double here = a(i, j);
        const double w = harmonic_mean(here, a(i - 1, j)), e = harmonic_mean(here, a(i + 1, j));
        const double s = harmonic_mean(here, a(i, j - 1)), n = harmonic_mean(here, a(i, j + 1));
        return Star{w + e + s + n, -w, -e, -s, -n};
    });
}

CsrMatrix<double> convdiff2d(const ConvDiff2dOptions& o)
{
    validate(o);
    const double h = 1. / (1. + o.n);
    const Star   star =
        cross(convection_diffusion(o.peclet * o.bx * h, o.scheme), convection_diffusion(o.peclet * o.by * h, o.scheme));
    return star_matrix("convdiff2d", {.nx = o.n, .ny = o.n}, [&](Index, Index, Index) { return star; });
}

CsrMatrix<double> convdiff3d(const ConvDiff3dOptions& o)
{
    validate(o);
    const double      h = 1. / (1. + o.n);
    const LineStencil z = convection_diffusion(o.peclet * o.bz * h, o.scheme);
    Star              star =
        cross(convection_diffusion(o.peclet * o.bx * h, o.scheme), convection_diffusion(o.peclet * o.by * h, o.scheme));
    star.center += z.center;
    star.below = z.lower;
    star.above = z.upper;
    return star_matrix("convdiff3d", {.nx = o.n, .ny = o.n, .nz = o.n}, [&](Index, Index, Index) { return star; });
}

CsrMatrix<double> recirculating2d(const Recirculating2dOptions& o)
{
    validate(o);
    const double h = 1. / (1. + o.n);
    return star_matrix("recirculating2d", {.nx = o.n, .ny = o.n}, [&](Index i, Index j, Index) {
        const double x = (i + 1) * h, y = (j + 1) * h;
        const double wx = 4 * x * (x - 1) * (1 - 2 * y), wy = -4 * y * (y - 1) * (1 - 2 * x);
        return cross(convection_diffusion(o.peclet * wx * h, o.scheme),
                     convection_diffusion(o.peclet * wy * h, o.scheme));
    });
}

CsrMatrix<double> helmholtz2d(const Helmholtz2dOptions& o)
{
    validate(o);
    const double kh = o.k / (1. + o.n);
    return star_matrix("helmholtz2d", {.nx = o.n, .ny = o.n}, [&](Index, Index, Index) {
        return Star{4 - kh * kh, -1, -1, -1, -1};
    });
}

std::vector<Problem> pde_problems()
{
    constexpr Traits spd_m{.symmetric = true,
                           .pattern_symmetric = true,
                           .positive_definite = true,
                           .m_matrix = true,
                           .dominant = true};
    constexpr Traits transport{.pattern_symmetric = true, .m_matrix = true, .dominant = true};
    return {
        entry<Poisson2dOptions, poisson2d>("poisson2d", "-Laplace u on the unit square, 5-point", spd_m,
                                           "entries 4 and -1; eigenvalues 4 - 2cos(p pi/(nx+1)) - 2cos(q pi/(ny+1))"),
        entry<Poisson3dOptions, poisson3d>("poisson3d", "-Laplace u on the unit cube, 7-point", spd_m,
                                           "entries 6 and -1; eigenvalues 6 - 2cos(..) - 2cos(..) - 2cos(..)"),
        entry<Anisotropic2dOptions, anisotropic2d>(
            "anisotropic2d", "-div(K grad u), K = diag(1, eps) turned by an angle, 9-point",
            {.symmetric = true, .pattern_symmetric = true, .positive_definite = true},
            "M-matrix and 5-point only when the angle is a multiple of 90 degrees"),
        entry<Jump2dOptions, jump2d>("jump2d", "-div(a grad u), a jumping over many decades between tiles", spd_m,
                                     "condition grows with 10^decades"),
        entry<ConvDiff2dOptions, convdiff2d>(
            "convdiff2d", "-Laplace u + b.grad u on the unit square", transport,
            "with scheme=central neither dominant nor an M-matrix once |b_i|/(n+1) > 2"),
        entry<ConvDiff3dOptions, convdiff3d>(
            "convdiff3d", "-Laplace u + b.grad u on the unit cube", transport,
            "with scheme=central neither dominant nor an M-matrix once |b_i|/(n+1) > 2"),
        entry<Recirculating2dOptions, recirculating2d>(
            "recirculating2d", "-Laplace u + peclet w.grad u, recirculating wind w = (4x(x-1)(1-2y), -4y(y-1)(1-2x))",
            transport, "closed characteristics; with scheme=central neither dominant nor an M-matrix at large peclet"),
        entry<Helmholtz2dOptions, helmholtz2d>(
            "helmholtz2d", "-Laplace u - k^2 u, real", {.symmetric = true, .pattern_symmetric = true},
            "indefinite once k^2 > 2 pi^2, about k^2/(4 pi) negative eigenvalues; singular where k^2 meets an eigenvalue of -Laplace"),
    };
}

}  // namespace ilux::gallery
