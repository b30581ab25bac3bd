// Stand-ins that discretise a PDE; those of networks and random walks are in stand_in_circuits.cpp.

#include "ilux/gallery/stand_ins.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ilux/gallery/assemble.hpp"
#include "ilux/gallery/fem.hpp"
#include "ilux/gallery/table.hpp"

namespace ilux::gallery {
namespace {

/// A grid's dimension d times smaller in volume: `points`·scale^(1/d), at least 2.
Index scaled(Index points, double scale, int d)
{
    const double factor = d == 3 ? std::cbrt(scale) : d == 2 ? std::sqrt(scale) : scale;
    return std::max<Index>(2, static_cast<Index>(std::lround(points * factor)));
}

std::uint64_t cell_key(Index i, Index j, Index k = 0)
{
    return static_cast<std::uint64_t>(i) + (static_cast<std::uint64_t>(j) << 20) +
           (static_cast<std::uint64_t>(k) << 40);
}

}  // namespace

std::span<const PublishedSize> published()
{
    static constexpr std::array<PublishedSize, 10> all{{
        {"like_apache2", 715176, 2 * 2766523 - 715176},
        {"like_ASIC_320ks", 321671, 1827807},
        {"like_atmosmodd", 1270432, 8814880},
        {"like_cage13", 445315, 7479343},
        {"like_ecology2", 999999, 2 * 2997995 - 999999},
        {"like_G3_circuit", 1585478, 2 * 4623152 - 1585478},
        {"like_lung2", 109460, 492564},
        {"like_parabolic_fem", 525825, 2 * 2100225 - 525825},
        {"like_ship_003", 121728, 2 * 4103881 - 121728},
        {"like_thermomech_dK", 204316, 2846228},
    }};
    return all;
}

CsrMatrix<double> like_apache2(const StandInOptions& o)
{
    validate(o);
    const Grid g{.nx = scaled(8, o.scale, 3), .ny = scaled(297, o.scale, 3), .nz = scaled(301, o.scale, 3)};
    const auto a = [](Index i, Index j, Index k) {  // layers in x, patches of 16 × 16 across
        return log_spread(keyed_unit(cell_key(i, j / 16, k / 16), 2), 0.03, 3);
    };
    return star_matrix("like_apache2", g, [&](Index i, Index j, Index k) {
        const double here = a(i, j, k);
        const auto   face = [&](bool inside, Index di, Index dj, Index dk) {
            return inside ? harmonic_mean(here, a(i + di, j + dj, k + dk)) : 0;
        };
        const double w = i > 0 ? face(true, -1, 0, 0) : here;  // held at x = 0, free elsewhere
        const double e = face(i + 1 < g.nx, 1, 0, 0);
        const double s = face(j > 0, 0, -1, 0), n = face(j + 1 < g.ny, 0, 1, 0);
        const double b = face(k > 0, 0, 0, -1), t = face(k + 1 < g.nz, 0, 0, 1);
        return Star{w + e + s + n + b + t, -w, -e, -s, -n, -b, -t};
    });
}

CsrMatrix<double> like_atmosmodd(const StandInOptions& o)
{
    validate(o);
    const Grid       g{.nx = scaled(148, o.scale, 3), .ny = scaled(148, o.scale, 3), .nz = scaled(58, o.scale, 3)};
    constexpr double vertical = 20;  // cells are flat: diffusion counts for more upwards
    return star_matrix("like_atmosmodd", g, [&](Index i, Index j, Index k) {
        const double x = (i + 1.) / (g.nx + 1), y = (j + 1.) / (g.ny + 1), z = (k + 1.) / (g.nz + 1);
        const double bx = 20 * z, by = 10 * (1 - 2 * z), bz = 5 * (1 - 2 * x) * (1 - 2 * y) * 4 * z * (1 - z);
        Star         s{.center = 4 + 2 * vertical + std::abs(bx) + std::abs(by) + std::abs(bz),
                       .west = -1 - std::max(bx, 0.),
                       .east = -1 + std::min(bx, 0.),
                       .south = -1 - std::max(by, 0.),
                       .north = -1 + std::min(by, 0.),
                       .below = -vertical - std::max(bz, 0.),
                       .above = -vertical + std::min(bz, 0.)};
        if (k == 0) s.center += s.below;         // no flux through the ground
        if (k + 1 == g.nz) s.center += s.above;  // nor through the top
        return s;
    });
}

CsrMatrix<double> like_parabolic_fem(const StandInOptions& o)
{
    validate(o);
    const CellGrid<2> grid{.cells = {scaled(1025, o.scale, 2) - 1, scaled(513, o.scale, 2) - 1}};
    const double      h = 1. / grid.cells[1], dt = 1e-3;
    CellMatrix<2, 1>  mass, stiffness;
    for (const auto& triangle : p1_triangles(h, h))
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                const auto &p = triangle.gradient[a], &q = triangle.gradient[b];
                mass(triangle.corner[a], triangle.corner[b]) += h * h / 24 * (a == b ? 2 : 1);
                stiffness(triangle.corner[a], triangle.corner[b]) += h * h / 2 * (p[0] * q[0] + p[1] * q[1]);
            }
    return assemble_cells<2, 1, true>("like_parabolic_fem", grid, [&](const auto& e) {
        const double diffusivity = dt * (0.5 + keyed_unit(cell_key(e[0], e[1]), 8));
        return [&mass, &stiffness, diffusivity](int a, int b) { return mass(a, b) + diffusivity * stiffness(a, b); };
    });
}

CsrMatrix<double> like_ship_003(const StandInOptions& o)
{
    validate(o);
    const CellGrid<3> grid{.cells = {scaled(317, o.scale, 3), scaled(32, o.scale, 3) - 1, scaled(4, o.scale, 3) - 1},
                           .clamped = true};
    const auto        K = q1_elasticity<3>({1, 1, 0.05}, 0.3);
    return assemble_cells<3, 3, false>("like_ship_003", grid, [&](const auto& e) {
        const bool   stiffener = e[0] % 16 == 0 || e[1] % 8 == 0;
        const double young = (stiffener ? 100 : 1) * (0.5 + keyed_unit(cell_key(e[0], e[1], e[2]), 9));
        return [&K, young](int a, int b) { return young * K(a, b); };
    });
}

CsrMatrix<double> like_thermomech_dK(const StandInOptions& o)
{
    validate(o);
    const CellGrid<2> grid{.cells = {scaled(319, o.scale, 2) - 1, scaled(320, o.scale, 2) - 1}};
    constexpr double  nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu)), foundation = 1e-6;
    CellMatrix<2, 2>  K, thermal;
    for (const auto& triangle : p1_triangles(1, 1))
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                const auto&  p = triangle.gradient[a];
                const auto&  q = triangle.gradient[b];
                const double pq = p[0] * q[0] + p[1] * q[1];
                for (int s = 0; s < 2; ++s)
                    for (int t = 0; t < 2; ++t) {
                        const int row = 2 * triangle.corner[a] + s, col = 2 * triangle.corner[b] + t;
                        K(row, col) += (lambda * p[s] * q[t] + mu * (p[t] * q[s] + (s == t ? pq : 0))) / 2;
                        thermal(row, col) += q[t] / 6;  // ∫ N_a ∂_t N_b: the force that heat from compression exerts
                        if (row == col) K(row, col) += foundation / 6;
                    }
            }
    return assemble_cells<2, 2, true>("like_thermomech_dK", grid, [&](const auto& e) {
        const double young = log_spread(keyed_unit(cell_key(e[0] / 20, e[1] / 20), 10), 0.01, 4);
        return [&K, &thermal, young](int a, int b) { return young * (K(a, b) + 0.1 * thermal(a, b)); };
    });
}

std::vector<Problem> stand_in_problems()
{
    constexpr Traits     spd{.symmetric = true, .pattern_symmetric = true, .positive_definite = true};
    constexpr Traits     spd_m{.symmetric = true,
                               .pattern_symmetric = true,
                               .positive_definite = true,
                               .m_matrix = true,
                               .dominant = true};
    constexpr Traits     transport{.pattern_symmetric = true, .m_matrix = true, .dominant = true};
    std::vector<Problem> all{
        entry<StandInOptions, like_apache2>("like_apache2", "3-D structural finite differences, thin layered slab",
                                            spd_m, ""),
        entry<StandInOptions, like_ASIC_320ks>("like_ASIC_320ks", "logic circuit with power nets", {},
                                               "4 dense rows and columns, regular diagonal"),
        entry<StandInOptions, like_atmosmodd>("like_atmosmodd", "3-D atmospheric convection-diffusion", transport, ""),
        entry<StandInOptions, like_cage13>("like_cage13", "biased random walk on strings (DNA electrophoresis)",
                                           {.pattern_symmetric = true, .dominant = true},
                                           "stochastic: row sums 1, diagonal at least 1/2"),
        entry<StandInOptions, like_ecology2>("like_ecology2", "landscape conductances, 2-D grid, one node grounded",
                                             spd_m, ""),
        entry<StandInOptions, like_G3_circuit>("like_G3_circuit", "irregular resistive circuit", spd_m, ""),
        entry<StandInOptions, like_lung2>("like_lung2", "heat and moisture transport along airways",
                                          {.m_matrix = true, .dominant = true}, "long dependency chains"),
        entry<StandInOptions, like_parabolic_fem>("like_parabolic_fem",
                                                  "one implicit step of the heat equation, linear triangles", spd, ""),
        entry<StandInOptions, like_ship_003>("like_ship_003", "thin stiffened plate of 3-D bricks, clamped", spd,
                                             "ill-conditioned"),
        entry<StandInOptions, like_thermomech_dK>("like_thermomech_dK",
                                                  "thermo-mechanical triangles, nearly unsupported",
                                                  {.pattern_symmetric = true}, "ill-conditioned"),
    };
    for (auto& problem : all) {
        problem.stand_in = true;
        problem.summary = "STAND-IN, not the published matrix: " + problem.summary;
    }
    return all;
}

}  // namespace ilux::gallery
