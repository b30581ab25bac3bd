#pragma once
// A matrix on its way to a GPU before it is known how it is to be solved.

#include <future>
#include <memory>
#include <optional>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux {

/// Copies A by a thread of its own: what A is like is looked at meanwhile.
template <Scalar S>
class ComingMatrix {
public:
    /// @param gpu  used by that thread alone until arrived() or the destructor returns
    /// @param A  must stand as long
    ComingMatrix(Gpu& gpu, const CsrView<S>& A);
    ComingMatrix(ComingMatrix&&) = delete;  // the thread knows where it is

    /// Waits for it. Nothing where the device had no room. Once. @throws DeviceError
    std::optional<GpuMatrixOperator<S>> arrived();

private:
    std::optional<GpuMatrixOperator<S>> A_;
    std::future<void>                   copy_;  // last: waits for its thread before the rest goes
};

/// A on its way to the GPU that `machine` computes with; null where it uses none, or has a limit of its memory to keep.
template <Scalar S>
std::unique_ptr<ComingMatrix<S>> sent_ahead(const Machine& machine, const CsrView<S>& A)
{
    const bool stays = !machine.gpu || machine.memory_limit.value > 0;
    return stays ? nullptr : std::make_unique<ComingMatrix<S>>(*machine.gpu, A);
}

}  // namespace ilux
