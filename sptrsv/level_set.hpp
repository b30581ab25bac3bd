#pragma once
// Level scheduling: a row may be solved once all rows it reads are known, so rows of equal depth run side by side.

#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {

/// Rows grouped by level: row i is in level 1 + (the greatest level it reads), or 0 when it reads none [anderson89].
/// Depends on the pattern alone.
class LevelSets {
public:
    LevelSets() : level_ptr_(1, 0), work_(1, 0) {}
    /// Entries on the diagonal are ignored; the caller promises that none lie in the other triangle. O(n + nnz).
    /// @param wide  threads share a level of at least so many entries and rows; less does not repay a barrier
    template <class T>
    LevelSets(const CsrView<T>& A, Triangle triangle, Offset wide = default_wide);
    static constexpr Offset default_wide = 16384;  ///< some 15 µs of work

    /// A run of levels between two barriers: one wide level that all threads share, or thin ones that one thread
    /// chains.
    struct Stage {
        Index begin, end;  ///< positions in order()
        bool  shared;
    };

    Index                  depth() const { return static_cast<Index>(level_ptr_.size()) - 1; }
    std::span<const Index> order() const { return order_; }          ///< n rows, by level, ascending inside a level
    std::span<const Index> level_ptr() const { return level_ptr_; }  ///< depth + 1 positions in order()
    std::span<const Stage> stages() const { return stages_; }
    bool                   worth_sharing() const { return worth_sharing_; }  ///< false: one thread is faster
    Index       part(const Stage& stage, int t, int parts) const;  ///< where thread t's equal share of work begins
    std::size_t bytes() const;

private:
    void make_stages(Offset wide);

    std::vector<Index>  order_, level_ptr_;
    std::vector<Offset> work_;  ///< n + 1: entries and rows before each position of order_
    std::vector<Stage>  stages_;
    bool                worth_sharing_ = false;
};

/// x ← A⁻¹ b, one parallel region with a barrier between stages. b and x may be the same memory; lengths k·n solve
/// k systems. Bitwise equal to solve_serial for any number of threads.
template <class T, class S = working_of<T>>
void solve_levels(Cpu& be, const CsrView<T>& A, const LevelSets& levels, Triangle triangle, Diagonal diagonal,
                  std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x, Values values = Values::as_stored);

/// The number of levels of a triangular pattern: the length of its longest chain of dependent rows, 0 when n = 0.
/// Entries on the diagonal are ignored. O(n + nnz) time, n indices of memory.
template <class T>
Index dependency_depth(const CsrView<T>& A, Triangle triangle);

}  // namespace ilux
