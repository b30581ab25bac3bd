#include "ilux/direct/dataflow/dense_tail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

/// Seconds on an H200.
namespace tail_cost {
constexpr double level = 0.8e-6;  // of dot products
/// Behind the dot products, of 0, 32, 64, … columns: a launch alone less 4.5 µs.
constexpr Index  columns = 32;
constexpr double elimination[] = {1.5e-6, 3.2e-6, 8.8e-6, 15.2e-6, 25.6e-6, 39.1e-6};
constexpr double least_gain = 0.05;
}  // namespace tail_cost
constexpr Index tail_step = 16;  // sizes that are looked at

double tail_seconds(Index size)
{
    static_assert(std::size(tail_cost::elimination) == TailColumns::most / tail_cost::columns + 1);
    if (size == 0) return 0;
    const Index  at = (size - 1) / tail_cost::columns;
    const double share = double(size - at * tail_cost::columns) / tail_cost::columns;
    return std::lerp(tail_cost::elimination[at], tail_cost::elimination[at + 1], share);
}

/// Levels of the columns of a range.
Index depth(const LuLevels& levels, Index first, Index last)
{
    Index deepest = 0;
    for (Index k = first; k < last; ++k) deepest = std::max(deepest, levels.level_of[k] + 1);
    return deepest;
}

}  // namespace

TailColumns choose_dense_tail(const LuPattern& pattern)
{
    return choose_dense_tail(pattern, lu_levels(pattern, DependencyRule::left));
}

TailColumns choose_dense_tail(const LuPattern& pattern, const LuLevels& levels)
{
    Index deepest = 0, block = 0, others = 0;  // `others`: the second deepest
    for (Index b = 0; b < pattern.blocks(); ++b) {
        const Index own = depth(levels, pattern.block_ptr[b], pattern.block_ptr[b + 1]);
        if (own > deepest) block = b;
        others = std::max(others, std::min(own, deepest));
        deepest = std::max(deepest, own);
    }
    if (deepest == 0) return {};
    const Index  first = pattern.block_ptr[block], last = pattern.block_ptr[block + 1];
    const double whole = deepest * tail_cost::level;
    double       best = (1 - tail_cost::least_gain) * whole;
    TailColumns  tail;
    for (Index size = tail_step; size <= std::min(TailColumns::most, last - first); size += tail_step) {
        const Index  left = std::max(others, depth(levels, first, last - size));
        const double seconds = left * tail_cost::level + tail_seconds(size);
        if (seconds >= best) continue;
        best = seconds;
        tail = {last - size, size};
    }
    return tail;
}

void require_tail(const LuPattern& pattern, TailColumns tail)
{
    if (tail.empty()) return;
    const Index last = tail.first + tail.size;
    const auto  end = std::ranges::lower_bound(pattern.block_ptr, last);
    const bool  ends = end != pattern.block_ptr.begin() && end != pattern.block_ptr.end() && *end == last;
    require(ends && tail.size > 0 && tail.size <= TailColumns::most && tail.first >= *(end - 1), [&] {
        return fmt::format("tail of {} columns from column {}: expected at most {} at the end of a diagonal block",
                           tail.size, tail.first, TailColumns::most);
    });
}

DenseTail dense_tail(const LuPattern& pattern, TailColumns tail, std::span<const DataflowProgram::Slot> slot_of)
{
    require_tail(pattern, tail);
    const auto m = static_cast<std::size_t>(tail.size);
    DenseTail  dense{tail.size, std::vector<DataflowProgram::Slot>(m * m, DataflowProgram::zero_slot)};
    for (std::size_t k = 0; k < m; ++k)
        for (Offset p = pattern.col_ptr[tail.first + k]; p < pattern.col_ptr[tail.first + k + 1]; ++p)
            if (pattern.row[p] >= tail.first) dense.slot[k * m + (pattern.row[p] - tail.first)] = slot_of[p];
    return dense;
}

void run_tail_serial(const DenseTail& tail, std::span<double> v)
{
    const auto          m = static_cast<std::size_t>(tail.size);
    std::vector<double> s(m * m);
    for (std::size_t p = 0; p < s.size(); ++p) s[p] = v[tail.slot[p]];
    for (std::size_t k = 0; k < m; ++k) {
        double* const l = s.data() + k * m;
        for (std::size_t i = k + 1; i < m; ++i) l[i] /= l[k];
        for (std::size_t j = k + 1; j < m; ++j) {
            double* const x = s.data() + j * m;
            for (std::size_t i = k + 1; i < m; ++i) x[i] = std::fma(-l[i], x[k], x[i]);
        }
    }
    for (std::size_t p = 0; p < s.size(); ++p)
        if (tail.slot[p] != DataflowProgram::zero_slot) v[tail.slot[p]] = s[p];
}

}  // namespace ilux
