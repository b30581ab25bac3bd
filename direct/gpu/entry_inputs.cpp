#include "ilux/direct/gpu/entry_inputs.hpp"

#include <algorithm>
#include <numeric>

#include "ilux/base/error.hpp"

namespace ilux {

EntryInputs entry_inputs(const LuPattern& pattern)
{
    require(pattern.in_source.size() < std::size_t{1} << 31,
            [] { return "too many input values for positions of 32 bits"; });
    EntryInputs         in;
    const Offset        nnz = pattern.nnz();
    std::vector<Offset> at(pattern.n, 0);  // of row i in column k, its entry
    in.source.assign(nnz + pattern.nnz_F(), EntryInputs::none);
    in.scale.assign(in.source.size(), 1);
    in.extra_ptr.assign(std::size_t(pattern.n) + 1, 0);
    for (Index k = 0; k < pattern.n; ++k) {
        for (Offset p = pattern.col_ptr[k]; p < pattern.col_ptr[k + 1]; ++p) at[pattern.row[p]] = p;
        for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p) at[pattern.f_row[p]] = nnz + p;
        for (Offset e = pattern.in_ptr[k]; e < pattern.in_ptr[k + 1]; ++e) {
            const Offset t = at[pattern.in_row[e]];
            if (in.source[t] == EntryInputs::none) {
                in.source[t] = pattern.in_source[e];
                in.scale[t] = pattern.in_scale[e];
            } else {
                in.extra_of.push_back(t);
                in.extra_source.push_back(pattern.in_source[e]);
                in.extra_scale.push_back(pattern.in_scale[e]);
            }
        }
        in.extra_ptr[k + 1] = static_cast<Offset>(in.extra_of.size());
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
        all.source.push_back(static_cast<std::int32_t>(inputs.extra_source[x]));
        all.scale.push_back(inputs.extra_scale[x]);
    }
    all.ptr.push_back(static_cast<Offset>(all.source.size()));
    return all;
}

}  // namespace ilux
