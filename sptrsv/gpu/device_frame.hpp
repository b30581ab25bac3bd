#pragma once
// A frame and the inverse diagonal on the device, as kernels get them. Plain data: device_row.hpp reads it.

#include "ilux/sptrsv/gpu/device_arrays.hpp"
#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// By rows of the engine's own numbering; null: the identity, or all ones.
template <class S>
struct FrameView {
    const Index*  in_index = nullptr;  ///< < 0: the row has no right-hand side
    const double* in_scale = nullptr;
    const Index*  out_index = nullptr;  ///< < 0: the row is not stored
    const S*      out_scale = nullptr;
    const S*      inv_diag = nullptr;
};

/// Registers what `view` will point to; the vectors stand until arrays.upload().
template <Scalar S>
void add(DeviceArrays& arrays, const SolveFrame<S>& frame, const std::vector<S>& inv_diag, FrameView<S>& view)
{
    arrays.add(frame.in_index, view.in_index);
    arrays.add(frame.in_scale, view.in_scale);
    arrays.add(frame.out_index, view.out_index);
    arrays.add(frame.out_scale, view.out_scale);
    arrays.add(inv_diag, view.inv_diag);
}

}  // namespace ilux
