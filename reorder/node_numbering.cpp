#include "ilux/reorder/node_numbering.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ilux::detail {
namespace {

constexpr std::array<Index, 4> sizes{6, 4, 3, 2};
constexpr Index                sampled = 500;      // nodes
constexpr double               most_zeros = 1.75;  // entries of joined nodes over those of A
constexpr double               apart = 1.15;       // the same over that of groups that begin elsewhere, at least

std::span<const Index> row_of(const PatternView& A, Index i)
{
    return A.col.subspan(A.row_ptr[i], A.row_ptr[i + 1] - A.row_ptr[i]);
}

/// Entries of joined nodes over those of A, of a sample. @param shift  groups begin so many unknowns later
double entries_if_joined(const PatternView& A, const NodeNumbering& numbering, Index shift)
{
    const Index        nodes = numbering.nodes() - 1, step = std::max<Index>(1, nodes / sampled);
    const auto         node = [&](Index v) { return v < shift ? -1 : numbering.node(v - shift); };
    std::vector<Index> joined;
    double             entries = 0, full = 0;
    for (Index k = 0; k < nodes; k += step) {
        joined.assign(1, k);
        for (Index m = 0; m < numbering.size; ++m) {
            const Index v = numbering.member(k, m) + shift;
            entries += 1;
            for (const Index u : row_of(A, v)) {
                entries += u != v;
                joined.push_back(node(u));
            }
        }
        std::ranges::sort(joined);
        full += double(numbering.size) * numbering.size *
                double(std::unique(joined.begin(), joined.end()) - joined.begin());
    }
    return entries > 0 ? full / entries : most_zeros + 1;
}

bool holds(const PatternView& A, NodeNumbering& numbering)
{
    const double zeros = numbering.entries = entries_if_joined(A, numbering, 0);
    if (zeros > most_zeros) return false;
    for (Index shift = 1; numbering.together && shift < numbering.size; ++shift)
        if (entries_if_joined(A, numbering, shift) < apart * zeros) return false;
    return true;
}

}  // namespace

NodeNumbering find_nodes(const PatternView& A)
{
    constexpr Index least = 8;  // nodes
    for (const Index size : sizes) {
        if (A.n % size != 0 || A.n < least * size) continue;
        for (const bool together : {true, false}) {
            NodeNumbering numbering{A.n, size, together};
            if (holds(A, numbering)) return numbering;
        }
    }
    return {.n = A.n};
}

}  // namespace ilux::detail
