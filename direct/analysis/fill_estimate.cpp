#include "ilux/direct/analysis/fill_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <unordered_set>
#include <vector>

#include "ilux/base/tasks.hpp"
#include "ilux/reorder/compressed_graph.hpp"

namespace ilux {
namespace {

constexpr Index parts = 4, smaller = 4;            // how many; unknowns of a larger part over those of a smaller one
constexpr Index least_part = 4000, most_part = 16'000;
constexpr Index part_share = 32;                   // of n
constexpr double dissection_gains = 0.7;           // flops by nested dissection over AMD's, of meshes of that size and more

/// The unknowns that a breadth-first search meets first, without hubs.
class Part {
public:
    Part(const PatternView& A, Index seed, Index size, Offset dense) : A_(A)
    {
        meet(seed);
        for (std::size_t k = 0; k < met_.size() && std::ssize(met_) < size; ++k)
            for (Offset p = A.row_ptr[met_[k]]; p < A.row_ptr[met_[k] + 1] && std::ssize(met_) < size; ++p)
                if (const Index j = A.col[p]; A.row_ptr[j + 1] - A.row_ptr[j] <= dense) meet(j);
    }
    Index size() const { return static_cast<Index>(met_.size()); }

    /// @param first  so many of the unknowns
    AmdCounts ordered(Index first) const
    {
        const Pattern part = pattern(sorted(first));
        AmdCounts     counts;
        fill_reducing_order({first, part.row_ptr, part.col}, Ordering::amd, &counts);
        return counts;
    }
    /// Arcs of the compressed graph for each entry.
    double arcs_an_entry() const
    {
        const Pattern part = pattern(sorted(size()));
        const auto    c = compressed_graph(Cpu(1), {size(), part.row_ptr, part.col});
        return part.col.empty() ? 0 : double(c.graph.neighbour.size()) / double(part.col.size());
    }

private:
    struct Pattern {
        std::vector<Offset> row_ptr{0};
        std::vector<Index>  col;
    };

    void meet(Index v)
    {
        if (seen_.insert(v).second) met_.push_back(v);
    }
    /// The first unknowns in the order of A, which tells nodes.
    std::vector<Index> sorted(Index first) const
    {
        std::vector<Index> unknowns(met_.begin(), met_.begin() + first);
        std::ranges::sort(unknowns);
        return unknowns;
    }
    Pattern pattern(std::span<const Index> unknowns) const
    {
        Pattern part;
        for (const Index v : unknowns) {
            auto at = unknowns.begin();
            for (Offset p = A_.row_ptr[v]; p < A_.row_ptr[v + 1]; ++p) {  // both ascend
                at = std::lower_bound(at, unknowns.end(), A_.col[p]);
                if (at != unknowns.end() && *at == A_.col[p])
                    part.col.push_back(static_cast<Index>(at - unknowns.begin()));
            }
            part.row_ptr.push_back(static_cast<Offset>(part.col.size()));
        }
        return part;
    }

    const PatternView&        A_;
    std::vector<Index>        met_;
    std::unordered_set<Index> seen_;
};

/// What parts of about one size take, added up.
struct Taken {
    double unknowns = 0, nnz = 0, flops = 0;

    void add(Index n, const AmdCounts& counts)
    {
        unknowns += n;
        nnz += 2 * counts.nnz_L + n;
        flops += 2 * counts.multiply_adds + counts.nnz_L;
    }
};

/// Small parts are mostly boundary, which makes fill grow faster than it goes on.
double exponent(double large, double small, double ratio, double of_boundary, double most)
{
    const double seen = small > 0 && large > small ? std::log(large / small) / std::log(ratio) : 1;
    return std::clamp(seen - of_boundary, 1.0, most);
}

}  // namespace

FillEstimate estimate_fill(const Cpu& be, const PatternView& A)
{
    if (A.n == 0) return {};
    const auto  dense = static_cast<Offset>(std::max(16.0, 10 * std::sqrt(double(A.n))));
    const Index size = std::clamp(A.n / part_share, std::min(A.n, least_part), most_part);
    if (size == A.n) {
        Taken     whole;
        AmdCounts counts;
        fill_reducing_order(A, Ordering::amd, &counts);
        whole.add(A.n, counts);
        return {.nnz = whole.nnz, .flops = whole.flops, .arcs = double(A.nnz())};
    }
    std::array<Taken, parts> large, small;
    double                   arcs_an_entry = 1;
    with_tasks(be, true, [&] {
        for_tasks(parts, [&](Index k) {
            const Part part(A, static_cast<Index>((Offset{2} * k + 1) * A.n / (2 * parts)), size, dense);
            const Index few = std::max(Index{1}, part.size() / smaller);
            large[k].add(part.size(), part.ordered(part.size()));
            small[k].add(few, part.ordered(few));
            if (k == parts / 2) arcs_an_entry = part.arcs_an_entry();
        });
    });
    Taken all_large, all_small;
    for (Index k = 0; k < parts; ++k) {
        for (const auto& [sum, one] : {std::pair{&all_large, &large[k]}, std::pair{&all_small, &small[k]}}) {
            sum->unknowns += one->unknowns;
            sum->nnz += one->nnz;
            sum->flops += one->flops;
        }
    }
    const bool   whole = all_large.unknowns < 0.9 * parts * size;  // components are as small as that
    const double ratio = all_large.unknowns / all_small.unknowns, times = A.n / (all_large.unknowns / parts);
    FillEstimate estimate{.growth = whole ? 1 : exponent(all_large.flops, all_small.flops, ratio, 0.15, 2)};
    const double nnz_growth = whole ? 1 : exponent(all_large.nnz, all_small.nnz, ratio, 0.05, 4. / 3);
    estimate.nnz = all_large.nnz / parts * std::pow(times, nnz_growth);
    estimate.flops = all_large.flops / parts * std::pow(times, estimate.growth);
    estimate.arcs = arcs_an_entry * double(A.nnz());
    if (estimate.growth > 1.25) estimate.flops *= dissection_gains;
    return estimate;
}

}  // namespace ilux
