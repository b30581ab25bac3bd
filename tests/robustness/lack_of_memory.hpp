#pragma once
// One allocation after another is made to fail, and what must follow is the same for every operation: a clean end,
// nothing leaked, and afterwards the same call with the same answer.

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

enum class Ended { answered, out_of_memory };

/// An operation. `run` writes its answer; lack of memory ends it by OutOfMemory or std::bad_alloc, or, where the
/// contract says so, by an outcome. What lives longer than one run is made outside of it.
struct Operation {
    std::string                                    name;
    std::size_t                                    answers = 0;
    std::function<Ended(std::span<double> answer)> run;
    double spread = 0;  ///< by how much the answers of two runs may differ, relatively; 0: not by a bit
    bool   lives_on =
        false;  ///< of an object that keeps memory, which may be less after a failure, but not after a success
    friend std::ostream& operator<<(std::ostream& out, const Operation& one) { return out << one.name; }
};

/// Any other exception is a failure of the test.
inline Ended run_caught(const Operation& operation, std::span<double> answer)
{
    try {
        return operation.run(answer);
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    } catch (const std::exception& other) {
        ADD_FAILURE() << "lack of memory was told as: " << other.what();
    }
    return Ended::out_of_memory;
}

inline Ended from_outcome(Outcome outcome)
{
    EXPECT_TRUE(outcome == Outcome::converged || outcome == Outcome::out_of_memory)
        << "outcome " << static_cast<int>(outcome);
    return outcome == Outcome::converged ? Ended::answered : Ended::out_of_memory;
}

inline bool same_answer(const Operation& operation, std::span<const double> found, std::span<const double> expected)
{
    if (operation.spread == 0) return identical(found, expected);
    return relative_difference(found, expected) <= operation.spread;
}

/// What must become of a run with a failing allocation.
enum class Then {
    told,      ///< it ends for lack of memory
    answered,  ///< it has another way
    either,    ///< of the two, and an answer is the right one
};

/// One way to make allocations fail.
struct Shortage {
    /// Runs the operation with the k-th allocation failing; false: it never came to that.
    std::function<bool(long k, const std::function<void()>& run)> fail;
    std::function<long()>                                         held;  ///< blocks or bytes that the program holds now
    long                                                          count = 0;  ///< allocations of a run, or more
    Then                                                          then = Then::told;
};

/// Fails the allocations k = 1, 1 + stride, … with at most `most` runs, or fewer under a sanitizer, until none is left
/// to fail. @return the failures told, and under a sanitizer those that they stand for
inline long expect_clean_ends(const Operation& operation, const Shortage& shortage, long most)
{
    std::vector<double> expected(operation.answers), found(operation.answers);
    EXPECT_EQ(run_caught(operation, expected), Ended::answered);
    most = (most + thinning - 1) / thinning;
    const long stride = std::max(1L, (shortage.count + most - 1) / most);
    long       told = 0;
    for (long k = 1; k <= shortage.count && !testing::Test::HasFailure(); k += stride) {
        SCOPED_TRACE(operation.name + ", allocation " + std::to_string(k));
        std::ranges::fill(found, 0.);
        const long held = shortage.held();
        Ended      ended{};
        // threads share the work otherwise from run to run, so the number of allocations may vary
        if (!shortage.fail(k, [&] { ended = run_caught(operation, found); })) break;
        told += ended == Ended::out_of_memory;
        if (!operation.lives_on) {
            EXPECT_EQ(shortage.held(), held) << "leaked";
        }
        if (shortage.then != Then::either) {
            EXPECT_EQ(ended, shortage.then == Then::told ? Ended::out_of_memory : Ended::answered);
        }
        if (ended == Ended::answered) {
            EXPECT_TRUE(same_answer(operation, found, expected));
        }
        EXPECT_EQ(run_caught(operation, found), Ended::answered) << "the next run";
        EXPECT_TRUE(same_answer(operation, found, expected)) << "the next run";
        EXPECT_EQ(shortage.held(), held) << "leaked, after the next run";
    }
    return told * thinning;
}

/// Every operator new of `operation` fails: alone, with all that follow it, and each that asks without throwing alone.
/// @param most  runs of each kind; beyond, every so-many-th allocation. @param then  after one that may throw
/// @return allocations that failed alone
inline long expect_survives_lack_of_memory(const Operation& operation, long most = 400, Then then = Then::told)
{
    std::vector<double> warm(operation.answers);
    EXPECT_EQ(run_caught(operation, warm), Ended::answered);  // what is made once for all is no leak
    long count = 0;
    {
        const AllocationCounter counter;
        EXPECT_EQ(run_caught(operation, warm), Ended::answered);
        count = counter.count();
    }
    const auto with = [&](Failing failing, Then then) {
        const auto fail = [failing](long k, const std::function<void()>& run) {
            const AllocationCounter counter(k, failing);
            run();
            return counter.failed();
        };
        return Shortage{fail, live_allocations, count, then};
    };
    const long told = expect_clean_ends(operation, with(Failing::once, then), most);
    expect_clean_ends(operation, with(Failing::onwards, then), most / 4);
    expect_clean_ends(operation, with(Failing::nothrow, Then::answered), most);
    return told;
}

}  // namespace ilux::test
