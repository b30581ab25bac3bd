#pragma once
// A frame and the inverse diagonal on the device, as kernels get them. Plain data: device_row.hpp reads it.

#include "ilux/sptrsv/device_arrays.hpp"
#include "ilux/sptrsv/forward_system.hpp"

namespace ilux {

/// By rows of the engine's own numbering; null: the identity, or all ones.
struct FrameView {
    const Index*  in_index = nullptr;  ///< < 0: the row has no right-hand side
    const double* in_scale = nullptr;
    const Index*  out_index = nullptr;  ///< < 0: the row is not stored
    const double* out_scale = nullptr;
    const double* inv_diag = nullptr;
};

/// Registers what `view` will point to; the vectors stand until arrays.upload().
inline void add(DeviceArrays& arrays, const SolveFrame& frame, const std::vector<double>& inv_diag, FrameView& view)
{
    arrays.add(frame.in_index, view.in_index);
    arrays.add(frame.in_scale, view.in_scale);
    arrays.add(frame.out_index, view.out_index);
    arrays.add(frame.out_scale, view.out_scale);
    arrays.add(inv_diag, view.inv_diag);
}

}  // namespace ilux
