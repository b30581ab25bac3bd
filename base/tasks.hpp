#pragma once
// Work by tasks of one team: a recursion and its long loops share the threads.

#include <algorithm>
#include <concepts>

#include "ilux/base/cpu.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Runs work() on one thread of a team, whose other threads take the tasks that it makes. What it throws is thrown here.
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

/// Calls work(k) for every k < count, each by a task. It returns when all are done, and throws what one of them threw.
template <class Work>
void for_tasks(Index count, const Work& work)
{
    if (count <= 1) {
        if (count > 0) work(Index{0});
        return;
    }
    RegionFailure failure;
#pragma omp taskloop grainsize(1) shared(work, failure)
    for (Index k = 0; k < count; ++k)
        failure.run([&] {
            if (!failure.met()) work(k);
        });
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

}  // namespace ilux
