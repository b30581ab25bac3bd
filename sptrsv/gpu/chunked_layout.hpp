#pragma once
// The order in which the chunked engine takes the rows of a forward system. Made here on the host, by
// chunked_analysis.cu on the device; both make the same.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/gpu/usual_device.hpp"

namespace ilux {

/// The rows that one warp solves at once: all of one level, 2^log2_part lanes to a row.
struct ChunkTask {
    std::int32_t  entries;      ///< first entry, in units of 32
    std::int32_t  steps;        ///< entries a lane adds up; step s of lane l is entry 32·(entries + s) + l
    std::int32_t  first;        ///< position of its first row within the chunk
    std::int32_t  rows;         ///< 1 to 32
    std::int32_t  log2_part;    ///< 0 to 5
    std::int32_t  export_slot;  ///< of its first exported row; the others follow
    std::uint32_t exported;     ///< bit r: other chunks read row r of the task
    std::int32_t  asks_others;  ///< whether it reads an x of another chunk
    friend bool   operator==(const ChunkTask&, const ChunkTask&) = default;
};

/// Sizes that chunked_layout aims at.
struct ChunkedTuning {
    /// Aimed at: one a multiprocessor; ChunkedEngine asks its Gpu. How many there are changes no bit of x: the lanes of
    /// a row and the order of its sum depend on its length alone.
    Index       chunks = usual_multiprocessors;
    Index       least_rows = 64;           ///< a smaller chunk is not worth a block
    std::size_t shared_bytes = 200 << 10;  ///< that a chunk may need
    Index       longest = 512;             ///< longer rows are split (long_rows.hpp)
    Index       segment = 256;             ///< entries of a partial sum of a split row
    /// Where rows are long the host finds the levels of a system of up to so many entries, else the device. Larger ones
    /// were not measured.
    Offset host_levels = 4'000'000;
};

/// Contiguous rows, partial sums of long ones among them, make a chunk, which one block solves with its x in shared
/// memory. Inside a chunk rows stand in the order of their levels, so a warp that takes its tasks in order waits only
/// for earlier tasks and for earlier chunks. Within a level they stand by class, the longer ones first: rows of one
/// class take as many lanes, and 32 lanes make a task.
template <class T>
struct ChunkedLayout {
    std::vector<Index>     chunk_ptr;  ///< chunks + 1: first position (and row) of each chunk
    std::vector<Index>     task_ptr;   ///< chunks + 1: first task of each
    std::vector<Index>     team;       ///< chunks: warps that are worth keeping awake
    std::vector<ChunkTask> tasks;
    std::vector<Index>     row;  ///< row[position] of the system; −1: a partial sum
    std::vector<Index> source;   ///< of each entry: ≥ 0 a position within the chunk (its row count: the constant 0);
                                 ///< −1 − slot an exported x
    std::vector<T> val;          ///< of each entry; 0 where padded
    int            group = 2;    ///< steps that a lane takes at once: 2, or 4 where rows are longer
    Index          slots = 0;    ///< exported x in all
    Index          depth = 0;    ///< levels, those of partial sums among them
    std::size_t    shared_bytes = 0;  ///< the most that a chunk needs

    Index chunks() const { return static_cast<Index>(chunk_ptr.size()) - 1; }
};

/// Shared memory of a chunk: x of each row, the constant 0, and the tasks, which start on 16 bytes.
/// @param value_bytes  of an x: 8, or 16
inline std::size_t chunk_shared_bytes(std::size_t rows, std::size_t tasks, std::size_t value_bytes = sizeof(double))
{
    return (rows + 2) / 2 * 2 * value_bytes + tasks * sizeof(ChunkTask);
}

/// What both makers of a layout ask. The rows are those of the system with its long ones split.
/// The fewest lanes that take a row in one go, `group` entries each [aliaga19 has one entry a lane]: their log2, the
/// class of rows.
int log2_lanes(Offset length, int group);
/// Steps that a lane takes at once. Four of them make the poll of a thin level slower, so short rows do with two.
int group_of(Index n, Offset nnz);
/// Twice the tasks of a level: one half works while the other looks ahead. A warp more would only poll.
Index team_of(Index tasks, Index levels);
/// Where chunks begin, and n: cut so that each holds an equal share of entries and rows, then halved while x alone
/// does not fit its shared memory. No chunk is empty. O(chunks log n)
std::vector<Index> chunk_bounds(std::span<const Offset> row_ptr, const ChunkedTuning& tuning,
                                std::size_t value_bytes = sizeof(double));
/// The bounds with every chunk c halved that does not fit and has more than one row; empty when there is none.
std::vector<Index> halved(std::span<const Index> chunk_ptr, const std::vector<bool>& fits);

/// O(n log n + nnz), threaded by chunks.
/// @throws InvalidInput when there are more than 2³¹ − 1 steps
template <class T>
ChunkedLayout<T> chunked_layout(const CsrView<T>& L, const ChunkedTuning& tuning = {});

}  // namespace ilux
