#pragma once
// How threads share the columns: independent subtrees first, then the top in a pipeline.

#include <optional>
#include <vector>

#include "ilux/direct/refactor_cpu/hub_rows.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"

namespace ilux::detail {

/// Cluster mode: tasks of columns that depend on no column of another task, handed out largest first. Then pipeline
/// mode: the top, handed out in an order that starts nothing before all it waits for.
struct RefactorSchedule {
    int                threads = 1;
    std::vector<Index> column = {};     ///< of the tasks, ascending within each
    std::vector<Index> task_ptr = {0};  ///< tasks + 1
    std::vector<Index> top =
        {};  ///< items in the order of the pipeline: a column (of a hub: its division), or n + a piece
    std::optional<HubRows> hubs = {};
    double                 seconds = 0;  ///< what the model expects
    double                 alone = 0;    ///< and of one thread, where more than one join

    Index       tasks() const { return static_cast<Index>(task_ptr.size()) - 1; }
    std::size_t bytes() const;
};

/// The best for at most so many threads by the model; one task of all columns where more than one thread would not pay.
RefactorSchedule make_schedule(const LuPattern& pattern, int threads, const RefactorTuning& tuning);

/// Seconds of a refactorization by the model behind make_schedule, with the threads that it would take.
double expected_seconds(const LuPattern& pattern, int threads);

}  // namespace ilux::detail
