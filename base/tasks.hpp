#pragma once
// Work by tasks of one team: a recursion and its long loops share the threads.

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Runs work() on one thread of a team, whose other threads take the tasks that it makes. What it throws is thrown
/// here.
template <class Work>
void with_tasks(const Cpu& be, bool worth, Work&& work)
{
    const int team = be.team(worth);
    if (team == 1) {  // outside of a region tasks are calls
        work();
        return;
    }
    RegionFailure failure;
#pragma omp parallel num_threads(team)
#pragma omp single
    failure.run(work);
    failure.rethrow();
}

/// Calls work(k) for every k < count, by tasks of the team. It returns when all are done, and throws what one of them
/// threw. Each thread gets one task, which takes one k after another: libgomp runs the loop on one thread where more
/// than 64 tasks for each thread would wait.
template <class Work>
void for_tasks(Index count, const Work& work)
{
    RegionFailure       failure;
    std::atomic<Offset> next = 0;
    const auto          take = [&] {
        for (Offset k; !failure.met() && (k = next.fetch_add(1, std::memory_order_relaxed)) < count;)
            work(static_cast<Index>(k));
    };
    const Index takers = std::min(count, omp_get_num_threads());
    if (takers <= 1) {
        take();
        return;
    }
#pragma omp taskloop grainsize(1) shared(take, failure)
    for (Index k = 0; k < takers; ++k) failure.run(take);
    failure.rethrow();
}

constexpr Index piece_length = 8192;

/// The pieces that for_pieces() cuts 0 … n − 1 into: the same ones on any number of threads.
template <std::integral Int>
constexpr Index pieces_of(Int n)
{
    return static_cast<Index>(n / piece_length + (n % piece_length != 0));
}

/// Calls work(piece, begin, end) for each piece, by tasks.
template <std::integral Int, class Work>
void for_pieces(Int n, const Work& work)
{
    for_tasks(pieces_of(n), [&](Index k) {
        const Int begin = Int{k} * piece_length;
        work(k, begin, begin + std::min<Int>(piece_length, n - begin));
    });
}

/// Calls visit(k) for each vertex of a forest, children before their parents, by tasks: who is done with the last child
/// goes on with the parent. @param parent_of  of each vertex, larger than it; negative: a root
template <class ParentOf, class Visit>
void for_forest(Index n, const ParentOf& parent_of, const Visit& visit)
{
    constexpr Index parts_a_thread = 8;
    const Index     threads = omp_get_num_threads(), parts = threads == 1 ? 1 : parts_a_thread * threads;
    if (parts == 1) {
        for (Index k = 0; k < n; ++k) visit(k);
        return;
    }
    std::vector<Index> waits(n, 1);  // for its turn, and for each child
    for_pieces(n, [&](Index, Index begin, Index end) {
        for (Index k = begin; k < end; ++k)
            if (const Index up = parent_of(k); up >= 0)
                std::atomic_ref(waits[up]).fetch_add(1, std::memory_order_relaxed);
    });
    const auto last = [&](Index k) { return std::atomic_ref(waits[k]).fetch_sub(1, std::memory_order_acq_rel) == 1; };
    for_tasks(parts, [&](Index part) {
        const Index end = static_cast<Index>(Offset{n} * (part + 1) / parts);
        for (Index k = static_cast<Index>(Offset{n} * part / parts); k < end; ++k)
            for (Index v = k; v >= 0 && last(v); v = parent_of(v)) visit(v);
    });
}

/// Whether holds(k) for any k < n, by tasks. All are asked.
template <std::integral Int, class Holds>
bool any_by_tasks(Int n, const Holds& holds)
{
    std::atomic<bool> found = false;
    for_pieces(n, [&](Index, Int begin, Int end) {
        bool any = false;
        for (Int k = begin; k < end; ++k) any |= holds(k);
        if (any) found.store(true, std::memory_order_relaxed);
    });
    return found;
}

}  // namespace ilux
