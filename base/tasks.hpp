#pragma once
// Work by tasks of one team: a recursion and its long loops share the threads.

#include <algorithm>

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

constexpr Index piece_length = 8192;

/// The pieces that for_pieces() cuts 0 … n − 1 into: the same ones on any number of threads.
constexpr Index pieces_of(Index n) { return n / piece_length + (n % piece_length != 0); }

/// Calls work(piece, begin, end) for each piece, by tasks. It returns when all are done, and throws what one of them threw.
template <class Work>
void for_pieces(Index n, const Work& work)
{
    const Index pieces = pieces_of(n);
    if (pieces <= 1) {
        if (n > 0) work(Index{0}, Index{0}, n);
        return;
    }
    RegionFailure failure;
#pragma omp taskloop grainsize(1) shared(work, failure)
    for (Index k = 0; k < pieces; ++k)
        failure.run([&] {
            const Index begin = k * piece_length;
            if (!failure.met()) work(k, begin, begin + std::min(piece_length, n - begin));
        });
    failure.rethrow();
}

}  // namespace ilux
