#pragma once
// How threads share the substitutions with the fronts of a diagonal block.

#include <optional>
#include <utility>
#include <vector>

#include "ilux/direct/supernodal/front_tree.hpp"
#include "ilux/direct/supernodal/task_graph.hpp"

namespace ilux {

/// A task is a subtree, or a front above the subtrees. Forward it waits for those below, backward for the one above.
struct FrontPasses {
    Index                                block = 0;
    std::vector<std::pair<Index, Index>> fronts;             ///< of each task: the first and the last + 1; ascending
    TaskGraph                            forward, backward;  ///< task t of backward is the last but t of fronts
};

/// Nothing where one thread has the block's numbers read before others are awake. @param first, last  fronts of the
/// block, last + 1
std::optional<FrontPasses> front_passes(const FrontTree& tree, Index block, Index first, Index last);

}  // namespace ilux
