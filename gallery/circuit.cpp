#include "ilux/gallery/circuit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/stamps.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

/// The mesh of rlc_mesh(): where its unknowns stand and what its elements are worth.
class RlcMesh {
public:
    explicit RlcMesh(const RlcMeshOptions& o)
        : o_(o),
          horizontal_((o.n - 1) * o.n),
          per_edge_(o.analysis == Analysis::dc ? 3 * o.segments : 2 * o.segments - 1)
    {}
    Index node(Index i, Index j) const { return i + o_.n * j; }
    Index edge_east(Index i, Index j) const { return i + (o_.n - 1) * j; }  ///< node (i, j) to (i + 1, j)
    Index edge_north(Index i, Index j) const { return horizontal_ + i + o_.n * j; }
    Index edges() const { return 2 * horizontal_; }
    Index first(Index edge) const { return o_.n * o_.n + edge * per_edge_; }  ///< the edge's unknown beside its start
    Index last(Index edge) const { return first(edge) + per_edge_ - 1; }
    Index start(Index edge) const
    {
        return edge < horizontal_ ? node(edge % (o_.n - 1), edge / (o_.n - 1)) : edge - horizontal_;
    }
    Index end(Index edge) const { return start(edge) + (edge < horizontal_ ? 1 : o_.n); }

    double conductance(Index edge, Index k) const { return 1 / (o_.r * vary(edge, k, 0)); }
    double impedance(Index edge, Index k) const { return o_.r * vary(edge, k, 0) + o_.l / o_.dt * vary(edge, k, 1); }
    double capacitance(Index edge, Index k) const { return o_.c / o_.dt * vary(edge, k, 2); }

private:
    double vary(Index edge, Index k, int kind) const
    {
        const auto key = static_cast<std::uint64_t>(edge) * (static_cast<std::uint64_t>(o_.segments) + 1) +
                         static_cast<std::uint64_t>(k);
        return 1 + o_.spread * (2 * keyed_unit(3 * key + static_cast<std::uint64_t>(kind), o_.seed) - 1);
    }
    const RlcMeshOptions& o_;
    Index                 horizontal_, per_edge_;
};

void add_mesh_nodes(RowWriter& A, const RlcMesh& mesh, const RlcMeshOptions& o, Index sources)
{
    const bool dc = o.analysis == Analysis::dc;
    for (Index j = 0; j < o.n; ++j)
        for (Index i = 0; i < o.n; ++i) {
            const Index v = mesh.node(i, j);
            double      diagonal = dc ? 0 : mesh.capacitance(mesh.edges() + v, 0);
            const auto  leave = [&](Index edge) {
                const double g = mesh.conductance(edge, 0);
                A.add(mesh.first(edge), dc ? -g : 1);
                if (dc) diagonal += g;
            };
            const auto arrive = [&](Index edge) {
                const double g = mesh.conductance(edge, o.segments);
                A.add(mesh.last(edge), dc ? -g : -1);
                if (dc) diagonal += g;
            };
            if (i > 0) arrive(mesh.edge_east(i - 1, j));
            if (i + 1 < o.n) leave(mesh.edge_east(i, j));
            if (j > 0) arrive(mesh.edge_north(i, j - 1));
            if (j + 1 < o.n) leave(mesh.edge_north(i, j));
            A.add(v, diagonal);
            if ((i == 0 || i == o.n - 1) && (j == 0 || j == o.n - 1)) A.add(sources + (i > 0) + 2 * (j > 0), 1);
            A.end_row();
        }
}

/// i₀ v₀ i₁ v₁ … i_{s−1}: v_a − v_b − (R + L/dt) i = 0 and C/dt v + Σ i = 0.
void add_transient_edge(RowWriter& A, const RlcMesh& mesh, Index edge, Index segments)
{
    for (Index k = 0, i = mesh.first(edge); k < segments; ++k, i += 2) {
        A.add(k == 0 ? mesh.start(edge) : i - 1, 1);
        if (k + 1 == segments) A.add(mesh.end(edge), -1);
        A.add(i, -mesh.impedance(edge, k));
        if (k + 1 < segments) A.add(i + 1, -1);
        A.end_row();
        if (k + 1 == segments) break;
        A.add(i, -1);
        A.add(i + 1, mesh.capacitance(edge, k));
        A.add(i + 2, 1);
        A.end_row();
    }
}

/// m₀ i₀ b₀ m₁ i₁ b₁ …: a resistor before every m and one after the last b, a short from m to b carrying i.
void add_dc_edge(RowWriter& A, const RlcMesh& mesh, Index edge, Index segments)
{
    for (Index k = 0, m = mesh.first(edge); k < segments; ++k, m += 3) {
        const double before = mesh.conductance(edge, k), after = mesh.conductance(edge, k + 1);
        A.add(k == 0 ? mesh.start(edge) : m - 1, -before);
        A.add(m, before);
        A.add(m + 1, 1);
        A.end_row();
        A.add(m, 1);
        A.add(m + 2, -1);
        A.end_row();
        A.add(m + 1, -1);
        A.add(m + 2, after);
        A.add(k + 1 == segments ? mesh.end(edge) : m + 3, -after);
        A.end_row();
    }
}

/// One metal layer of power_grid(): n × n nodes, unknowns from `first` on.
struct Layer {
    Index  n, first;
    double horizontal, vertical;  ///< conductances before variation
};

std::vector<Layer> stack_layers(const PowerGridOptions& o)
{
    std::vector<Layer> stack;
    double             rows = 0, g = 1 / o.r;
    for (Index l = 0, n = o.n; l < o.layers; ++l, n = n / 2 + n % 2, g *= 4) {
        const Index first = checked_rows("power_grid", rows);
        stack.push_back({n, first, l % 2 == 0 ? g : g / 4, l % 2 == 0 ? g / 4 : g});
        rows += 1. * n * n;
    }
    checked_rows("power_grid", rows + 1. * o.pads * o.pads);
    if (o.pads > stack.back().n)
        throw InvalidOption(fmt::format("pads={}: the top layer has {} nodes a side", o.pads, stack.back().n));
    return stack;
}

/// ±20 %, the same from both ends: `a` is the lower-numbered unknown, `kind` 0 a wire east, 1 a wire north, 2 a via up.
double varied(double g, Index a, std::uint64_t kind, std::int64_t seed)
{
    return g * (0.8 + 0.4 * keyed_unit(3 * static_cast<std::uint64_t>(a) + kind, seed));
}

/// @param pads  nodes with a source, ascending; source k is unknown sources + k
void add_layer(RowWriter& A, std::span<const Layer> stack, std::size_t l, const PowerGridOptions& o,
               std::span<const Index> pads, Index sources)
{
    const Layer& layer = stack[l];
    const double via = 1 / o.via;
    for (Index j = 0; j < layer.n; ++j)
        for (Index i = 0; i < layer.n; ++i) {
            const Index v = layer.first + i + layer.n * j;
            double      diagonal = 0;
            const auto  wire = [&](Index other, double g) {
                A.add(other, -g);
                diagonal += g;
            };
            if (l > 0) {
                const Index under = stack[l - 1].first + 2 * i + stack[l - 1].n * 2 * j;
                wire(under, varied(via, under, 2, o.seed));
            }
            if (j > 0) wire(v - layer.n, varied(layer.vertical, v - layer.n, 1, o.seed));
            if (i > 0) wire(v - 1, varied(layer.horizontal, v - 1, 0, o.seed));
            if (i + 1 < layer.n) wire(v + 1, varied(layer.horizontal, v, 0, o.seed));
            if (j + 1 < layer.n) wire(v + layer.n, varied(layer.vertical, v, 1, o.seed));
            if (l + 1 < stack.size() && i % 2 == 0 && j % 2 == 0)
                wire(stack[l + 1].first + i / 2 + stack[l + 1].n * (j / 2), varied(via, v, 2, o.seed));
            A.add(v, diagonal);
            const auto pad = std::ranges::lower_bound(pads, v);
            if (pad != pads.end() && *pad == v) A.add(sources + static_cast<Index>(pad - pads.begin()), 1);
            A.end_row();
        }
}

}  // namespace

RlcMeshSize rlc_mesh_size(const RlcMeshOptions& o)
{
    validate(o);
    const double nodes = 1. * o.n * o.n, edges = 2. * o.n * (o.n - 1.), s = o.segments;
    if (o.analysis == Analysis::dc) return {nodes + edges * 3 * s + 4, nodes + edges * (8 * s + 2) + 8};
    return {nodes + edges * (2 * s - 1) + 4, nodes + edges * (6 * s - 1) + 8};
}

CsrMatrix<double> rlc_mesh(const RlcMeshOptions& o)
{
    const auto    size = rlc_mesh_size(o);
    const Index   rows = checked_rows("rlc_mesh", size.rows);
    RowWriter     A(rows, rows, size.nnz / size.rows);
    const RlcMesh mesh(o);
    add_mesh_nodes(A, mesh, o, rows - 4);
    for (Index edge = 0; edge < mesh.edges(); ++edge) {
        if (o.analysis == Analysis::dc) add_dc_edge(A, mesh, edge, o.segments);
        else add_transient_edge(A, mesh, edge, o.segments);
    }
    for (Index corner = 0; corner < 4; ++corner) {
        A.add(mesh.node(corner % 2 * (o.n - 1), corner / 2 * (o.n - 1)), 1);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> power_grid(const PowerGridOptions& o)
{
    validate(o);
    const auto         stack = stack_layers(o);
    const Layer&       top = stack.back();
    const Index        sources = top.first + top.n * top.n;
    const Index        rows = sources + o.pads * o.pads;
    std::vector<Index> pads;
    const auto place = [&](Index k) { return static_cast<Index>((2 * Offset{k} + 1) * top.n / (2 * Offset{o.pads})); };
    for (Index j = 0; j < o.pads; ++j)
        for (Index i = 0; i < o.pads; ++i) pads.push_back(top.first + place(i) + top.n * place(j));

    RowWriter A(rows, rows, 6);
    for (std::size_t l = 0; l < stack.size(); ++l) add_layer(A, stack, l, o, pads, sources);
    for (Index pad : pads) {
        A.add(pad, 1);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> mna_random(const MnaRandomOptions& o)
{
    validate(o);
    const Index  sources = static_cast<Index>(std::max(1., std::floor(o.sources * o.n)));
    const Index  rows = checked_rows("mna_random", 1. * o.n + sources);
    const auto   count = [&](double per_node) { return static_cast<Offset>(per_node * o.n); };
    const double low = 1e3 / power_of_two(o.decades * 3.321928094887362);
    Random       random(o.seed);
    const auto   conductance = [&] { return log_spread(random.unit(), low, o.decades); };
    Stamps       stamps(4 * (o.degree + o.controlled) * o.n + 2. * sources);

    for (Index node = 0; node < o.n; ++node) stamps.conductance(node, random.below(node + 1) - 1, conductance());
    for (Offset k = 0; k < count(o.degree - 1); ++k) {
        const Index a = random.below(o.n), b = random.below(o.n);
        if (a != b) stamps.conductance(a, b, conductance());
    }
    for (Offset k = 0; k < count(o.controlled); ++k) {
        const Index a = random.below(o.n), b = random.below(o.n + 1) - 1, c = random.below(o.n),
                    d = random.below(o.n + 1) - 1;
        if (a != b && c != d) stamps.controlled_current(a, b, c, d, conductance());
    }
    for (Index k = 0; k < sources; ++k)  // at distinct nodes: no loop of sources
        stamps.voltage_source(static_cast<Index>(Offset{k} * o.n / sources), -1, o.n + k);
    return stamps.matrix(rows);
}

CsrMatrix<std::complex<double>> ac_mesh(const AcMeshOptions& o)
{
    validate(o);
    using Admittance = std::complex<double>;
    const Grid   g{.nx = o.n, .ny = o.n};
    const double omega = 2 * std::numbers::pi * o.f;
    const auto   varied_by = [&](Offset element, std::uint64_t kind) {
        return 1 + o.spread * (2 * keyed_unit(3 * static_cast<std::uint64_t>(element) + kind, o.seed) - 1);
    };
    const auto edge = [&](Offset e) {
        return Admittance{1 / (o.r * varied_by(e, 0)), -1 / (omega * o.l * varied_by(e, 1))};
    };
    const Offset nodes = Offset{o.n} * o.n;
    const auto   east = [&](Index i, Index j) { return edge(g.row(i, j)); };
    const auto   north = [&](Index i, Index j) { return edge(nodes + g.row(i, j)); };
    return star_matrix("ac_mesh", g, [&](Index i, Index j, Index) {
        const Admittance none = 0;
        const Admittance w = i > 0 ? east(i - 1, j) : none, e = i + 1 < o.n ? east(i, j) : none;
        const Admittance s = j > 0 ? north(i, j - 1) : none, n = j + 1 < o.n ? north(i, j) : none;
        const Admittance ground{0, omega * o.c * varied_by(2 * nodes + g.row(i, j), 2)};
        return StarOf<Admittance>{w + e + s + n + ground, -w, -e, -s, -n};
    });
}

std::vector<Problem> circuit_problems()
{
    constexpr Traits symmetric_mna{.symmetric = true, .pattern_symmetric = true, .zero_diagonal = true};
    return {
        entry<RlcMeshOptions, rlc_mesh>(
            "rlc_mesh", "mesh of RLC chains with sources at its corners, MNA", symmetric_mna,
            "indefinite, regular; about 3 entries a row (dc: 8/3); n=100,segments=50 and so on have the sizes of rlc1 to rlc5"),
        entry<PowerGridOptions, power_grid>("power_grid", "multi-layer power grid with vias and ideal pads, MNA",
                                            symmetric_mna, "indefinite, regular; pads^2 zero diagonals"),
        entry<MnaRandomOptions, mna_random>(
            "mna_random", "random circuit with voltage and controlled sources, MNA", {.zero_diagonal = true},
            "structurally regular; entries over `decades` decades, so condition up to about 10^decades"),
        complex_entry<AcMeshOptions, ac_mesh>(
            "ac_mesh", "RLC mesh at a frequency, nodal admittances G + jwC + 1/(jwL), complex",
            {.symmetric = true, .pattern_symmetric = true},
            "regular for every f > 0; row i sums to jwC_i; Im indefinite up to sqrt(8) times the resonance 1/(2 pi sqrt(LC)), nearly singular towards f = 0"),
    };
}

}  // namespace ilux::gallery
