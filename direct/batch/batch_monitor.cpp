#include "ilux/direct/batch/batch_monitor.hpp"

#include <algorithm>

#include "ilux/direct/gpu/entry_inputs.hpp"

namespace ilux {
namespace {

using Plan = BatchMonitorPlan;

/// The inputs of L + U, entry by entry.
void list_inputs(const LuPattern& pattern, Plan& plan)
{
    const EntryInputs    inputs = entry_inputs(pattern);
    const RepeatedInputs repeated = repeated_inputs(inputs);
    std::size_t          r = 0;  // ascending, as entries are
    const auto           add = [&](Offset source, double scale) {
        plan.input.push_back({.scale = scale, .source = static_cast<std::int32_t>(source)});
    };
    for (Index k = 0; k < pattern.n; ++k) {
        Plan::Column& column = plan.column[k];
        column.input = std::ssize(plan.input);
        for (Offset e = pattern.col_ptr[k]; e < pattern.col_ptr[k + 1]; ++e) {
            if (inputs.source[e] == EntryInputs::none) continue;
            add(inputs.source[e], inputs.scale[e]);
            while (r < repeated.entry.size() && repeated.entry[r] < e) ++r;
            if (r == repeated.entry.size() || repeated.entry[r] != e) continue;
            for (Offset q = repeated.ptr[r]; q < repeated.ptr[r + 1]; ++q) {
                plan.input.back().more = 1;
                add(repeated.source[q], repeated.scale[q]);
            }
        }
        column.inputs = static_cast<std::uint32_t>(std::ssize(plan.input) - column.input);
    }
}

Offset work(const Plan::Column& c) { return Offset{c.upper} + c.lower + c.f + c.inputs; }

/// Parts of about `size`; inputs of one entry stay together.
void cut(Plan& plan, Plan::Kind kind, std::int32_t number, Offset first, Offset count, Offset size)
{
    for (const Offset end = first + count; first < end;) {
        Offset last = std::min(end, first + size);
        while (kind == Plan::Kind::inputs && plan.input[last - 1].more) ++last;
        plan.part.push_back({first, last, kind, number});
        first = last;
    }
}

void cut_long_columns(Plan& plan, Offset size)
{
    for (Plan::Column& c : plan.column) {
        if (work(c) <= 2 * size) continue;
        c.number = plan.longs++;
        cut(plan, Plan::Kind::upper, c.number, c.first, c.upper, size);
        cut(plan, Plan::Kind::lower, c.number, c.first + c.upper, c.lower, size);
        cut(plan, Plan::Kind::f, c.number, c.f_first, c.f, size);
        cut(plan, Plan::Kind::inputs, c.number, c.input, c.inputs, size);
    }
}

void cut_into_pieces(Plan& plan, Offset size)
{
    Offset before = 0;
    plan.piece.push_back(0);
    for (Index k = 0; k < std::ssize(plan.column); ++k) {
        const Offset mine = plan.column[k].number < 0 ? work(plan.column[k]) : 4;
        if (before > 0 && before + mine > size) {
            plan.piece.push_back(k);
            before = 0;
        }
        before += mine;
    }
    if (!plan.column.empty()) plan.piece.push_back(static_cast<Index>(plan.column.size()));
}

}  // namespace

BatchMonitorPlan batch_monitor_plan(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                                    Index most_pieces, Index least_work)
{
    Plan         plan;
    const Offset nnz = pattern.nnz(), entries = nnz + pattern.nnz_F();
    plan.slot.assign(slot_of.begin(), slot_of.begin() + entries);
    plan.column.resize(pattern.n);
    for (Index k = 0; k < pattern.n; ++k) {
        Plan::Column& c = plan.column[k];
        c.first = pattern.col_ptr[k];
        c.f_first = nnz + pattern.f_col_ptr[k];
        c.upper = static_cast<std::uint32_t>(pattern.diag[k] + 1 - pattern.col_ptr[k]);
        c.lower = static_cast<std::uint32_t>(pattern.lower_count(k));
        c.f = static_cast<std::uint32_t>(pattern.f_col_ptr[k + 1] - pattern.f_col_ptr[k]);
    }
    list_inputs(pattern, plan);
    const Offset all = entries + std::ssize(plan.input);
    const Offset size = std::max<Offset>(least_work, (all + most_pieces - 1) / most_pieces);
    cut_long_columns(plan, size);
    cut_into_pieces(plan, size);
    return plan;
}

}  // namespace ilux
