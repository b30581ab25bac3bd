#pragma once
// Time-harmonic waves on the unit square or cube: complex values. Time runs as e^{+iωt}, so that a wave travels as
// e^{−ikx} and loss makes Im A ⪰ 0. Rows are multiplied by h². k h says how many points a wavelength has, 2π/(k h): 10
// by default. A wave is resolved up to k h about 1; the phase then errs by (k h)²/24 of a wave a wavelength, so that
// the error grows with the number of wavelengths at the same k h (pollution). Every function throws InvalidOption for a
// parameter outside its range or more rows than an Index counts.

#include <complex>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

inline constexpr double ten_points = 0.6283185307179586;  ///< 2π/10: k h of ten points a wavelength

/// −Δu − (1 − i shift) k²u in a box that waves leave: on the whole boundary the impedance (first-order Sommerfeld)
/// condition ∂u/∂n + iku = g. n points a side, the boundary's included, h = 1/(n−1). Central differences, second order;
/// cells at the boundary are halved, which makes A complex symmetric: in 2-D A = T⊗W + W⊗T − (1 − i shift)(kh)² W⊗W, W
/// = diag(½, 1, …, 1, ½), T = tridiag(−1, 2, −1) with 1 + ikh at both ends. In 3-D likewise. layer > 0: the outermost
/// so many points absorb (a perfectly matched layer): x is stretched by s = 1 − iσ/k there, σ growing as the square of
/// the depth so that a wave which meets the wall comes back 10⁻⁴ as large. W and T then hold s and 1/s. Difficulty:
/// inside, a row has 2d − (kh)² on the diagonal and −1 to 2d neighbours: not dominant, and the real part has about
/// (k/2π)^d·(volume of a ball) negative eigenvalues. shift > 0 damps waves inside: the shifted Laplacian, from about
/// 0.5 on an easy matrix. Known: x ↦ e^{−i(κ·x)/h} with 2d − Σ 2cos κ_a = (kh)² solves every row inside (shift = layer
/// = 0), and Im uᴴAu is kh times the sum of |u|² over the boundary, by area; so A is regular for every k. As kh → 0 the
/// boundary lets go and A nears the singular Neumann Laplacian. At kh = 2 (2-D) or √6 (3-D) the diagonal inside
/// vanishes. Past √(4d) there are no waves: −Re A is positive definite.
template <int d>
struct OpenHelmholtzOptions {
    Index  n = d == 2 ? 100 : 24;
    double kh = ten_points, k = 0, shift = 0;
    Index  layer = 0;
};
template <int d, class Visit>
void fields(OpenHelmholtzOptions<d>& o, Visit&& visit)
{
    visit("n", o.n, at_least(2), "points a side, the boundary's included");
    visit("kh", o.kh, within(1e-8, 1e8), "wave number times h; 2 pi/kh points a wavelength");
    visit("k", o.k, within(0, 1e100), "wave number, in place of kh; 0: by kh");
    visit("shift", o.shift, within(0, 1e8), "b of -Laplace - (1 - ib) k^2");
    visit("layer", o.layer, at_least(0), "points of the absorbing layer along each side; 0: none");
}
using Helmholtz2dOpenOptions = OpenHelmholtzOptions<2>;
using Helmholtz3dOpenOptions = OpenHelmholtzOptions<3>;
CsrMatrix<std::complex<double>> helmholtz2d_open(const Helmholtz2dOpenOptions& options);
CsrMatrix<std::complex<double>> helmholtz3d_open(const Helmholtz3dOpenOptions& options);

/// curl curl E − (ω²ε − iωσ) E in the unit cube with conducting walls, n × E = 0: n × n × n cells, h = 1/n, one unknown
/// an edge (Yee's grid, equal to lowest-order edge elements with lumped masses): A = CᵀC − (kh)²(1 − i loss) I, C the
/// signed incidence of faces and edges, k² = ω²ε, loss = σ/(ωε). Up to 13 entries a row: 4 − (kh)²(1 − i loss) and ±1.
/// Complex symmetric. Order 3n(n−1)²: edges along x, then y, then z that are on no wall; x fastest. Difficulty: curl
/// sees no gradient. The (n−1)³ gradients Gφ of nodes inside are eigenvectors of −(kh)²(1 − i loss), beside eigenvalues
/// up to 12: indefinite at any k, condition about 12/(kh)². As kh → 0 A nears singular, at kh = 0 those gradients are
/// its null space. Known besides: E_x = a_x cos(pπx) sin(qπy) sin(rπz), and so on, is an eigenvector of K·K − (kh)²(1 −
/// i loss) where K = 2 sin((p, q, r)π/(2n)) and K·a = 0. With loss = 0 A is real and singular where (kh)² meets such a
/// K·K.
struct Maxwell3dOptions {
    Index  n = 16;
    double kh = ten_points, k = 0, loss = 0.1;
};
template <class Visit>
void fields(Maxwell3dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(2), "cells a side");
    visit("kh", o.kh, within(0, 1e8), "wave number times h; 2 pi/kh cells a wavelength");
    visit("k", o.k, within(0, 1e100), "wave number, in place of kh; 0: by kh");
    visit("loss", o.loss, within(0, 1e100), "sigma/(omega epsilon)");
}
CsrMatrix<std::complex<double>> maxwell3d(const Maxwell3dOptions& options);

}  // namespace ilux::gallery
