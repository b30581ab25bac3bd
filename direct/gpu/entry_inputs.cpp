#include "ilux/direct/gpu/entry_inputs.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>

#include "ilux/base/error.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {
namespace {

/// Further inputs of some columns.
struct Extra {
    std::vector<Offset>       of;
    std::vector<std::int32_t> source;
    std::vector<double>       scale;
};

/// Inputs of columns first … last − 1. in.extra_ptr[k + 1] becomes the number of further ones of column k.
/// @param at  n numbers: of row i in a column, its entry
void assign_inputs(const LuPattern& P, Index first, Index last, std::span<std::uint32_t> at, EntryInputs& in,
                   Extra& extra)
{
    const Offset nnz = P.nnz();
    for (Index k = first; k < last; ++k) {
        const auto take = [&](Offset begin, Offset end, Offset shift, const std::vector<Index>& row) {
            for (Offset p = begin; p < end; ++p) at[row[p]] = static_cast<std::uint32_t>(shift + p);
            std::fill(in.source.begin() + shift + begin, in.source.begin() + shift + end, EntryInputs::none);
            std::fill(in.scale.begin() + shift + begin, in.scale.begin() + shift + end, 1.0);
        };
        take(P.col_ptr[k], P.col_ptr[k + 1], 0, P.row);
        take(P.f_col_ptr[k], P.f_col_ptr[k + 1], nnz, P.f_row);
        const std::size_t before = extra.of.size();
        for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) {
            const Offset t = at[P.in_row[e]];
            const auto   source = static_cast<std::int32_t>(P.in_source[e]);
            if (in.source[t] == EntryInputs::none) {
                in.source[t] = source;
                in.scale[t] = P.in_scale[e];
            } else {
                extra.of.push_back(t);
                extra.source.push_back(source);
                extra.scale.push_back(P.in_scale[e]);
            }
        }
        in.extra_ptr[k + 1] = static_cast<Offset>(extra.of.size() - before);
    }
}

}  // namespace

EntryInputs entry_inputs(const LuPattern& pattern, Cpu be)
{
    constexpr Index   worth = 1 << 12;  // columns
    const std::size_t entries = pattern.nnz() + pattern.nnz_F(), n = pattern.n;
    require(pattern.in_source.size() < std::size_t{1} << 31 && entries < std::size_t{1} << 32,
            [] { return "too many input values for positions of 32 bits"; });
    EntryInputs in;
    in.source.resize(entries);
    in.scale.resize(entries);
    in.extra_ptr.assign(n + 1, 0);
    const int                  team = be.team(pattern.n >= worth);
    UnsetVector<std::uint32_t> at(n * team);
    std::vector<Extra>         extra(team);  // by threads, whose columns ascend
    RegionFailure              failure;
#pragma omp parallel num_threads(team)
    {
        const std::size_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        failure.run([&] {
            assign_inputs(pattern, static_cast<Index>(n * thread / threads),
                          static_cast<Index>(n * (thread + 1) / threads), std::span(at).subspan(n * thread, n), in,
                          extra[thread]);
        });
    }
    failure.rethrow();
    std::partial_sum(in.extra_ptr.begin(), in.extra_ptr.end(), in.extra_ptr.begin());
    for (const Extra& one : extra) {
        in.extra_of.insert(in.extra_of.end(), one.of.begin(), one.of.end());
        in.extra_source.insert(in.extra_source.end(), one.source.begin(), one.source.end());
        in.extra_scale.insert(in.extra_scale.end(), one.scale.begin(), one.scale.end());
    }
    return in;
}

RepeatedInputs repeated_inputs(const EntryInputs& inputs)
{
    std::vector<std::size_t> order(inputs.extra_of.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t x) { return inputs.extra_of[x]; });
    RepeatedInputs all;
    for (const std::size_t x : order) {
        if (all.entry.empty() || all.entry.back() != inputs.extra_of[x]) {
            all.entry.push_back(inputs.extra_of[x]);
            all.ptr.push_back(static_cast<Offset>(all.source.size()));
        }
        all.source.push_back(inputs.extra_source[x]);
        all.scale.push_back(inputs.extra_scale[x]);
    }
    all.ptr.push_back(static_cast<Offset>(all.source.size()));
    return all;
}

}  // namespace ilux
