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
    double unknowns = 0, nnz = 0, flops = 0, radius = 0;

    void add(Index n, double steps, const AmdCounts& counts)
    {
        unknowns += n;
        radius += steps;
        nnz += 2 * counts.nnz_L + n;
        flops += 2 * counts.multiply_adds + counts.nnz_L;
    }
    friend Taken operator+(const Taken& a, const Taken& b)
    {
        return {a.unknowns + b.unknowns, a.nnz + b.nnz, a.flops + b.flops, a.radius + b.radius};
    }
};

/// Small parts are mostly boundary, which makes fill grow faster than it goes on.
double exponent(double large, double small, double ratio, double of_boundary, double most)
{
    const double seen = small > 0 && large > small ? std::log(large / small) / std::log(ratio) : 1;
    return std::clamp(seen - of_boundary, 1.0, most);
}

/// A ball of r steps has about r^d unknowns.
double radius_of(double large, double small, double ratio, double times)
{
    if (!(large > small && small > 0)) return large;
    const double dimension = std::max(1.0, std::log(ratio) / std::log(large / small));
    return large * std::pow(times, 1 / dimension);
}

}  // namespace

FillEstimate estimate_fill(const Cpu& be, const PatternView& A)
{
    if (A.n == 0) return {};
    const Index size = std::clamp(A.n / part_share, std::min(A.n, least_part), most_part);
    if (size == A.n) {
        Taken whole;
        whole.add(A.n, 0, ordered(A));
        return {.nnz = whole.nnz, .flops = whole.flops, .arcs = double(A.nnz())};
    }
    std::array<Taken, parts> large, small;
    double                   arcs_an_entry = 1;
    with_tasks(be, true, [&] {
        for_tasks(parts, [&](Index k) {
            const MatrixPart  part(A, static_cast<Index>((Offset{2} * k + 1) * A.n / (2 * parts)), size);
            const Index       few = std::max(Index{1}, part.size() / smaller);
            const PartPattern whole = part.pattern(part.size());
            large[k].add(part.size(), part.radius(part.size()), ordered(whole.view()));
            small[k].add(few, part.radius(few), ordered(part.pattern(few).view()));
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
    estimate.radius =
        whole ? all_large.radius / parts : radius_of(all_large.radius / parts, all_small.radius / parts, ratio, times);
    if (estimate.growth > 1.25) estimate.flops *= dissection_gains;
    return estimate;
}

}  // namespace ilux
