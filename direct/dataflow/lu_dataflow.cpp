#include "ilux/direct/dataflow/lu_dataflow.hpp"

#include <algorithm>

#include "ilux/direct/dataflow/dataflow_builder.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"

namespace ilux {
namespace {

constexpr Offset most_in_group = 32;  // a task's lanes

/// Entries of the factors; further inputs get entries of their own, behind the others.
struct Inputs {
    DataflowEntries entries;
    EntryInputs     of;
    Offset          first_extra = 0;
};

Inputs assign_inputs(const LuPattern& pattern)
{
    static_assert(EntryInputs::none == DataflowEntries::none);
    Inputs in;
    in.of = entry_inputs(pattern);
    auto& source = in.entries.source;
    auto& scale = in.entries.scale;
    source = in.of.source;
    scale = in.of.scale;
    in.first_extra = static_cast<Offset>(source.size());
    source.insert(source.end(), in.of.extra_source.begin(), in.of.extra_source.end());
    scale.insert(scale.end(), in.of.extra_scale.begin(), in.of.extra_scale.end());
    in.entries.count = static_cast<Offset>(source.size());
    return in;
}

bool within(TailColumns tail, Index k) { return k >= tail.first && k - tail.first < tail.size; }

/// u_kk and the first entries of L(:,k) are computed together; the rest of a long column waits for u_kk as for any entry.
void divide_columns(const LuPattern& pattern, TailColumns tail, DataflowEntries& entries)
{
    entries.divisor.assign(entries.count, DataflowEntries::none);
    for (Index k = 0; k < pattern.n; ++k) {
        if (within(tail, k)) continue;
        const Offset d = pattern.diag[k], end = pattern.col_ptr[k + 1];
        if (end - d > 1) entries.groups.push_back({d, static_cast<int>(std::min(end - d, most_in_group))});
        for (Offset p = d + 1; p < end; ++p) entries.divisor[p] = d;
    }
}

/// Products of L + U, column by column, as the left-looking method meets them. Inputs beyond the first of an entry come
/// before its products, as entries of their own. A tail ends its block, so that columns of the tail are applied to it alone.
void walk_factors(const LuPattern& pattern, TailColumns tail, const Inputs& in, DataflowVisitor& visitor)
{
    std::vector<Offset> at(pattern.n, 0);  // position of row i in column k
    for (Index k = 0; k < pattern.n; ++k) {
        for (Offset e = in.of.extra_ptr[k]; e < in.of.extra_ptr[k + 1]; ++e)
            visitor.product(in.of.extra_of[e], DataflowEntries::minus_one, in.first_extra + e);
        for (Offset p = pattern.col_ptr[k]; p < pattern.col_ptr[k + 1]; ++p) at[pattern.row[p]] = p;
        for (Offset q = pattern.col_ptr[k]; q < pattern.diag[k]; ++q) {
            const Index i = pattern.row[q];
            if (within(tail, i)) break;
            for (Offset s = pattern.diag[i] + 1; s < pattern.col_ptr[i + 1]; ++s)
                visitor.product(at[pattern.row[s]], s, q);  // (r, k): l_ri u_ik
        }
        visitor.complete(pattern.diag[k], pattern.col_ptr[k + 1]);
    }
}

/// Substitution with B: blocks from the last to the first, F x of later blocks, then L, then U.
void walk_solve(const LuPattern& pattern, DataflowVisitor& visitor)
{
    const Offset n = pattern.n, nnz = pattern.nnz();
    for (Index b = pattern.blocks() - 1; b >= 0; --b) {
        const Index first = pattern.block_ptr[b], last = pattern.block_ptr[b + 1];
        for (Index k = first; k < last; ++k)
            for (Offset p = pattern.diag[k] + 1; p < pattern.col_ptr[k + 1]; ++p) visitor.product(pattern.row[p], p, k);
        // first, so that x_k starts from y_k and only then subtracts what columns to its right give it
        for (Index k = last - 1; k >= first; --k) visitor.product(n + k, DataflowEntries::minus_one, k);
        for (Index k = last - 1; k >= first; --k) {
            for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p) visitor.product(n + pattern.row[p], p, n + k);
            for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p)
                visitor.product(pattern.f_row[p], nnz + p, n + k);
        }
    }
}

/// With Bᵀ: blocks from the first to the last, Fᵀ x of earlier blocks, then Uᵀ, then Lᵀ.
void walk_transposed_solve(const LuPattern& pattern, DataflowVisitor& visitor)
{
    const Offset n = pattern.n, nnz = pattern.nnz();
    for (Index b = 0; b < pattern.blocks(); ++b) {
        const Index first = pattern.block_ptr[b], last = pattern.block_ptr[b + 1];
        for (Index k = first; k < last; ++k) {
            for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p)
                visitor.product(k, nnz + p, n + pattern.f_row[p]);
            for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p) visitor.product(k, p, pattern.row[p]);
        }
        for (Index k = last - 1; k >= first; --k) {
            visitor.product(n + k, DataflowEntries::minus_one, k);
            for (Offset p = pattern.diag[k] + 1; p < pattern.col_ptr[k + 1]; ++p)
                visitor.product(n + k, p, n + pattern.row[p]);
        }
    }
}

}  // namespace

DataflowProgram factor_dataflow(const LuPattern& pattern, TailColumns tail)
{
    require_tail(pattern, tail);
    Inputs in = assign_inputs(pattern);
    divide_columns(pattern, tail, in.entries);
    return build_dataflow(in.entries, [&](DataflowVisitor& visitor) { walk_factors(pattern, tail, in, visitor); });
}

SolveDataflow solve_dataflow(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                             Transpose transpose)
{
    const Offset    n = pattern.n;
    const bool      plain = transpose == Transpose::no;
    const auto&     in_perm = plain ? pattern.row_perm : pattern.col_perm;
    const auto&     out_perm = plain ? pattern.col_perm : pattern.row_perm;
    const auto&     in_scale = plain ? pattern.row_scale : pattern.col_scale;
    const auto&     out_scale = plain ? pattern.col_scale : pattern.row_scale;
    DataflowEntries entries;
    entries.count = 2 * n;
    entries.given = slot_of;
    entries.source.assign(entries.count, DataflowEntries::none);
    entries.scale.assign(entries.count, 1);
    entries.divisor.assign(entries.count, DataflowEntries::none);
    for (Offset k = 0; k < n; ++k) {
        entries.source[k] = in_perm[k];
        if (!in_scale.empty()) entries.scale[k] = in_scale[in_perm[k]];
        entries.divisor[plain ? n + k : k] = pattern.diag[k];  // with Bᵀ, Uᵀ comes first
    }
    const auto    walk = plain ? walk_solve : walk_transposed_solve;
    SolveDataflow solve;
    solve.dataflow = build_dataflow(entries, [&](DataflowVisitor& visitor) { walk(pattern, visitor); });
    solve.out_index.assign(solve.dataflow.slots(), -1);
    solve.out_scale.assign(solve.dataflow.slots(), 1);
    for (Offset k = 0; k < n; ++k) {
        const auto slot = solve.dataflow.slot_of[n + k];
        solve.out_index[slot] = out_perm[k];
        if (!out_scale.empty()) solve.out_scale[slot] = out_scale[out_perm[k]];
    }
    return solve;
}

}  // namespace ilux
