#pragma once
// Discretised PDEs on the unit square or cube. Points are numbered x fastest, h = 1/(n+1), u = 0 on the boundary
// unless said otherwise, and rows are multiplied by h² (so entries are O(1), and Peclet or wave numbers appear as b·h,
// k·h). Every function throws InvalidOption for a parameter outside its range or more rows than an Index counts.

#include <cstdint>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

/// −Δu: 4 on the diagonal, −1 to each neighbour. SPD M-matrix.
/// Eigenvalues 4 − 2cos(pπ/(n+1)) − 2cos(qπ/(ny+1)), eigenvectors products of sines. ny = 0: as n.
struct Poisson2dOptions {
    Index n = 100, ny = 0;
};
template <class Visit>
void fields(Poisson2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points in x");
    visit("ny", o.ny, at_least(0), "interior points in y; 0: as many as in x");
}
CsrMatrix<double> poisson2d(const Poisson2dOptions& options);
CsrMatrix<double> poisson2d(Index nx, Index ny);

/// −Δu: 6 and −1. SPD M-matrix; eigenvalues as in 2-D with a third cosine.
struct Poisson3dOptions {
    Index n = 32, ny = 0, nz = 0;
};
template <class Visit>
void fields(Poisson3dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points in x");
    visit("ny", o.ny, at_least(0), "interior points in y; 0: as many as in x");
    visit("nz", o.nz, at_least(0), "interior points in z; 0: as many as in x");
}
CsrMatrix<double> poisson3d(const Poisson3dOptions& options);
CsrMatrix<double> poisson3d(Index nx, Index ny, Index nz);

/// −div(K grad u), K = R diag(1, eps) Rᵀ with R the rotation by `angle`: central differences, 9-point (5-point at
/// multiples of 90°). SPD for every eps > 0; not an M-matrix unless 5-point.
struct Anisotropic2dOptions {
    Index  n = 100;
    double eps = 1e-3, angle = 30;
};
template <class Visit>
void fields(Anisotropic2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("eps", o.eps, within(1e-12, 1e12), "conductivity across over conductivity along");
    visit("angle", o.angle, within(-360, 360), "direction of the strong conductivity, degrees");
}
CsrMatrix<double> anisotropic2d(const Anisotropic2dOptions& options);

/// −div(a grad u), a constant on blocks × blocks tiles and log-uniform over `decades`; harmonic means between points.
/// SPD M-matrix.
struct Jump2dOptions {
    Index        n = 100, blocks = 8;
    double       decades = 8;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(Jump2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("blocks", o.blocks, at_least(1), "tiles a side");
    visit("decades", o.decades, within(0, 30), "log10 of largest over smallest coefficient");
    visit("seed", o.seed, at_least(0), "of the coefficients");
}
CsrMatrix<double> jump2d(const Jump2dOptions& options);

/// First-order upwind: M-matrix at any velocity. Central: second order, M-matrix only while |b_i| h ≤ 2.
enum class Scheme { upwind, central };
constexpr auto names(Scheme) { return words("upwind", "central"); }

/// −Δu + b·grad u with b = peclet·(bx, by). Pattern symmetric; values symmetric only for b = 0.
struct ConvDiff2dOptions {
    Index  n = 100;
    double peclet = 100, bx = 1, by = 1;
    Scheme scheme = Scheme::upwind;
};
template <class Visit>
void fields(ConvDiff2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("peclet", o.peclet, within(-1e100, 1e100), "multiplies the velocity");
    visit("bx", o.bx, within(-1e100, 1e100), "velocity in x");
    visit("by", o.by, within(-1e100, 1e100), "velocity in y");
    visit("scheme", o.scheme, anything(), "upwind or central");
}
CsrMatrix<double> convdiff2d(const ConvDiff2dOptions& options);

/// −Δu + b·grad u with b = peclet·(bx, by, bz) on the unit cube.
struct ConvDiff3dOptions {
    Index  n = 32;
    double peclet = 100, bx = 1, by = 1, bz = 1;
    Scheme scheme = Scheme::upwind;
};
template <class Visit>
void fields(ConvDiff3dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("peclet", o.peclet, within(-1e100, 1e100), "multiplies the velocity");
    visit("bx", o.bx, within(-1e100, 1e100), "velocity in x");
    visit("by", o.by, within(-1e100, 1e100), "velocity in y");
    visit("bz", o.bz, within(-1e100, 1e100), "velocity in z");
    visit("scheme", o.scheme, anything(), "upwind or central");
}
CsrMatrix<double> convdiff3d(const ConvDiff3dOptions& options);

/// −Δu + peclet·w·grad u with the recirculating, divergence-free wind
/// w = (4x(x−1)(1−2y), −4y(y−1)(1−2x)): characteristics are closed, so no ordering follows the flow.
struct Recirculating2dOptions {
    Index  n = 128;
    double peclet = 1e4;
    Scheme scheme = Scheme::upwind;
};
template <class Visit>
void fields(Recirculating2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("peclet", o.peclet, within(-1e100, 1e100), "multiplies the wind, whose largest component is 1");
    visit("scheme", o.scheme, anything(), "upwind or central");
}
CsrMatrix<double> recirculating2d(const Recirculating2dOptions& options);

/// −Δu − k²u, real. Symmetric; indefinite once k² passes the smallest eigenvalue of −Δ (about 2π²), singular where
/// it meets one: (kh)² = 4 − 2cos(pπh) − 2cos(qπh).
struct Helmholtz2dOptions {
    Index  n = 100;
    double k = 20;
};
template <class Visit>
void fields(Helmholtz2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "interior points a side");
    visit("k", o.k, within(0, 1e100), "wave number; 2π/(k h) points a wavelength");
}
CsrMatrix<double> helmholtz2d(const Helmholtz2dOptions& options);

}  // namespace ilux::gallery
