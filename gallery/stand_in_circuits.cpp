// Stand-ins that are networks or random walks rather than grids of a PDE.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/stamps.hpp"
#include "ilux/gallery/stand_ins.hpp"

namespace ilux::gallery {
namespace {

Index scaled_count(double count, double scale)
{
    return std::max<Index>(2, static_cast<Index>(std::lround(count * scale)));
}

/// Radices of the mixed-radix numbers below about n: 3, 3, 3, then fours, the last one fitted to n.
std::vector<Index> cage_alphabet(double n)
{
    std::vector<Index> radices{3, 3, 3};
    n /= 27;
    for (; n >= 6; n /= 4) radices.push_back(4);
    if (std::lround(n) >= 2) radices.push_back(static_cast<Index>(std::lround(n)));
    return radices;
}

/// Two unknowns a cell, 10 cells an airway; airway a > 0 hangs on airway (a − 1)/2.
struct AirwayTree {
    static constexpr Index cells = 10;
    Index                  airways;
    Index                  temperature(Index airway, Index cell) const { return 2 * (airway * cells + cell); }
    Index parent_of(Index airway, Index cell) const  ///< the temperature one cell upstream, −1 at the mouth
    {
        if (cell > 0) return temperature(airway, cell - 1);
        return airway == 0 ? -1 : temperature((airway - 1) / 2, cells - 1);
    }
    std::array<Index, 2> children_of(Index airway, Index cell) const  ///< one or two cells downstream, else −1
    {
        if (cell + 1 < cells) return {temperature(airway, cell + 1), -1};
        const auto start = [&](Index child) { return child < airways ? temperature(child, 0) : -1; };
        return {start(2 * airway + 1), start(2 * airway + 2)};
    }
};

/// Row of one field: upstream −(d + v), downstream −d each, exchange with the other field; strictly dominant.
void add_airway_row(RowWriter& A, const AirwayTree& tree, Index airway, Index cell, bool moisture, double speed)
{
    const Index  self = tree.temperature(airway, cell) + moisture, up = tree.parent_of(airway, cell);
    const double diffusion = moisture ? 0.9 : 1, exchange = moisture ? 0.2 : 0.3;
    double       diagonal = 0.05 * (1 + keyed_unit(static_cast<std::uint64_t>(self), 7));
    const auto   flow = [&](Index column, double rate) {
        A.add(column, -rate);
        diagonal += rate;
    };
    if (up >= 0) flow(up + moisture, diffusion + speed);
    else diagonal += diffusion + speed;
    for (Index down : tree.children_of(airway, cell))
        if (down >= 0) flow(down + moisture, diffusion);
    flow(moisture ? self - 1 : self + 1, exchange);
    if (moisture && up >= 0) flow(up, 0.1);  // air from upstream carries its heat of evaporation
    A.add(self, diagonal);
    A.end_row();
}

}  // namespace

CsrMatrix<double> like_ASIC_320ks(const StandInOptions& o)
{
    validate(o);
    const Index n = scaled_count(321671, o.scale);
    Random      random(11);
    Stamps      stamps(12. * n);
    const auto  nearby = [&](Index node) {  // mostly within 8 places, now and then anywhere before
        const Index reach = std::min(node, random.unit() < 0.02 ? node : 8);
        return node - 1 - random.below(std::max(reach, 1));
    };
    for (Index node = 0; node < n; ++node) {
        stamps.entry(node, node, 1e-3 + random.unit());  // capacitor to ground over the time step
        if (node == 0) continue;
        stamps.conductance(node, nearby(node), log_spread(random.unit(), 1e-4, 6));
        if (random.unit() < 0.60 && node > 2) {
            const Index source = nearby(node), gate = nearby(node);
            stamps.conductance(node, source, log_spread(random.unit(), 1e-4, 4));
            if (gate >= 0 && gate != source && source >= 0)
                stamps.controlled_current(node, source, gate, source, log_spread(random.unit(), 1e-3, 3));
        }
        if (random.unit() < 0.45) stamps.conductance(node, nearby(node), log_spread(random.unit(), 1e-4, 4));
    }
    for (Index net = 0; net < 4; ++net) {
        const Index rail = static_cast<Index>(Offset{2 * net + 1} * n / 8);
        for (Index k = 0; k < n / 40; ++k) {
            const Index node = random.below(n);
            if (node != rail) stamps.conductance(rail, node, log_spread(random.unit(), 1e-2, 2));
        }
    }
    return stamps.matrix(n);
}

CsrMatrix<double> like_cage13(const StandInOptions& o)
{
    validate(o);
    const auto radices = cage_alphabet(445315 * o.scale);
    double     size = 1;
    for (Index radix : radices) size *= radix;
    const Index  n = checked_rows("like_cage13", size);
    const double rate =
        0.35 / (2. * static_cast<double>(radices.size()));  // at most 2 hops a letter, each below 1.43 rate
    RowWriter A(n, n, 17.5);
    for (Index row = 0; row < n; ++row) {
        double stay = 1;
        Index  stride = 1, rest = row;
        for (std::size_t place = 0; place < radices.size(); ++place) {
            const Index radix = radices[place], letter = rest % radix;
            const bool  cyclic = place < 2;
            const auto  hop = [&](Index to, double bias) {
                const Index  col = row + (to - letter) * stride;
                const double p =
                    rate * bias *
                    (0.9 +
                     0.2 * keyed_unit(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col), 13));
                A.add(col, p);
                stay -= p;
            };
            if (letter > 0 || cyclic) hop(letter > 0 ? letter - 1 : radix - 1, 0.7);
            if (letter + 1 < radix || cyclic) hop(letter + 1 < radix ? letter + 1 : 0, 1.3);
            stride *= radix;
            rest /= radix;
        }
        A.add(row, stay);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> like_ecology2(const StandInOptions& o)
{
    validate(o);
    const Index side = scaled_count(1000, std::sqrt(o.scale));
    const Grid  g{.nx = side, .ny = side};
    const Index ground = g.row(side / 2, side / 2);
    const auto  permeability = [](Index i, Index j) {
        const auto patch = static_cast<std::uint64_t>(i / 25) + (static_cast<std::uint64_t>(j / 25) << 20);
        const auto cell = static_cast<std::uint64_t>(i) + (static_cast<std::uint64_t>(j) << 20);
        return log_spread(keyed_unit(patch, 5), 1, 1.5) * (0.5 + keyed_unit(cell, 6));
    };
    RowWriter A(side * side - 1, side * side - 1, 5);
    for (Index j = 0; j < side; ++j)
        for (Index i = 0; i < side; ++i) {
            if (g.row(i, j) == ground) continue;
            const double here = permeability(i, j);
            double       diagonal = 0;
            const auto   edge = [&](bool inside, Index i2, Index j2) {
                if (!inside) return;
                const double c = (here + permeability(i2, j2)) / 2;
                const Index  col = g.row(i2, j2);
                diagonal += c;
                if (col != ground) A.add(col - (col > ground), -c);
            };
            edge(j > 0, i, j - 1);
            edge(i > 0, i - 1, j);
            edge(i + 1 < side, i + 1, j);
            edge(j + 1 < side, i, j + 1);
            A.add(g.row(i, j) - (g.row(i, j) > ground), diagonal);
            A.end_row();
        }
    return std::move(A).finish();
}

CsrMatrix<double> like_G3_circuit(const StandInOptions& o)
{
    validate(o);
    const Grid      g{.nx = scaled_count(1258, std::sqrt(o.scale)), .ny = scaled_count(1260, std::sqrt(o.scale))};
    const Index     n = g.nx * g.ny;
    constexpr Index across = 0x1400;  // r and r ^ across are partners: an involution needs no list of links
    RowWriter       A(n, n, 5);
    for (Index r = 0; r < n; ++r) {
        const Index i = r % g.nx, j = r / g.nx;
        double      diagonal = 1e-4;  // leakage
        const auto  wire = [&](bool inside, Index other, std::uint64_t kind, double share) {
            if (!inside) return;
            const auto key = 3 * static_cast<std::uint64_t>(std::min(r, other)) + kind;
            if (keyed_unit(key, 3) >= share) return;
            const double c = log_spread(keyed_unit(key, 4), 0.03, 3);
            A.add(other, -c);
            diagonal += c;
        };
        wire(j > 0, r - g.nx, 0, 0.94);
        wire(i > 0, r - 1, 1, 0.94);
        wire(i + 1 < g.nx, r + 1, 1, 0.94);
        wire(j + 1 < g.ny, r + g.nx, 0, 0.94);
        wire((r ^ across) < n, r ^ across, 2, 0.07);
        if (keyed_unit(static_cast<std::uint64_t>(r), 14) < 1e-3) diagonal += 10;  // pad
        A.add(r, diagonal);
        A.end_row();
    }
    return std::move(A).finish();
}

CsrMatrix<double> like_lung2(const StandInOptions& o)
{
    validate(o);
    const AirwayTree tree{scaled_count(109460. / (2 * AirwayTree::cells), o.scale)};
    const Index      n = 2 * AirwayTree::cells * tree.airways;
    RowWriter        A(n, n, 4.5);
    double           speed = 5;
    for (Index airway = 0; airway < tree.airways; ++airway) {
        if ((airway & (airway + 1)) == 0 && airway > 0)
            speed *= 0.8;  // airway 2^g − 1 opens generation g: wider, slower
        for (Index cell = 0; cell < AirwayTree::cells; ++cell)
            for (bool moisture : {false, true}) add_airway_row(A, tree, airway, cell, moisture, speed);
    }
    return std::move(A).finish();
}

}  // namespace ilux::gallery
