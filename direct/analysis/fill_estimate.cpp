#include "ilux/direct/analysis/fill_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ilux/base/tasks.hpp"
#include "ilux/direct/analysis/matrix_part.hpp"
#include "ilux/reorder/compressed_graph.hpp"

namespace ilux {
namespace {

constexpr Index  parts = 4, smaller = 4;  // how many; unknowns of a larger part over those of a smaller one
constexpr Index  least_part = 4000, most_part = 16'000;
constexpr Index  part_share = 32;         // of n
constexpr double dissection_gains = 0.7;  // flops by nested dissection over AMD's, of meshes of that size and more

AmdCounts ordered(const PatternView& A)
{
    AmdCounts counts;
    fill_reducing_order(A, Ordering::amd, &counts);
    return counts;
}

/// What parts of about one size take, added up.
struct Taken {
    double unknowns = 0, nnz = 0, flops = 0;

    void add(Index n, const AmdCounts& counts)
    {
        unknowns += n;
        nnz += 2 * counts.nnz_L + n;
        flops += 2 * counts.multiply_adds + counts.nnz_L;
    }
    friend Taken operator+(const Taken& a, const Taken& b)
    {
        return {a.unknowns + b.unknowns, a.nnz + b.nnz, a.flops + b.flops};
    }
};

/// Small parts are mostly boundary, which makes fill grow faster than it goes on.
double exponent(double large, double small, double ratio, double of_boundary, double most)
{
    const double seen = small > 0 && large > small ? std::log(large / small) / std::log(ratio) : 1;
    return std::clamp(seen - of_boundary, 1.0, most);
}

/// Where balls are laid, of n: in no proportion to the sides of a grid.
constexpr std::array<double, 3> places{0.31831, 0.57722, 0.70711};

/// Steps from a row to its nearest unknowns.
struct Ball {
    double radius = 0;     ///< 0: they are fewer than were asked for
    double dimension = 0;  ///< a ball of r steps has about r^dimension unknowns; 0: not known
};
Ball ball_around(const PatternView& A, Index seed, Index size, const NextUnknowns& next)
{
    const MatrixPart part(A, seed, size, next);
    if (part.size() < size) return {};
    const double large = part.radius(size), small = part.radius(size / smaller);
    if (!(large > small && small > 0)) return {.radius = large};
    return {large, std::max(1.0, std::log(double(smaller)) / std::log(large / small))};
}
using Balls = std::array<Ball, places.size()>;
Balls balls_of(const PatternView& A, Index size, const NextUnknowns& next = {})
{
    Balls balls;
    for_tasks(static_cast<Index>(places.size()),
              [&](Index k) { balls[k] = ball_around(A, static_cast<Index>(places[k] * A.n), size, next); });
    return balls;
}

/// The least from a few rows: from one at the boundary of a mesh it is further than from the middle.
double radius_of(const PatternView& A, Index size)
{
    double least = 0;
    for (const Ball& ball : balls_of(A, size)) {
        const double more = ball.dimension > 0 ? std::pow(double(A.n) / size, 1 / ball.dimension) : 1;
        const double all = ball.radius * more;
        if (all > 0 && (least == 0 || all < least)) least = all;
    }
    return least;
}

}  // namespace

FillEstimate estimate_fill(const Cpu& be, const PatternView& A)
{
    if (A.n == 0) return {};
    const Index size = std::clamp(A.n / part_share, std::min(A.n, least_part), most_part);
    if (size == A.n) {
        Taken whole;
        whole.add(A.n, ordered(A));
        return {.nnz = whole.nnz, .flops = whole.flops, .arcs = double(A.nnz())};
    }
    std::array<Taken, parts> large, small;
    double                   arcs_an_entry = 1, radius = 0;
    with_tasks(be, true, [&] {
        radius = radius_of(A, size);
        for_tasks(parts, [&](Index k) {
            const MatrixPart  part(A, static_cast<Index>((Offset{2} * k + 1) * A.n / (2 * parts)), size);
            const Index       few = std::max(Index{1}, part.size() / smaller);
            const PartPattern whole = part.pattern(part.size());
            large[k].add(part.size(), ordered(whole.view()));
            small[k].add(few, ordered(part.pattern(few).view()));
            if (k == parts / 2 && !whole.col.empty())
                arcs_an_entry =
                    double(compressed_graph(Cpu(1), whole.view()).graph.neighbour.size()) / double(whole.col.size());
        });
    });
    const Taken all_large = std::accumulate(large.begin(), large.end(), Taken()),
                all_small = std::accumulate(small.begin(), small.end(), Taken());
    const bool   whole = all_large.unknowns < 0.9 * parts * size;  // components are as small as that
    const double ratio = all_large.unknowns / all_small.unknowns, times = A.n / (all_large.unknowns / parts);
    FillEstimate estimate{.growth = whole ? 1 : exponent(all_large.flops, all_small.flops, ratio, 0.15, 2)};
    const double nnz_growth = whole ? 1 : exponent(all_large.nnz, all_small.nnz, ratio, 0.05, 4. / 3);
    estimate.nnz = all_large.nnz / parts * std::pow(times, nnz_growth);
    estimate.flops = all_large.flops / parts * std::pow(times, estimate.growth);
    estimate.arcs = arcs_an_entry * double(A.nnz());
    estimate.radius = radius;
    if (estimate.growth > 1.25) estimate.flops *= dissection_gains;
    return estimate;
}

double graph_dimension(const Cpu& be, const PatternView& A, const NextUnknowns& next)
{
    if (A.n < least_part) return 0;
    Balls balls;
    with_tasks(be, true, [&] { balls = balls_of(A, least_part, next); });
    std::ranges::sort(balls, {}, &Ball::dimension);
    return balls[balls.size() / 2].dimension;
}

}  // namespace ilux
