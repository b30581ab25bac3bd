#pragma once
// finish_iteration where b and x are on a GPU.

#include <cstddef>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/engine/krylov_system.hpp"
#include "ilux/engine/standard.hpp"

namespace ilux {

/// What measures and corrects x there: n of each.
template <Scalar S>
struct GpuJudgeWorkspace {
    explicit GpuJudgeWorkspace(std::size_t n)
        : r(n), d(n), scaled(n), former(n), D(n), inverse(n), size(n), row_size(n), scale(n)
    {}
    static std::size_t bytes(std::size_t n) { return n * (6 * sizeof(S) + 3 * sizeof(double)); }

    DeviceBuffer<S>      r, d, scaled, former, D, inverse;
    DeviceBuffer<double> size, row_size, scale;
};

/// An iteration that is over, on a GPU.
template <Scalar S>
struct GpuJudged {
    Gpu&                  gpu;
    const DeviceCsr<S>&   A;
    DeviceSpan<const S>   b;
    DeviceSpan<S>         x;
    Correction<Gpu, S>&   correction;
    GpuJudgeWorkspace<S>& room;
};

/// Does what finish_iteration() does on the device: x is measured and corrected there, and stays.
/// @return false where it was not judged to the end: x or b is not finite, the range of the numbers asks for scaled
/// sums, or the witness doubts x. The host has to judge it then.
template <Scalar S>
bool finish_on_gpu(const GpuJudged<S>& judged, const KrylovOptions& krylov, const Standard& standard,
                   Witness<S>& witness, const StopToken& stop, Attempt& tried);

}  // namespace ilux
