#pragma once
// Columns shared out to threads by independent subtrees of an elimination forest.

#include <span>
#include <utility>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::detail {

/// The elimination forest of a graph, whose edges come by their larger end, ascending [liu_90]: whatever k is joined to
/// is a descendant of k, so disjoint subtrees are independent. Paths to the roots are cut short where they are walked.
class ForestBuilder {
public:
    explicit ForestBuilder(Index n) : parent_(n, n), above_(n, n) {}

    /// i < k; others are ignored.
    void join(Index i, Index k)
    {
        while (i < k) {
            const Index next = std::exchange(above_[i], k);
            if (next == std::ssize(parent_)) parent_[i] = k;
            i = next;
        }
    }
    std::vector<Index> parent() && { return std::move(parent_); }  ///< n; n: a root

private:
    std::vector<Index> parent_, above_;
};

/// The work of all descendants and of the column itself.
std::vector<double> subtree_work(std::span<const Index> parent, std::vector<double> work);

/// Columns whose subtree is at most `limit` of work fall into tasks, the rest is the top. @return the task of each
/// column, or −1; tasks are numbered by their work, the largest first
std::vector<Index> cut_subtrees(std::span<const Index> parent, std::span<const double> subtree, double limit);

/// Columns of tasks: those of t are column[ptr[t]] … column[ptr[t + 1] − 1], ascending.
struct TaskColumns {
    std::vector<Index> column = {};
    std::vector<Index> ptr = {0};  ///< tasks + 1
};
TaskColumns list_tasks(std::span<const Index> task_of);

}  // namespace ilux::detail
