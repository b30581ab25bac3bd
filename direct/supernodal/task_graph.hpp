#pragma once
// Tasks that wait for one another, run by a team of threads.

#include <functional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// Tasks are numbered; each comes after those that it waits for. Immutable once made, so it serves any number of runs.
class TaskGraph {
public:
    /// A task of this cost, in any unit. @return its number
    Index add(double cost);
    /// @param earlier, later  earlier < later
    void before(Index earlier, Index later) { edges_.push_back({earlier, later}); }
    /// After the last task and edge.
    void finish();

    Index       tasks() const { return static_cast<Index>(cost_.size()); }
    double      cost() const;          ///< of all tasks
    double      longest_path() const;  ///< the largest cost of tasks that wait for one another
    std::size_t bytes() const;

    /// Calls work(task, thread) once for each task, those with the most work behind them first. On one thread in order
    /// of their numbers. After an exception, or when told to stop, no more tasks begin; the exception is thrown here.
    /// @return why not all of them have run; none: they have
    StopReason run(Cpu& be, int threads, const StopToken& stop,
                   const std::function<void(Index task, int thread)>& work) const;

private:
    struct Edge {
        Index earlier, later;
    };
    std::vector<double> cost_, behind_;  // behind: with its own, the longest path from it
    std::vector<Edge>   edges_;          // until finish
    std::vector<Index>  next_ptr_, next_, waits_;
};

}  // namespace ilux
