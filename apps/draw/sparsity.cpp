#include "ilux/apps/draw/sparsity.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/draw/plot.hpp"

namespace ilux::app {
namespace {

constexpr Index most_cells = 160;  // a cell is two pixels of a phone; three pictures of noise are 0.5 MB
constexpr int   shades = 5;

/// 0 for an empty cell, else 1 to `shades`, by the logarithm of the count.
int shade(Offset count, Offset most)
{
    if (count == 0) return 0;
    if (count == most) return shades;
    return 1 + static_cast<int>((shades - 1) * std::log(double(count)) / std::log(double(most)));
}

}  // namespace

SparsityGrid::SparsityGrid(Index n)
    : n_(n), cells_(std::min(n, most_cells)), count_(static_cast<std::size_t>(cells_) * cells_)
{}

std::string to_svg(const SparsityGrid& grid, const std::string& label, std::span<const Index> cuts)
{
    const Index size = std::max(grid.cells(), 1);
    Offset      most = 0;
    for (Index i = 0; i < grid.cells(); ++i)
        for (Index j = 0; j < grid.cells(); ++j) most = std::max(most, grid.count(i, j));

    std::array<std::string, shades + 1> paths;
    for (Index i = 0; i < grid.cells(); ++i)
        for (Index j = 0, end = 0; j < grid.cells(); j = end) {
            const int now = shade(grid.count(i, j), most);
            for (end = j + 1; end < grid.cells() && shade(grid.count(i, end), most) == now;) ++end;
            if (now > 0) paths[now] += fmt::format("M{} {}h{}", j, i, end - j);
        }

    std::string svg =
        fmt::format("<svg class=\"sparsity\" viewBox=\"0 -0.5 {0} {0}\" role=\"img\" aria-label=\"{1}\">\n", size,
                    escaped(label));
    for (int k = 1; k <= shades; ++k)
        if (!paths[k].empty()) svg += fmt::format("<path class=\"s{}\" d=\"{}\"/>\n", k, paths[k]);
    for (const Index cut : cuts) {
        if (cut <= 0 || cut >= grid.n()) continue;
        const double at = double(cut) * grid.cells() / grid.n();
        svg += fmt::format("<path class=\"cut\" d=\"M{0:.2f} -0.5v{1}M0 {2:.2f}h{1}\"/>\n", at, size, at - 0.5);
    }
    return svg + "</svg>\n";
}

}  // namespace ilux::app
