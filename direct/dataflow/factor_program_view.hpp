#pragma once
// What a GPU makes the program of a refactorization from, and through. Only .cu files include this.

#include <cstdint>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/dataflow/sum_rules.hpp"
#include "ilux/direct/gpu/device_sums.hpp"
#include "ilux/direct/gpu/device_updates.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {

/// An entry of L + U, and its column.
struct EntryInColumn {
    DataflowEntry entry = 0;
    Index         column = 0;
};

/// Device arrays. `own` entries are those of L + U and F; `entries` are these and the inputs beyond the first of an
/// entry (EntryInputs), in this order; units are entries and partial sums (DataflowUnits).
struct FactorProgramView {
    using Shape = DataflowUnits::Shape;
    using Product = DataflowUnits::Product;

    LuPatternView       pattern;
    Index               tail_first = 0, tail_last = 0;  ///< columns that are neither divided nor applied
    const Index*        order = nullptr;                ///< n; columns, each behind those that it reads
    const Offset*       extra_ptr = nullptr;            ///< n + 1; null, like the next: no entry has further inputs
    const Offset*       f_col_ptr = nullptr;            ///< n + 1
    const Offset*       extra_of = nullptr;
    const std::int32_t* extra_source = nullptr;
    const double*       extra_scale = nullptr;
    Offset              own = 0;      ///< entries of L + U and F
    Offset              entries = 0;  ///< those, and further inputs

    std::uint32_t* count = nullptr;         ///< own; products
    std::uint32_t* listed = nullptr;        ///< own; how many are in the list, while it is made
    DataflowEntry* long_entry = nullptr;    ///< own; entries with partial sums, in no order
    int*           long_entries = nullptr;  ///< 1; how many there are
    std::int32_t*  divisor = nullptr;       ///< own; −1: none
    Offset*        list = nullptr;   ///< own + 1; where the products of an entry, and what adds its partial sums, begin
    Offset*        sum = nullptr;    ///< own + 1; partial sums before those of an entry
    Shape*         group = nullptr;  ///< n; size 0: none
    Offset*        saved = nullptr;  ///< n + 1; members of groups, but one each, in columns before
    Offset*        start = nullptr;  ///< n + 1; entries of L + U in columns before, as `order` has these
    EntryInColumn* ordered = nullptr;  ///< nnz; entries of L + U, column after column, as `order` has these

    Product*       product = nullptr;
    std::int32_t*  alone = nullptr;  ///< own; level of a group's member by its own products; −1: not known yet
    std::int32_t*  level = nullptr;  ///< units; −1: not known yet
    Offset*        first = nullptr;  ///< units
    std::uint32_t* early = nullptr;  ///< units
    std::uint8_t*  late = nullptr;   ///< units
    Offset         units = 0;
    int*           ticket = nullptr;  ///< 1; −1 before levels are found

    __device__ bool in_tail(Index k) const { return k >= tail_first && k < tail_last; }
    __device__ bool has_group(Index k) const { return !in_tail(k) && pattern.col_ptr[k + 1] - pattern.diag[k] > 1; }
    /// Only where there are further inputs, if the entry is of F.
    __device__ Index column_of_entry(Offset entry) const
    {
        return entry < pattern.nnz ? column_of(pattern, entry)
                                   : last_not_above(f_col_ptr, pattern.n, entry - pattern.nnz);
    }
    __device__ Offset first_sum(Offset entry) const { return entries + sum[entry]; }
    /// To the list of an entry without partial sums, behind what other threads append.
    __device__ void append(Offset entry, Product one) const
    {
        product[list[entry] + atomicAdd(listed + entry, 1)] = one;
    }
};

/// The list of an entry has three parts: products that partial sums take, `chunk` each; what sums of sums add; what the
/// entry itself adds, followed by the products that it subtracts.
struct EntryList {
    sum_rule::LongSum cut;
    Offset            begin = 0, sums = 0, own = 0;  ///< where these three parts begin
    Offset            products = 0;                  ///< that the entry subtracts itself

    __device__ EntryList(const FactorProgramView& V, Offset entry)
        : cut(sum_rule::cut_long_sum(V.count[entry])),
          begin(V.list[entry]),
          sums(begin + cut.early),
          own(sums + (cut.sums > 0 ? cut.parts : 0)),
          products(V.count[entry] - cut.early)
    {}
    /// Position of product `j` in the order of subtraction.
    __device__ Offset position(Offset j) const { return j < cut.early ? begin + j : own + cut.added() + j - cut.early; }
    /// Operands of partial sum `p`, or of sum of sums `g`.
    __device__ Offset of_part(Offset p) const
    {
        return sum_rule::least(sum_rule::chunk, cut.early - p * sum_rule::chunk);
    }
    __device__ Offset of_sum(Offset g) const
    {
        return sum_rule::least(sum_rule::chunk, cut.parts - g * sum_rule::chunk);
    }
};

constexpr int plan_threads = update_threads;
constexpr int plan_warps = plan_threads / 32;

inline __device__ Offset thread_of_grid() { return Offset{blockIdx.x} * plan_threads + threadIdx.x; }

/// The largest value of all lanes; each has the result.
template <class T>
__device__ T most_over_warp(T value)
{
    for (int step = 16; step > 0; step /= 2) value = sum_rule::most(value, __shfl_xor_sync(whole_warp, value, step));
    return value;
}

/// Enqueues a kernel, as many blocks of plan_threads as `threads` need.
template <class Kernel, class... Arguments>
void plan_launch(Gpu& gpu, const char* name, Kernel kernel, Offset threads, Arguments... arguments)
{
    if (threads == 0) return;
    const auto blocks = static_cast<unsigned>((threads + plan_threads - 1) / plan_threads);
    kernel<<<blocks, plan_threads, 0, cuda::stream(gpu)>>>(arguments...);
    cuda::check_launch(name);
}

}  // namespace ilux
