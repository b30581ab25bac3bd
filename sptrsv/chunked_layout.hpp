#pragma once
// The order in which the chunked engine takes the rows of a forward system: made on the host, read by chunked.cu.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/csr.hpp"

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
};

struct ChunkedTuning {
    Index       chunks = 132;              ///< aimed at: one per multiprocessor
    Index       least_rows = 64;           ///< a smaller chunk is not worth a block
    std::size_t shared_bytes = 200 << 10;  ///< that a chunk may need
};

/// Contiguous rows make a chunk, which one block solves with its x in shared memory. Inside a chunk rows stand in the order
/// of their levels, so a warp that takes its tasks in order waits only for earlier tasks and for earlier chunks.
template <class T>
struct ChunkedLayout {
    std::vector<Index>     chunk_ptr;  ///< chunks + 1: first position (and row) of each chunk
    std::vector<Index>     task_ptr;   ///< chunks + 1: first task of each
    std::vector<Index>     team;       ///< chunks: warps that are worth keeping awake
    std::vector<ChunkTask> tasks;
    std::vector<Index>     row;  ///< n: row[position] of the system
    std::vector<Index> source;   ///< of each entry: ≥ 0 a position within the chunk (its row count: the constant 0);
                                 ///< −1 − slot an exported x
    std::vector<T> val;          ///< of each entry; 0 where padded
    int            group = 2;    ///< steps that a lane takes at once: 2, or 4 where rows are longer
    Index          slots = 0;    ///< exported x in all
    std::size_t    shared_bytes = 0;  ///< the most that a chunk needs

    Index chunks() const { return static_cast<Index>(chunk_ptr.size()) - 1; }
};

/// Shared memory of a chunk: x of each row, the constant 0, and the tasks, which start on 16 bytes.
inline std::size_t chunk_shared_bytes(std::size_t rows, std::size_t tasks)
{
    return (rows + 2) / 2 * 2 * sizeof(double) + tasks * sizeof(ChunkTask);
}

/// @param level  n, as levels(L).  O(n log n + nnz), threaded by chunks
template <class T>
ChunkedLayout<T> chunked_layout(const CsrMatrix<T>& L, std::span<const Index> level, const ChunkedTuning& tuning = {});

}  // namespace ilux
