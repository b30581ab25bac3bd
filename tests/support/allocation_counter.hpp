#pragma once
// The program's operator new and delete, counted, and made to fail on demand. They are replaced in every test program,
// under sanitizers as well. malloc of C libraries is not seen here (tests/robustness/c_allocations.hpp).

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

#include "ilux/base/error.hpp"

namespace ilux::test {

/// Which allocations fail.
enum class Failing {
    once,     ///< the k-th that may throw
    onwards,  ///< the same and all that follow, those that ask without throwing among them
    nothrow,  ///< the k-th that asks without throwing (std::stable_sort's buffer): its caller has another way
};

/// While it lives, counts every operator new of the program, on all threads; one at a time.
/// With fail_at = k the k-th (from 1) fails; one that may throw does: std::bad_alloc.
class AllocationCounter {
public:
    explicit AllocationCounter(long fail_at = 0, Failing failing = Failing::once);
    ~AllocationCounter();
    AllocationCounter(const AllocationCounter&) = delete;
    AllocationCounter& operator=(const AllocationCounter&) = delete;

    long        count() const;   ///< allocations since construction
    bool        failed() const;  ///< whether the fail_at-th came
    std::size_t bytes() const;   ///< their sizes, summed; frees are not subtracted
};

/// Blocks that operator new gave and delete has not taken back, of the whole program.
long live_allocations();

/// Runs `call` with its 1st, 2nd, … allocation failing until one run meets no failure, and expects every failed run to
/// throw std::bad_alloc or OutOfMemory. @return the number of failed runs
template <class Call>
long fail_each_allocation(Call&& call, long limit = 10'000)
{
    call();  // an OpenMP runtime that lacks memory while it starts waits for itself for ever
    for (long k = 1; k <= limit; ++k) {
        try {
            AllocationCounter counter(k);
            call();
            if (!counter.failed()) return k - 1;
        } catch (const std::bad_alloc&) {
            continue;
        } catch (const OutOfMemory&) {
            continue;
        }
        ADD_FAILURE() << "allocation " << k << " failed, and nobody said so";
    }
    ADD_FAILURE() << "still allocating after " << limit << " runs";
    return limit;
}

}  // namespace ilux::test
