// A proof that A is regular by its diagonal, checked row by row: a thread a row, grid-stride. Bound by memory: A once.

#include <algorithm>

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/engine/witness/dominance.hpp"

namespace ilux {
namespace {

constexpr int threads = 256;
constexpr int most_blocks = 1024;  // of which the host adds up what they found

/// What a block leaves for the host.
enum Slot { of_sums, of_sizes, of_failures, slots };

template <class V>
__global__ void __launch_bounds__(threads) check_rows(Index n, const Offset* row_ptr, const Index* col, const V* val,
                                                      const Index* leads_to, DominanceLimits limits, double* found)
{
    double    sums = 0, sizes = 0, failures = 0;
    const int stride = static_cast<int>(gridDim.x) * threads;
    for (Offset i = Offset{blockIdx.x} * threads + threadIdx.x; i < n; i += stride) {
        const Index to = leads_to[i];
        double      diagonal = 0, beside = 0, link = 0;
        V           sum{};
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            const double size = cuda::magnitude(val[p]);
            sum = sum + val[p];
            if (col[p] == i) diagonal += size;
            else beside += size;
            if (col[p] == to) link = size;
        }
        const bool dominant = diagonal > 0 && diagonal >= beside * (1 - limits.cancels);
        const bool leads =
            to == i ? diagonal - beside > limits.grounds * diagonal : link > 0 && link >= limits.tied * beside;
        sums += cuda::magnitude(sum);
        sizes += diagonal + beside;
        failures += dominant && leads ? 0 : 1;
    }
    sums = cuda::over_block<cuda::Add, threads>(sums);
    sizes = cuda::over_block<cuda::Add, threads>(sizes);
    failures = cuda::over_block<cuda::Add, threads>(failures);
    if (threadIdx.x != 0) return;
    double* const mine = found + slots * blockIdx.x;
    mine[of_sums] = sums;
    mine[of_sizes] = sizes;
    mine[of_failures] = failures;
}

}  // namespace

template <Scalar S>
GpuDominance<S>::GpuDominance(Gpu& gpu, std::span<const Index> leads_to)
    : leads_to_((gpu.make_current(), leads_to.size())),
      found_(slots * std::clamp<std::size_t>((leads_to.size() + threads - 1) / threads, 1, most_blocks))
{
    upload<Index>(gpu, leads_to, leads_to_);
}

template <Scalar S>
std::optional<RowTotals> GpuDominance<S>::prove_regular(Gpu& gpu, const DeviceCsr<S>& A)
{
    const cuda::Range range("prove_regular");
    const auto        blocks = static_cast<unsigned>(found_.size() / slots);
    check_rows<<<blocks, threads, 0, cuda::stream(gpu)>>>(A.rows(), A.row_ptr().data(), A.col().data(),
                                                          cuda::as_values(A.val().data()), leads_to_.data(),
                                                          DominanceLimits{}, found_.data());
    cuda::check_launch("check_rows");
    std::vector<double> found(found_.size());
    download<double>(gpu, found_, found);
    RowTotals sums;
    for (std::size_t block = 0; block < found.size(); block += slots) {
        if (!(found[block + of_failures] == 0)) return {};
        sums.sum += found[block + of_sums];
        sums.size += found[block + of_sizes];
    }
    return sums;
}

#define ILUX_INSTANTIATE(S) template class GpuDominance<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
