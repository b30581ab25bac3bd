#pragma once
// The order of a ChunkedLayout, found on the device: levels, rows by (chunk, level, class), tasks. Internal to sptrsv/;
// chunked_analysis.cu says when each step is due. Steps enqueue; those that return a host number wait for it.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/sptrsv/gpu/chunked_layout.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// How many of each lie before a position of the order.
struct alignas(16) ChunkTally {
    Index tasks, steps, slots, levels;
};

/// What the order needs of one row, by positions.
struct OrderedRow {
    Index         steps;  ///< that each of its lanes takes
    std::uint16_t exported, asks_others;
};

/// Where a row went: its position within the chunk, and among the exported x.
struct RowPlace {
    Index position, slot;
};

/// What the search for levels leaves besides them.
struct LevelHeader {
    int   ticket;  ///< blocks that have started
    Index depth;
};

/// All of it on the device, for kernels. n rows, n positions.
struct OrderView {
    Index          n = 0;
    int            group = 2;
    int            level_bits = 1;
    const Offset*  row_ptr = nullptr;
    const Index*   col = nullptr;
    Index*         chunk_ptr = nullptr;  ///< chunks + 1
    LevelHeader*   header = nullptr;
    Index*         level = nullptr;     ///< of each row, from 1 on; 0: not known yet
    Index*         row = nullptr;       ///< 0, 1, ..., n − 1
    Index*         order = nullptr;     ///< row of each position
    std::uint64_t* row_key = nullptr;   ///< of each row
    std::uint64_t* key = nullptr;       ///< of each position
    std::uint8_t*  exported = nullptr;  ///< of each row
    OrderedRow*    facts = nullptr;     ///< of each position
    Index*         start = nullptr;     ///< of each position: the first one with its key
    ChunkTally*    before = nullptr;    ///< n + 1
    ChunkTally*    totals = nullptr;    ///< chunks + 1: what lies before each chunk, and all there is
    RowPlace*      place = nullptr;     ///< of each row
};

/// Levels and chunks of L, computed on a GPU.
class ChunkOrder {
public:
    static constexpr Index most_entries = (1 << 15) - 1;  ///< in a row

    /// Asks for its memory in `scratch`, which is to be uploaded next.
    /// @param row_ptr, col  of L: strictly lower, its long rows split, of 1 to 2³¹ − 1 entries and rows together and no
    /// row
    ///                      beyond most_entries
    /// @param most_chunks  of any set_chunks() to come
    ChunkOrder(Gpu& gpu, DeviceArrays& scratch, std::span<const Offset> row_ptr, std::span<const Index> col,
               Index most_chunks);

    void upload(Gpu& gpu, std::span<const Offset> row_ptr, std::span<const Index> col);
    void set_chunks(Gpu& gpu, std::span<const Index> chunk_ptr);
    /// The level of every row; once, whatever becomes of the chunks. Or takes those of the host, from 0 on.
    void find_levels(Gpu& gpu);
    void take_levels(Gpu& gpu, std::vector<Index> level);
    /// Rows by (chunk, level, class descending), cut into tasks.
    void sort(Gpu& gpu);
    /// What lies before each chunk, and all there is.
    std::vector<ChunkTally> totals(Gpu& gpu) const;
    Index                   depth(Gpu& gpu) const;
    std::vector<Index>      levels(Gpu& gpu) const;  ///< of each row, from 0 on
    /// tasks[k] and view().place
    void write_tasks(Gpu& gpu, ChunkTask* tasks);

    const OrderView& view() const { return view_; }

private:
    OrderView   view_;
    std::byte*  temp_ = nullptr;  // CUB's
    std::size_t temp_bytes_ = 0;
    Index       chunks_ = 0, most_rows_ = 0;  // rows of the largest
};

}  // namespace ilux
