#pragma once
// Systems for what works on every entry of a LuPattern: those of dataflow_systems.hpp, and blocks with entries above
// them.

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/repeats.hpp"

namespace ilux::test {

inline std::vector<DataflowSystem> pattern_systems()
{
    auto       all = dataflow_systems();
    const auto blocks = to_csr(random_factors({31, 1, 33, 20, 1, 1, 40}, 0.2, 4).A);
    all.push_back(dataflow_system("blocks and F", blocks));
    all.push_back(with_duplicates(blocks));
    all.back().name = "blocks, F and duplicates";
    return all;
}

inline std::size_t entries(const LuPattern& P) { return static_cast<std::size_t>(P.nnz() + P.nnz_F()); }

/// Entries of B, those of L + U first, then F, by definition: inputs added in the order of the pattern.
template <class S = double>
std::vector<S> scaled_inputs(const LuPattern& P, std::span<const NotDeduced<S>> values)
{
    std::vector<S> B(entries(P)), x(P.n, S(0));
    for (Index k = 0; k < P.n; ++k) {
        for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) x[P.in_row[e]] += values[P.in_source[e]] * P.in_scale[e];
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) B[p] = std::exchange(x[P.row[p]], S(0));
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p)
            B[P.nnz() + p] = std::exchange(x[P.f_row[p]], S(0));
    }
    return B;
}

/// Of L + U first, then of F.
template <class S>
std::vector<S> factor_entries(const LuFactors<S>& F)
{
    std::vector<S> all(F.val.begin(), F.val.end());
    all.insert(all.end(), F.f_val.begin(), F.f_val.end());
    return all;
}

template <class S = double>
DeviceBuffer<S> on_device(Gpu& gpu, std::span<const NotDeduced<S>> host)
{
    gpu.make_current();
    DeviceBuffer<S> device(host.size());
    upload<S>(gpu, host, device);
    return device;
}

template <class S>
std::vector<S> on_host(Gpu& gpu, const DeviceBuffer<S>& device)
{
    std::vector<S> host(device.size());
    download<S>(gpu, device, host);
    return host;
}

}  // namespace ilux::test
