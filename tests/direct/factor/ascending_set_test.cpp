#include "ilux/direct/factor/ascending_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// A member that `random` picks is followed by some larger ones, as in a search that runs upwards.
template <class Insert>
void followers(Index i, Index n, Random& random, Insert&& insert)
{
    for (Index count = random.below(4); count > 1; --count)
        if (i + 1 < n) insert(i + 1 + random.below(std::min(n - i - 1, Index{1} << random.below(20))));
}

TEST(AscendingSet, DrainsLikeAnOrderedSetThatGrowsMeanwhile)
{
    for (const Index n : {1, 2, 63, 64, 65, 4095, 4096, 4097, 300'000})
        for (int round = 0; round < 20; ++round) {
            AscendingSet    fast(n);
            std::set<Index> slow;
            Random          start(100 * n + round);
            for (int seeds = 0; seeds < round; ++seeds) {
                const Index i = start.below(n);
                fast.insert(i);
                slow.insert(i);
            }
            std::vector<Index> met, expected;
            Random             one(round), other(round);
            fast.drain([&](Index i) {
                met.push_back(i);
                followers(i, n, one, [&](Index j) { fast.insert(j); });
            });
            for (auto i = slow.begin(); i != slow.end(); ++i) {
                expected.push_back(*i);
                followers(*i, n, other, [&](Index j) { slow.insert(j); });
            }
            ASSERT_EQ(met, expected) << "n " << n;
            fast.drain([&](Index i) { ADD_FAILURE() << i << " was left"; });
        }
}

TEST(AscendingSet, OfNothingIsEmpty)
{
    AscendingSet(0).drain([](Index i) { ADD_FAILURE() << i; });
}

}  // namespace
}  // namespace ilux::test
