#pragma once
// Systems of PDEs: several unknowns a point. Functions throw InvalidOption for parameters outside their range.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

/// Elasticity of the square or the cube [0,1]^d of n^d linear elements (Q1), clamped at x = 0, Young's modulus 1.
template <int d>
struct ElasticityOptions {
    Index  n = d == 2 ? 50 : 20;
    double nu = 0.3;
};
template <int d, class Visit>
void fields(ElasticityOptions<d>& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "elements a side");
    visit("nu", o.nu, within(0, 0.4999999), "Poisson's ratio");
}
using Elasticity2dOptions = ElasticityOptions<2>;
using Elasticity3dOptions = ElasticityOptions<3>;
/// In plane strain. Unknowns (u_x, u_y) of a node lie side by side, nodes x fastest without the clamped ones: order
/// 2n(n+1). SPD; condition grows as nu → 1/2, where Q1 locks.
CsrMatrix<double> elasticity2d(const Elasticity2dOptions& options);
/// In the same order, three unknowns a node: 3n(n+1)² rows, 81 entries in those inside. SPD. Rigid-body modes are its
/// near-null space.
CsrMatrix<double> elasticity3d(const Elasticity3dOptions& options);

/// What becomes of the constant pressure, which the momentum equation does not see.
enum class Pressure {
    pinned,  ///< the last cell's pressure is 0: its row and column are left out, the matrix is regular
    free,    ///< kept: singular, null vector 0 on velocities and 1 on pressures, both sides
};
constexpr auto names(Pressure) { return words("pinned", "free"); }

/// Stokes flow in the unit square, u = 0 on the walls: −Δu + ∇p = f, −div u = 0 on a marker-and-cell grid of n × n
/// cells, rows times h², unknown pressure h·p, so entries are integers: momentum 4 (5 beside a wall parallel to the
/// component, where the ghost value is −u), −1, and ±1 for gradient and divergence.
/// Symmetric indefinite [A Bᵀ; B 0]; the zero block is not stored. Order: (n−1)n horizontal velocities, n(n−1)
/// vertical ones, n² pressures (less one when pinned).
struct Stokes2dOptions {
    Index    n = 32;
    Pressure pressure = Pressure::pinned;
};
template <class Visit>
void fields(Stokes2dOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(2), "cells a side");
    visit("pressure", o.pressure, anything(), "pinned: the last cell's is 0; free: singular");
}
CsrMatrix<double> stokes2d(const Stokes2dOptions& options);

}  // namespace ilux::gallery
