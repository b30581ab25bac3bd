#pragma once
// How host threads share the fronts of a plan, and where what is left of each front lies until its parent takes it.

#include <memory>

#include "ilux/direct/supernodal/front_plan.hpp"
#include "ilux/direct/supernodal/task_graph.hpp"

namespace ilux {

/// A step of the work on fronts. Large fronts are cut into blocks of columns: those of pivots first, then those of
/// updates.
struct FrontTask {
    enum class Kind {
        subtrees,  ///< of fronts that follow one another: from number `block` to `front`
        whole,     ///< front, whose children are done
        assemble,  ///< block ← what the children leave there
        begin,     ///< inputs, and sizes of columns
        panel,     ///< factors the columns of block
        update,    ///< block ← by panel `by`
        pivots,    ///< row exchanges left of each panel: L and U is complete
        rest,      ///< block of update columns ← U, and what is left of the front
        done,      ///< nothing: what is left is complete
    };
    Kind  kind;
    Index front, block = 0, by = 0;
};

/// The schedule is the same for any number of threads: so are the bits.
struct FrontSchedule {
    std::shared_ptr<const FrontPlan> plan;
    std::vector<Index>               first;   ///< of each front: the first front of its subtree
    std::vector<char>                inner;   ///< of each front: it lies in a subtree's task, below its top
    std::vector<char>                parity;  ///< of inner fronts: in which of two stacks what is left lies
    std::vector<Offset>    left_ptr;   ///< of each front: where what is left of it begins, in its stack or in the arena
    Offset                 arena = 0;  ///< numbers; what is left of all fronts that are not inner
    std::array<Offset, 2>  stacks = {};  ///< numbers; what one thread needs for inner fronts
    std::vector<FrontTask> tasks;
    TaskGraph              graph;

    Index panel_width(Index f) const;  ///< of the blocks of pivot columns
    Index pivot_blocks(Index f) const;
    Index blocks(Index f) const;  ///< of pivot columns and of update columns
    /// First and last + 1 of the front's columns in a block.
    std::pair<Index, Index> columns(Index f, Index block) const;
    /// What factors and their refactorization take in all, plan and schedule included: known before any of it is
    /// allocated.
    /// @param value  bytes of a number
    double      run_bytes(int threads, std::size_t value) const;
    std::size_t bytes() const;
};

/// O(fronts + tasks).
std::shared_ptr<const FrontSchedule> make_front_schedule(std::shared_ptr<const FrontPlan> plan);

}  // namespace ilux
