#include "ilux/direct/dataflow/lu_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/dataflow/dataflow_filler.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"

namespace ilux {
namespace {

constexpr Index many_columns = 1 << 12;

/// Entries of the factors; further inputs get entries of their own, behind the others.
DataflowEntries factor_entries(Cpu& be, const LuPattern& P, TailColumns tail, EntryInputs& inputs)
{
    static_assert(EntryInputs::none == DataflowEntries::none);
    DataflowEntries entries;
    entries.source = std::move(inputs.source);
    entries.scale = std::move(inputs.scale);
    const std::size_t own = entries.source.size(), extra = inputs.extra_source.size();
    require(own + extra < std::size_t{1} << 31,
            [] { return "too many entries or products for positions of 32 bits; take another method"; });
    entries.count = static_cast<Offset>(own + extra);
    entries.source.insert(entries.source.end(), inputs.extra_source.begin(), inputs.extra_source.end());
    entries.scale.insert(entries.scale.end(), inputs.extra_scale.begin(), inputs.extra_scale.end());
    entries.divisor.resize(entries.count);
    auto* const divisor = entries.divisor.data();
#pragma omp parallel for schedule(static) num_threads(be.team(P.n >= many_columns))
    for (Index k = 0; k < P.n; ++k) {
        const bool   divides = k < tail.first || k >= tail.first + tail.size;
        const Offset below = P.diag[k] + 1;
        std::fill(divisor + P.col_ptr[k], divisor + below, DataflowEntries::none);
        std::fill(divisor + below, divisor + P.col_ptr[k + 1],
                  divides ? static_cast<std::int32_t>(P.diag[k]) : DataflowEntries::none);
    }
    std::fill(divisor + P.nnz(), divisor + entries.count, DataflowEntries::none);
    return entries;
}

}  // namespace

DataflowProgram factor_dataflow(const LuPattern& pattern, TailColumns tail, Cpu be)
{
    require_tail(pattern, tail);
    EntryInputs      inputs = entry_inputs(pattern, be);
    DataflowEntries  entries = factor_entries(be, pattern, tail, inputs);
    const FactorWalk walk(pattern, inputs, tail.first, tail.first + tail.size);
    const bool       alone = be.threads() == 1;
    const LuLevels   levels = alone ? LuLevels{} : lu_levels(pattern, DependencyRule::left);
    return fill_tasks(be, lay_out(be, std::move(entries), walk, levels.column));
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
    require(slot_of.size() < std::size_t{1} << 31,
            [&] { return fmt::format("{} factor entries, too many for positions of 31 bits", slot_of.size()); });
    entries.source.assign(entries.count, DataflowEntries::none);
    entries.scale.assign(entries.count, 1);
    entries.divisor.assign(entries.count, DataflowEntries::none);
    for (Offset k = 0; k < n; ++k) {
        entries.source[k] = in_perm[k];
        if (!in_scale.empty()) entries.scale[k] = in_scale[in_perm[k]];
        entries.divisor[plain ? n + k : k] = static_cast<std::int32_t>(pattern.diag[k]);  // with Bᵀ, Uᵀ comes first
    }
    Cpu           be(1);
    SolveDataflow solve;
    solve.dataflow = fill_tasks(be, lay_out(be, std::move(entries), SolveWalk(pattern, !plain)));
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
