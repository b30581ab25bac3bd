// Products of the entries of L + U, listed entry by entry.
//
// Launch shape: a warp an update, its lanes beside one another in L(:,i); they meet in atomic counts, so the list of an
// entry is in no order before it is sorted. The order of subtraction decides only which products make a partial sum:
// entries that have any are listed by a block each, in that order. Elsewhere a thread takes an entry, or a warp a
// column. Nobody waits for other blocks. Counts, and lists once they are sorted, are repeatable: bitwise.

#include <cub/block/block_scan.cuh>

#include "ilux/direct/dataflow/factor_program_steps.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
using Product = DataflowUnits::Product;

/// visit(t, a, b) for each product of L + U, in no order.
template <class Visit>
__device__ void each_product(const FactorProgramView& V, Visit visit)
{
    const LuPatternView& P = V.pattern;
    each_update(P, [&](Index k, Offset p) {
        const Index i = P.row[p];
        if (V.in_tail(i)) return;
        const Offset begin = P.col_ptr[k], lower = P.diag[i] + 1;
        walk_segment(P, k, p, [&](Index s, Index position, bool live) {
            if (live) visit(begin + position, lower + s, p);
        });
    });
}

__global__ void __launch_bounds__(plan_threads) count_products(FactorProgramView V)
{
    each_product(V, [&](Offset t, Offset, Offset) { atomicAdd(V.count + t, 1); });
}

__global__ void __launch_bounds__(plan_threads) count_inputs(FactorProgramView V)
{
    const Offset e = thread_of_grid();
    if (V.own + e < V.entries) atomicAdd(V.count + V.extra_of[e], 1);
}

/// What each entry takes of the lists and of partial sums, for the sums over all entries.
/// @param too_long  becomes 1 where one does not fit
__global__ void __launch_bounds__(plan_threads) measure_lists(FactorProgramView V, int* too_long)
{
    const Offset t = thread_of_grid();
    if (t > V.own) return;
    const LongSum cut = cut_long_sum(t < V.own ? V.count[t] : 0);
    if (!cut.fits()) *too_long = 1;
    if (cut.parts > 0) V.long_entry[atomicAdd(V.long_entries, 1)] = static_cast<DataflowEntry>(t);
    V.list[t] = t < V.own ? V.count[t] + cut.units() : 0;
    V.sum[t] = cut.units();
}

/// Groups, and divisors of all entries.
__global__ void __launch_bounds__(plan_threads) make_groups(FactorProgramView V)
{
    const LuPatternView& P = V.pattern;
    const Index          k = static_cast<Index>(thread_of_grid() / 32);
    const int            lane = lane_of_warp();
    if (k >= P.n || !V.has_group(k)) return;
    const Offset diag = P.diag[k], end = P.col_ptr[k + 1];
    const auto   longest = [&](Offset last) {
        std::uint32_t found = 0;
        for (Offset t = diag + lane; t < last; t += 32) found = most(found, early_operands(V.count[t]));
        return most_over_warp(found);
    };
    Shape made = group_shape(diag, end - diag, early_operands(V.count[diag]), longest(end));
    made.steps = narrow(rows(longest(diag + made.size), made.log2_part));
    for (Offset t = diag + 1 + lane; t < end; t += 32) V.divisor[t] = static_cast<std::int32_t>(diag);
    if (lane == 0) V.group[k] = made;
    if (lane == 0) V.saved[k] = made.size - 1;
}

/// Lists the products of entries that are not long.
__global__ void __launch_bounds__(plan_threads) list_products(FactorProgramView V)
{
    each_product(V, [&](Offset t, Offset a, Offset b) {
        if (V.count[t] <= chunk) V.append(t, {static_cast<DataflowEntry>(a), static_cast<DataflowEntry>(b)});
    });
}

__global__ void __launch_bounds__(plan_threads) list_inputs(FactorProgramView V)
{
    const Offset e = thread_of_grid();
    if (V.own + e >= V.entries) return;
    const Offset t = V.extra_of[e];
    if (V.count[t] <= chunk) V.append(t, {DataflowUnits::minus_one, static_cast<DataflowEntry>(V.own + e)});
}

/// Lists the products of one entry in the order of subtraction, `plan_threads` candidates at once.
class OrderedList {
public:
    __device__ OrderedList(const FactorProgramView& V, Offset entry) : V_(V), list_(V, entry) {}

    /// By the whole block; candidates are threads in their order.
    __device__ void put(bool is_one, Product product)
    {
        using Scan = cub::BlockScan<int, plan_threads>;
        __shared__ typename Scan::TempStorage memory;
        int                                   before, all;
        Scan(memory).ExclusiveSum(int{is_one}, before, all);
        if (is_one) V_.product[list_.position(listed_ + before)] = product;
        listed_ += all;
        __syncthreads();  // the next call uses the memory again
    }

private:
    const FactorProgramView& V_;
    EntryList                list_;
    Offset                   listed_ = 0;
};

/// Where L(:,i) has row r; −1: nowhere.
__device__ Offset find_lower(const LuPatternView& P, Index i, Index r)
{
    const Offset lower = P.diag[i] + 1;
    const Index  count = static_cast<Index>(P.col_ptr[i + 1] - lower), at = find_row(P.row + lower, 0, count, r);
    return at < count && P.row[lower + at] == r ? lower + at : -1;
}

__global__ void __launch_bounds__(plan_threads) list_long_sums(FactorProgramView V)
{
    const LuPatternView& P = V.pattern;
    const Offset         t = V.long_entry[blockIdx.x];
    const Index          k = V.column_of_entry(t);
    OrderedList          list(V, t);
    if (V.extra_ptr != nullptr)
        for (Offset e = V.extra_ptr[k]; e < V.extra_ptr[k + 1]; e += plan_threads) {
            const Offset own = e + threadIdx.x;
            list.put(own < V.extra_ptr[k + 1] && V.extra_of[own] == t,
                     {DataflowUnits::minus_one, static_cast<DataflowEntry>(V.own + own)});
        }
    if (t >= P.nnz) return;  // of F
    const Index  r = P.row[t];
    const Offset end = least(P.diag[k], t);
    for (Offset q = P.col_ptr[k]; q < end; q += plan_threads) {
        const Offset own = q + threadIdx.x;
        const bool   applied = own < end && !V.in_tail(P.row[own]);
        const Offset a = applied ? find_lower(P, P.row[own], r) : -1;
        list.put(a >= 0, {static_cast<DataflowEntry>(a), static_cast<DataflowEntry>(own)});
    }
}

}  // namespace

std::optional<FactorProgramSize> count_factor_products(Gpu& gpu, const FactorProgramView& V)
{
    const cuda::Range range("count_factor_products");
    DeviceBuffer<int> too_long(1);
    const Index       n = V.pattern.n;
    plan_launch(gpu, "count_products", count_products, V.pattern.nnz, V);
    plan_launch(gpu, "count_inputs", count_inputs, V.entries - V.own, V);
    plan_launch(gpu, "measure_lists", measure_lists, V.own + 1, V, too_long.data());
    plan_launch(gpu, "make_groups", make_groups, Offset{32} * n, V);
    if (value_at(gpu, too_long.data()) != 0) return std::nullopt;
    add_up(gpu, V.list, V.own + 1);
    add_up(gpu, V.sum, V.own + 1);
    add_up(gpu, V.saved, Offset{n} + 1);
    return FactorProgramSize{.list = value_at(gpu, V.list + V.own),
                             .units = V.entries + value_at(gpu, V.sum + V.own),
                             .saved = value_at(gpu, V.saved + n),
                             .long_entries = value_at(gpu, V.long_entries)};
}

void list_factor_products(Gpu& gpu, const FactorProgramView& V, const FactorProgramSize& size)
{
    const cuda::Range range("list_factor_products");
    plan_launch(gpu, "list_products", list_products, V.pattern.nnz, V);
    plan_launch(gpu, "list_inputs", list_inputs, V.entries - V.own, V);
    plan_launch(gpu, "list_long_sums", list_long_sums, Offset{plan_threads} * size.long_entries, V);
}

}  // namespace ilux
