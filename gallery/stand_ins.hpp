#pragma once
// Stand-ins for the ten matrices of Table 2 of [aliaga19]: the same kind of problem, rows within 1 % and entries a row
// within 10 % of the published matrix at scale 1. They are NOT those matrices: values, numbering and difficulty
// are ours. Whoever shows a result on one must show that it is a stand-in (Problem::stand_in).
//
// Table 2 counts one triangle of the symmetric matrices; published() gives the full count, 2 nnz − n.

#include <span>
#include <string_view>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

/// Parameters of every stand-in: rows relative to the published matrix.
struct StandInOptions {
    double scale = 1;
};
template <class Visit>
void fields(StandInOptions& o, Visit&& visit)
{
    visit("scale", o.scale, within(1e-4, 1), "rows relative to the published matrix; grids keep their proportions");
}

/// What the published matrix has: rows and entries of the full matrix.
struct PublishedSize {
    std::string_view stand_in;  ///< "like_apache2"
    Offset           n, nnz;
};
std::span<const PublishedSize> published();

/// 3-D finite differences, thin slab of 8 × 297 × 301 points (whose full count is exactly the published one), layered
/// material over 3 decades, held on one face. SPD M-matrix.
CsrMatrix<double> like_apache2(const StandInOptions& options);
/// Logic circuit with capacitors: local resistors, transistors (unsymmetric), 4 power nets that touch one node in 40.
CsrMatrix<double> like_ASIC_320ks(const StandInOptions& options);
/// 3-D convection-diffusion, 7-point upwind on 148 × 148 × 58 (exact counts), sheared wind. Unsymmetric M-matrix.
CsrMatrix<double> like_atmosmodd(const StandInOptions& options);
/// Random walk on strings over 3 or 4 letters that change one letter at a time, biased by a field: stochastic (row
/// sums 1), diagonal at least 1/2, so strictly dominant; pattern symmetric.
CsrMatrix<double> like_cage13(const StandInOptions& options);
/// Landscape conductances on a 1000 × 1000 grid with one inner node grounded, hence left out (exact counts).
/// SPD M-matrix; without the ground it would be singular.
CsrMatrix<double> like_ecology2(const StandInOptions& options);
/// Resistive circuit: a 1258 × 1260 grid lacking 6 % of its wires, with links across, leakage and pads. SPD M-matrix.
CsrMatrix<double> like_G3_circuit(const StandInOptions& options);
/// Heat and moisture along a binary tree of airways, 10 cells each, two unknowns a cell, upwind. Unsymmetric M-matrix.
CsrMatrix<double> like_lung2(const StandInOptions& options);
/// Mass + dt·stiffness of linear triangles on 1025 × 513 nodes (exact counts), natural boundary. SPD.
CsrMatrix<double> like_parabolic_fem(const StandInOptions& options);
/// Thin plate of trilinear bricks 20 times wider than thick, 317 × 32 × 4 free nodes, stiffeners, clamped end. SPD,
/// hard.
CsrMatrix<double> like_ship_003(const StandInOptions& options);
/// Plane-strain triangles, modulus over 4 decades, an unsymmetric thermal term, no support but a foundation of 1e-6.
CsrMatrix<double> like_thermomech_dK(const StandInOptions& options);

}  // namespace ilux::gallery
