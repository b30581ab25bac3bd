#include "ilux/direct/factor/subtrees.hpp"

#include <algorithm>
#include <numeric>

namespace ilux::detail {

std::vector<double> subtree_work(std::span<const Index> parent, std::vector<double> work)
{
    for (std::size_t k = 0; k < work.size(); ++k)
        if (parent[k] < std::ssize(work)) work[parent[k]] += work[k];
    return work;
}

std::vector<Index> cut_subtrees(std::span<const Index> parent, std::span<const double> subtree, double limit)
{
    const Index         n = static_cast<Index>(parent.size());
    std::vector<Index>  task(n, -1);
    std::vector<double> work;
    // From the roots down, so that a subtree inherits its root's task; small subtrees that follow each other share one.
    for (Index k = n - 1; k >= 0; --k) {
        if (subtree[k] > limit) continue;
        if (parent[k] < n && task[parent[k]] >= 0) {
            task[k] = task[parent[k]];
            continue;
        }
        if (work.empty() || work.back() + subtree[k] > limit) work.push_back(0);
        work.back() += subtree[k];
        task[k] = static_cast<Index>(work.size()) - 1;
    }

    std::vector<Index> largest_first(work.size()), rank(work.size());
    std::iota(largest_first.begin(), largest_first.end(), 0);
    std::stable_sort(largest_first.begin(), largest_first.end(), [&](Index a, Index b) { return work[a] > work[b]; });
    for (std::size_t t = 0; t < rank.size(); ++t) rank[largest_first[t]] = static_cast<Index>(t);
    for (Index& t : task)
        if (t >= 0) t = rank[t];
    return task;
}

TaskColumns list_tasks(std::span<const Index> task_of)
{
    TaskColumns tasks;
    tasks.ptr.assign(task_of.empty() ? 1 : *std::max_element(task_of.begin(), task_of.end()) + 2, 0);
    for (const Index t : task_of)
        if (t >= 0) ++tasks.ptr[t + 1];
    std::partial_sum(tasks.ptr.begin(), tasks.ptr.end(), tasks.ptr.begin());
    std::vector<Index> next(tasks.ptr.begin(), tasks.ptr.end());
    tasks.column.resize(tasks.ptr.back());
    for (Index k = 0; k < std::ssize(task_of); ++k)
        if (task_of[k] >= 0) tasks.column[next[task_of[k]]++] = k;
    return tasks;
}

}  // namespace ilux::detail
