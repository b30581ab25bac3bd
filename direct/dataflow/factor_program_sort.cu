// Products in the order of levels.
//
// Launch shape: a warp an entry. Each lane has up to four products, and finds the place of each by comparing it with
// all. Nobody waits for other warps. Repeatable: bitwise.

#include <cstdint>

#include "ilux/direct/dataflow/factor_program_steps.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
using Product = DataflowUnits::Product;

/// By level and, of one level, what is added first, then what is subtracted, by number.
__device__ std::int64_t key_of(const FactorProgramView& V, const Product& p)
{
    const bool         adds = p.a == DataflowUnits::minus_one;
    const std::int32_t a = adds ? 0 : V.level[p.a], b = V.level[p.b];
    return static_cast<std::int64_t>(most(a, b)) << 33 | (adds ? 0 : std::int64_t{1} << 32) | p.b;
}

/// At most `chunk` products, by a whole warp.
__device__ void sort_list(const FactorProgramView& V, Offset first, Offset count)
{
    constexpr int each = static_cast<int>(chunk) / lanes;
    const int     lane = lane_of_warp(), size = static_cast<int>(count);
    Product       product[each];
    std::int64_t  key[each];
    int           rank[each] = {};
#pragma unroll
    for (int s = 0; s < each; ++s) {
        key[s] = -1;
        if (lane + 32 * s >= size) continue;
        product[s] = V.product[first + lane + 32 * s];
        key[s] = key_of(V, product[s]);
    }
#pragma unroll
    for (int from = 0; from < each; ++from)
        for (int other = 0; other < 32 && other + 32 * from < size; ++other) {
            const std::int64_t theirs = __shfl_sync(whole_warp, key[from], other);
#pragma unroll
            for (int s = 0; s < each; ++s) rank[s] += theirs < key[s];
        }
    __syncwarp();  // all have read
#pragma unroll
    for (int s = 0; s < each; ++s)
        if (lane + 32 * s < size) V.product[first + rank[s]] = product[s];
    __syncwarp();
}

__device__ void describe(const FactorProgramView& V, Offset unit, Offset first, Offset count, Offset late)
{
    if (lane_of_warp() != 0) return;
    V.first[unit] = first;
    V.early[unit] = static_cast<std::uint32_t>(count - late);
    V.late[unit] = static_cast<std::uint8_t>(late);
}

/// product[to …] ← units that are added
__device__ void put_added(const FactorProgramView& V, Offset to, Offset unit, Offset count)
{
    for (Offset p = lane_of_warp(); p < count; p += 32)
        V.product[to + p] = {DataflowUnits::minus_one, static_cast<DataflowEntry>(unit + p)};
    __syncwarp();
}

__device__ void sort_long_sum(const FactorProgramView& V, Offset entry, const EntryList& list)
{
    const Offset sum = V.first_sum(entry), sums = sum + list.cut.parts;
    for (Offset p = 0; p < list.cut.parts; ++p) {
        const Offset first = list.begin + p * chunk, count = list.of_part(p);
        sort_list(V, first, count);
        describe(V, sum + p, first, count, least<Offset>(count, most_late));
    }
    for (Offset g = 0; g < list.cut.sums; ++g) {
        const Offset first = list.sums + g * chunk, count = list.of_sum(g);
        put_added(V, first, sum + g * chunk, count);
        sort_list(V, first, count);
        describe(V, sums + g, first, count, 0);
    }
    put_added(V, list.own, list.cut.sums > 0 ? sums : sum, list.cut.added());
}

/// What is added is never late, and comes before products of its level.
__global__ void __launch_bounds__(plan_threads) sort_products(FactorProgramView V)
{
    const Offset t = thread_of_grid() / 32;
    if (t >= V.entries) return;
    if (t >= V.own) return describe(V, t, 0, 0, 0);
    const EntryList list(V, t);
    const Offset    added = list.cut.added(), late = least<Offset>(list.products, most_late);
    if (added > 0) sort_long_sum(V, t, list);
    sort_list(V, list.own + added, list.products);
    if (added > 0) sort_list(V, list.own, added + list.products - late);
    describe(V, t, list.own, added + list.products, late);
}

}  // namespace

void sort_factor_products(Gpu& gpu, const FactorProgramView& V)
{
    const cuda::Range range("sort_factor_products");
    plan_launch(gpu, "sort_products", sort_products, 32 * V.entries, V);
}

}  // namespace ilux
