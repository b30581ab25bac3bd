#pragma once
// Rows worked on side by side: what a thread computes of a row depends on the row alone, so no result depends on the
// threads.

#include <omp.h>

#include <algorithm>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {

inline constexpr Index rows_in_block = 1024;
inline Index           row_blocks(Index n) { return n / rows_in_block + (n % rows_in_block != 0); }

/// work(b, begin, end, thread) for block b of the rows 0..n−1, on all threads. What it throws ends the loop and is
/// thrown again.
template <class Work>
void for_row_blocks(Cpu& be, Index n, Work&& work)
{
    const Index   blocks = row_blocks(n);
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(be.team(blocks > 1))
    for (Index b = 0; b < blocks; ++b) {
        if (failure.met()) continue;
        failure.run([&] {
            const Index begin = b * rows_in_block;
            work(b, begin, begin + std::min(rows_in_block, n - begin), omp_get_thread_num());
        });
    }
    failure.rethrow();
}

/// Rows of a matrix, made block by block in any order.
template <class T>
class RowCollector {
public:
    explicit RowCollector(Index n) : n_(n), block_(static_cast<std::size_t>(row_blocks(n))) {}

    /// The rows of one block, appended in order.
    struct Block {
        std::vector<Offset> length;
        std::vector<Index>  col;
        std::vector<T>      val;

        void add(Index j, T value)
        {
            col.push_back(j);
            val.push_back(value);
        }
        void end_row()
        {
            length.push_back(static_cast<Offset>(col.size()) - begun_), begun_ = static_cast<Offset>(col.size());
        }

    private:
        Offset begun_ = 0;
    };
    Block& block(Index b) { return block_[b]; }

    /// Frees the blocks. Columns must ascend in every row.
    CsrMatrix<T> matrix(Cpu& be, Index cols)
    {
        std::vector<Offset> row_ptr{0}, begin;
        row_ptr.reserve(static_cast<std::size_t>(n_) + 1);
        for (const Block& block : block_) {
            begin.push_back(row_ptr.back());
            for (Offset length : block.length) row_ptr.push_back(row_ptr.back() + length);
        }
        std::vector<Index> col(row_ptr.back());
        std::vector<T>     val(row_ptr.back());
        for_row_blocks(be, n_, [&](Index b, Index, Index, int) {
            std::ranges::copy(block_[b].col, col.begin() + begin[b]);
            std::ranges::copy(block_[b].val, val.begin() + begin[b]);
            block_[b] = {};
        });
        return CsrMatrix<T>::from_sorted(n_, cols, std::move(row_ptr), std::move(col), std::move(val));
    }

private:
    Index              n_;
    std::vector<Block> block_;
};

}  // namespace ilux
