// Lack of memory inside the C libraries that orderings call: AMD, COLAMD, METIS.

#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/reorder/ordering.hpp"
#include "ilux/tests/robustness/c_allocations.hpp"
#include "ilux/tests/robustness/lack_of_memory.hpp"

namespace ilux::test {
namespace {

const char* const of_orderings[] = {"libamd", "libcolamd", "libsuitesparseconfig", "libmetis", "libGKlib"};

/// As expect_survives_lack_of_memory, for the malloc of some libraries. @return allocations that failed
long expect_survives_lack_of_c_memory(const Operation& operation, std::span<const char* const> libraries)
{
    std::vector<double> warm(operation.answers);
    EXPECT_EQ(run_caught(operation, warm), Ended::answered);
    long count = 0;
    {
        const CAllocations watch(libraries);
        EXPECT_EQ(run_caught(operation, warm), Ended::answered);
        count = watch.count();
    }
    const auto fail = [&](long k, const std::function<void()>& run) {
        const CAllocations failing(libraries, k);
        run();
        return failing.failed();
    };
    return expect_clean_ends(operation, {fail, live_c_allocations, count, Then::told}, 400);
}

class OutsideLibraries : public testing::TestWithParam<Ordering> {};
INSTANTIATE_TEST_SUITE_P(Orderings, OutsideLibraries, testing::Values(Ordering::amd, Ordering::colamd, Ordering::metis),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(OutsideLibraries, LackOfMemoryInAnOrderingIsTold)
{
    if (const auto why = why_no_c_allocations(); !why.empty()) GTEST_SKIP()
    << why;
    const auto      A = gallery::build("poisson2d:n=30");
    const Operation operation{std::string(name(GetParam())), static_cast<std::size_t>(A.rows()),
                              [&](std::span<double> found) {
                                  const auto perm = fill_reducing_order(A, GetParam());
                                  std::ranges::copy(perm, found.begin());
                                  return Ended::answered;
                              }};
    const long      failures = expect_survives_lack_of_c_memory(operation, of_orderings);
    // COLAMD works in memory that it is given
    if (GetParam() == Ordering::colamd) EXPECT_EQ(failures, 0);
    else EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace ilux::test
