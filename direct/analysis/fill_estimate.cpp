#include "ilux/direct/analysis/fill_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "ilux/base/tasks.hpp"

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
        std::vector<Offset> row_ptr{0};
        std::vector<Index>  col;
        for (Index k = 0; k < first; ++k) {
            for (Offset p = A_.row_ptr[met_[k]]; p < A_.row_ptr[met_[k] + 1]; ++p)
                if (const auto at = number_.find(A_.col[p]); at != number_.end() && at->second < first)
                    col.push_back(at->second);
            std::sort(col.begin() + row_ptr.back(), col.end());
            row_ptr.push_back(static_cast<Offset>(col.size()));
        }
        AmdCounts counts;
        fill_reducing_order({first, row_ptr, col}, Ordering::amd, &counts);
        return counts;
    }

private:
    void meet(Index v)
    {
        if (number_.try_emplace(v, static_cast<Index>(met_.size())).second) met_.push_back(v);
    }

    const PatternView&               A_;
    std::vector<Index>               met_;
    std::unordered_map<Index, Index> number_;
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
        Taken whole;
        AmdCounts counts;
        fill_reducing_order(A, Ordering::amd, &counts);
        whole.add(A.n, counts);
        return {whole.nnz, whole.flops, 1};
    }
    std::array<Taken, parts> large, small;
    with_tasks(be, true, [&] {
        for_tasks(parts, [&](Index k) {
            const Part part(A, static_cast<Index>((Offset{2} * k + 1) * A.n / (2 * parts)), size, dense);
            const Index few = std::max(Index{1}, part.size() / smaller);
            large[k].add(part.size(), part.ordered(part.size()));
            small[k].add(few, part.ordered(few));
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
    if (estimate.growth > 1.25) estimate.flops *= dissection_gains;
    return estimate;
}

}  // namespace ilux
