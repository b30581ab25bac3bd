// The caller's values into the entries of L + U and F, a thread each.

#include <algorithm>
#include <utility>
#include <vector>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/gpu/device_input.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"

namespace ilux {
namespace {

constexpr int threads = 256;

/// Entries that have several inputs get theirs in the next launch. Repeatable: bitwise.
template <class V>
__global__ void __launch_bounds__(threads) scatter_first(LuPatternView P, const V* values, V* val)
{
    const Offset e = Offset{blockIdx.x} * threads + threadIdx.x;
    if (e < P.nnz + P.nnz_F) val[e] = first_input(P, e, values);
}

template <class V>
__global__ void __launch_bounds__(threads) scatter_repeated(LuPatternView P, const V* values, V* val)
{
    const Offset r = Offset{blockIdx.x} * threads + threadIdx.x;
    if (r < P.repeated) val[P.repeated_entry[r]] = repeated_input(P, static_cast<Index>(r), values);
}

unsigned blocks_for(Offset count) { return static_cast<unsigned>((count + threads - 1) / threads); }

}  // namespace

GpuLuPattern::GpuLuPattern(Gpu& gpu, std::shared_ptr<const LuPattern> pattern)
    : GpuLuPattern(gpu, pattern, entry_inputs(*pattern))
{}

GpuLuPattern::GpuLuPattern(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs)
    : host_(std::move(pattern))
{
    const LuPattern&     P = *host_;
    const RepeatedInputs repeated = repeated_inputs(inputs);
    view_.n = P.n;
    view_.nnz = P.nnz();
    view_.nnz_F = P.nnz_F();
    view_.repeated = static_cast<Index>(repeated.entry.size());
    arrays_.add(P.col_ptr, view_.col_ptr);
    arrays_.add(P.row, view_.row);
    arrays_.add(P.diag, view_.diag);
    arrays_.add(inputs.source, view_.source);
    arrays_.add(inputs.scale, view_.scale);
    arrays_.add(repeated.entry, view_.repeated_entry);
    arrays_.add(repeated.ptr, view_.repeated_ptr);
    arrays_.add(repeated.source, view_.repeated_source);
    arrays_.add(repeated.scale, view_.repeated_scale);
    gpu.make_current();
    arrays_.upload(gpu);
}

template <Scalar S>
void GpuLuPattern::scatter(Gpu& gpu, const NotDeduced<S>* values, DeviceSpan<NotDeduced<S>> val) const
{
    require(val.size() >= entries(), [&] {
        return "room for " + std::to_string(val.size()) + " entries where the pattern has " + std::to_string(entries());
    });
    if (entries() == 0) return;
    const cuda::Range range("scatter");
    const auto        stream = cuda::stream(gpu);
    const auto* const from = cuda::as_values(values);
    auto* const       to = cuda::as_values(val.data());
    scatter_first<<<blocks_for(view_.nnz + view_.nnz_F), threads, 0, stream>>>(view_, from, to);
    cuda::check_launch("scatter_first");
    if (view_.repeated == 0) return;
    scatter_repeated<<<blocks_for(view_.repeated), threads, 0, stream>>>(view_, from, to);
    cuda::check_launch("scatter_repeated");
}

#define ILUX_INSTANTIATE(S) template void GpuLuPattern::scatter<S>(Gpu&, const S*, DeviceSpan<S>) const;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
