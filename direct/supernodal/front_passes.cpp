#include "ilux/direct/supernodal/front_passes.hpp"

#include <algorithm>
#include <numeric>

namespace ilux {
namespace {

// Numbers of L and U that are read. A thread reads some 10⁹ a second.
constexpr double worth_threads = 1e6, least_task = 1e5, tasks_at_least = 64;

}  // namespace

std::optional<FrontPasses> front_passes(const FrontTree& tree, Index block, Index first, Index last)
{
    std::vector<double> work(last - first);  // of subtrees
    std::vector<Index>  begin(last - first);
    double              all = 0;
    std::iota(begin.begin(), begin.end(), first);
    for (Index f = first; f < last; ++f) {
        const double k = tree.pivots(f), own = k * (2.0 * tree.size(f) - k) + 100;
        all += own;
        work[f - first] += own;
        if (const Index up = tree.parent[f]; up >= 0) {
            work[up - first] += work[f - first];
            begin[up - first] = std::min(begin[up - first], begin[f - first]);
        }
    }
    if (all < worth_threads) return std::nullopt;

    const double limit = std::max(least_task, all / tasks_at_least);
    FrontPasses  passes;
    passes.block = block;
    std::vector<Index>  task(last - first, -1);
    std::vector<double> cost;
    for (Index f = first; f < last; ++f) {
        const Index up = tree.parent[f];
        const bool  small = work[f - first] <= limit;
        if (small && up >= 0 && work[up - first] <= limit) continue;
        task[f - first] = static_cast<Index>(passes.fronts.size());
        passes.fronts.emplace_back(small ? begin[f - first] : f, f + 1);
        double children = 0;
        if (!small)
            for (const Index child : tree.children(f)) children += work[child - first];
        cost.push_back(work[f - first] - children);
        passes.forward.add(cost.back());
    }
    const Index tasks = passes.forward.tasks();
    for (Index t = tasks; t-- > 0;) passes.backward.add(cost[t]);
    for (Index f = first; f < last; ++f)
        if (const Index up = tree.parent[f]; task[f - first] >= 0 && up >= 0) {
            const Index below = task[f - first], above = task[up - first];
            passes.forward.before(below, above);
            passes.backward.before(tasks - 1 - above, tasks - 1 - below);
        }
    passes.forward.finish();
    passes.backward.finish();
    return passes;
}

}  // namespace ilux
