#pragma once
// A ChunkedLayout and its frame on the device, made there. Internal to sptrsv/.

#include <span>
#include <vector>

#include "ilux/sptrsv/gpu/chunked_layout.hpp"
#include "ilux/sptrsv/gpu/device_frame.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {

/// The layout and the frame as kernels read them.
template <class T>
struct ChunkedView {
    const Index*             chunk_ptr = nullptr;
    const Index*             task_ptr = nullptr;
    const ChunkTask*         tasks = nullptr;
    const Index*             team = nullptr;
    const Index*             source = nullptr;
    const T*                 val = nullptr;
    FrameView<working_of<T>> frame;  ///< by positions; its indices are never null
};

/// A chunked layout made on the device, as a solve reads it.
template <class T>
struct DeviceChunks {
    ChunkedView<T> view;
    DeviceArrays   arrays;  ///< what `view` points to
    Index          chunks = 0, slots = 0;
    int            group = 2;
    std::size_t    shared_bytes = 0;
    std::size_t    entries = 0, positions = 0;  ///< of view.val, padding included; of the frame
    SpTrsvFacts    facts;
    SpTrsvSeconds  seconds;

    std::vector<Index> level;  ///< of each row, where the analysis was given up and no long row was split
};

/// Whether the analysis is given up, with facts but no view, as soon as levels turn out so wide that choose_engine()
/// takes another engine. The host, where it makes the layout, makes it whole.
enum class WideLevels { go_on, give_up };

/// Who makes the layout; both make the same one. On the device the host only cuts chunks and splits long rows.
enum class LayoutMaker { device, host };

/// O(n log n + nnz) work. On the device it takes some 100 bytes a row and a copy of L and the frame, and gives them
/// back; where it lacks them, or entries and rows pass 2³¹ − 1, the host does the work.
/// @throws InvalidInput when there are more than 2³¹ − 1 steps
template <class T>
DeviceChunks<T> analyse_chunks(Gpu& gpu, const ForwardSystem<T>& system, const ChunkedTuning& tuning,
                               LayoutMaker maker = LayoutMaker::device, WideLevels wide = WideLevels::go_on);

}  // namespace ilux
