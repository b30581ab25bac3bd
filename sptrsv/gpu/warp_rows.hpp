#pragma once
// A WarpLayout on the device: what the engines syncfree and level_set share.

#include "ilux/sptrsv/gpu/device_frame.hpp"
#include "ilux/sptrsv/gpu/renewed_values.hpp"
#include "ilux/sptrsv/gpu/warp_layout.hpp"

namespace ilux {

/// What kernels get. Everything is numbered by positions.
template <class T>
struct WarpRowsView {
    const WarpTask*          tasks = nullptr;
    const Index*             level_ptr = nullptr;
    const Index*             col = nullptr;
    const T*                 val = nullptr;
    FrameView<working_of<T>> frame;
    Index                    task_count = 0;
};

/// A warp layout on a GPU.
template <class T>
class WarpRows {
public:
    WarpRows(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level, const WarpLayoutOptions& options)
    {
        WarpLayout<T> layout = warp_layout(system.L, level, options);
        const auto    frame = frame_by_position(system.frame, layout.row);
        const auto    inv_diag = inv_diag_by_position(system.inv_diag, layout.row);
        positions_ = layout.positions();
        view_.task_count = static_cast<Index>(layout.tasks.size());
        arrays_.add(layout.tasks, view_.tasks);
        arrays_.add(layout.level_ptr, view_.level_ptr);
        arrays_.add(layout.col, view_.col);
        arrays_.add(layout.val, view_.val);
        add(arrays_, frame, inv_diag, view_.frame);
        arrays_.upload(gpu);
        level_ptr_ = std::move(layout.level_ptr);
        numbers_ = {{const_cast<T*>(view_.val), layout.val.size()},
                    {const_cast<working_of<T>*>(view_.frame.inv_diag), inv_diag.size()}};
    }

    const WarpRowsView<T>& view() const { return view_; }
    Index                  positions() const { return positions_; }  ///< values of x, partial sums among them
    std::span<const Index> level_ptr() const { return level_ptr_; }  ///< of the layout, on the host
    EngineNumbers<T>       numbers() { return numbers_; }
    std::size_t            bytes() const { return arrays_.bytes(); }

private:
    DeviceArrays       arrays_;
    WarpRowsView<T>    view_;
    EngineNumbers<T>   numbers_;
    std::vector<Index> level_ptr_;
    Index              positions_ = 0;
};

}  // namespace ilux
