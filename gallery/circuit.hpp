#pragma once
// Circuits by modified nodal analysis (MNA): unknowns are node voltages, then currents of voltage sources (and of
// inductors). A voltage source's row has a zero diagonal. Ground is not an unknown.
// Functions throw InvalidOption for parameters outside their range or more rows than an Index counts.

#include <complex>
#include <cstdint>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::gallery {

/// transient: a backward Euler step; dc: the operating point.
enum class Analysis { transient, dc };
constexpr auto names(Analysis) { return words("transient", "dc"); }

/// An n × n mesh of nodes whose 2n(n−1) edges are chains of RLC segments; ideal voltage sources at the four corners.
/// transient: each of s segments is one current through R and L in series, v_a − v_b − (R + L/dt) i, nodes between
/// segments (and mesh nodes) carry C/dt to ground: n² + 2n(n−1)(2s−1) + 4 rows, n² + 2n(n−1)(6s−1) + 8 entries.
/// dc: each of s segments is R, a node, L as a short (zero diagonal); one more R ends the chain, capacitors are open:
/// n² + 2n(n−1)·3s + 4 rows, n² + 2n(n−1)(8s+2) + 8 entries.
/// These counts are those of rlc1…rlc5 in Table I of [he16]: (n, s) = (100, 50), (200, 25), (200, 100) transient,
/// (100, 99), (200, 149) dc. Symmetric indefinite; edges' unknowns follow the mesh nodes, sources come last.
struct RlcMeshOptions {
    Index        n = 20, segments = 10;
    Analysis     analysis = Analysis::transient;
    double       r = 0.1, l = 1e-12, c = 1e-14, dt = 1e-12, spread = 0.5;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(RlcMeshOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(2), "mesh nodes a side");
    visit("segments", o.segments, at_least(1), "RLC segments an edge");
    visit("analysis", o.analysis, anything(), "transient (rlc1, rlc2, rlc4) or dc (rlc3, rlc5)");
    visit("r", o.r, within(1e-100, 1e100), "ohm a segment");
    visit("l", o.l, within(0, 1e100), "henry a segment");
    visit("c", o.c, within(0, 1e100), "farad a node");
    visit("dt", o.dt, within(1e-100, 1e100), "time step in seconds");
    visit("spread", o.spread, within(0, 0.99), "elements vary by this fraction");
    visit("seed", o.seed, at_least(0), "of the variation");
}
CsrMatrix<double> rlc_mesh(const RlcMeshOptions& options);

/// Rows and entries of rlc_mesh() without building it.
struct RlcMeshSize {
    double rows, nnz;
};
RlcMeshSize rlc_mesh_size(const RlcMeshOptions& options);

/// On-chip power grid: `layers` meshes, each half as fine as the one below, joined by vias; resistance falls upwards
/// and wires prefer one direction a layer. pads × pads ideal voltage sources on the top layer, one unknown each.
/// Symmetric indefinite, regular; layers from the bottom, then source currents.
struct PowerGridOptions {
    Index        n = 64, layers = 3, pads = 2;
    double       r = 1, via = 0.5;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(PowerGridOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "nodes a side of the bottom layer");
    visit("layers", o.layers, within(1, 30), "metal layers");
    visit("pads", o.pads, at_least(1), "voltage sources a side of the top layer");
    visit("r", o.r, within(1e-100, 1e100), "ohm between neighbours of the bottom layer");
    visit("via", o.via, within(1e-100, 1e100), "ohm a via");
    visit("seed", o.seed, at_least(0), "of the 20 % variation");
}
CsrMatrix<double> power_grid(const PowerGridOptions& options);

/// A random circuit: a tree of resistors to ground, `degree` − 1 further resistors a node, grounded voltage sources at
/// `sources`·n nodes and controlled current sources at `controlled`·n; conductances log-uniform over `decades`,
/// the largest 1e3. Structurally regular; one zero diagonal a source; unsymmetric unless controlled = 0.
struct MnaRandomOptions {
    Index        n = 1000;
    double       degree = 2, sources = 0.05, controlled = 0.1, decades = 15;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(MnaRandomOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "nodes");
    visit("degree", o.degree, within(1, 100), "resistors a node");
    visit("sources", o.sources, within(0, 1), "voltage sources a node (at least one in all)");
    visit("controlled", o.controlled, within(0, 100), "controlled sources a node");
    visit("decades", o.decades, within(0, 30), "log10 of largest over smallest conductance");
    visit("seed", o.seed, at_least(0), "of the random numbers");
}
CsrMatrix<double> mna_random(const MnaRandomOptions& options);

/// Small-signal (AC) analysis: nodal admittances Y = G + jωC + Γ/(jω) of an n × n mesh at frequency f, ω = 2πf.
/// Neighbours are joined by a resistor and an inductor side by side, y = 1/R + 1/(jωL), and each node by a capacitor to
/// ground, jωC. Complex symmetric, pattern of 5 points; regular for every f > 0, since Re Y ⪰ 0 has the null vector 1
/// alone. Row i sums to jωC_i: at equal voltages no current flows but to ground (Kirchhoff). With spread=0 the vectors
/// cos((i+½)pπ/n) cos((j+½)qπ/n) are eigenvectors, of jωC + λ(1/R + 1/(jωL)), λ = 4 − 2cos(pπ/n) − 2cos(qπ/n).
/// Towards f = 0 inductors short all nodes together and Y nears singular. Up to √8 times the resonance 1/(2π√(LC)), 5
/// GHz by default, Im Y is indefinite and only R damps the modes that resonate at f, λ = (f/resonance)². Beyond, C
/// dominates the rows.
struct AcMeshOptions {
    Index        n = 64;
    double       f = 1e9, r = 50, l = 1e-9, c = 1e-12, spread = 0.5;
    std::int64_t seed = 1;
};
template <class Visit>
void fields(AcMeshOptions& o, Visit&& visit)
{
    visit("n", o.n, at_least(1), "nodes a side");
    visit("f", o.f, within(1e-100, 1e100), "frequency in hertz");
    visit("r", o.r, within(1e-100, 1e100), "ohm between neighbours");
    visit("l", o.l, within(1e-100, 1e100), "henry between neighbours");
    visit("c", o.c, within(1e-100, 1e100), "farad from a node to ground");
    visit("spread", o.spread, within(0, 0.99), "elements vary by this fraction");
    visit("seed", o.seed, at_least(0), "of the variation");
}
CsrMatrix<std::complex<double>> ac_mesh(const AcMeshOptions& options);

}  // namespace ilux::gallery
