// Sets that threads unite, against a labelling of the same graph by hand.

#include "ilux/base/united_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

/// The largest number of each set: labels rise until none changes.
std::vector<Index> labelled(Index n, const Pairs& pairs)
{
    std::vector<Index> label(n);
    for (Index i = 0; i < n; ++i) label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [a, b] : pairs) {
            const Index most = std::max(label[a], label[b]);
            changed = changed || label[a] != most || label[b] != most;
            label[a] = label[b] = most;
        }
    }
    return label;
}

void expect_sets(Index n, const Pairs& pairs, int threads)
{
    UnitedSets sets(n);
    with_tasks(Cpu(threads), true, [&] {
        for_tasks(static_cast<Index>(pairs.size()), [&](Index k) { sets.unite(pairs[k].first, pairs[k].second); });
    });
    sets.flatten();
    const auto label = labelled(n, pairs);
    for (Index i = 0; i < n; ++i) ASSERT_EQ(sets.at(i), label[i]) << i << " of " << n;
}

TEST(UnitedSets, AreThoseOfTheGraph)
{
    std::mt19937 random(3);
    for (const Index n : {1, 2, 31, 33, 500})
        for (const double per_number : {0., 0.3, 0.6, 2.})
            for (const int threads : {1, 4}) {
                Pairs pairs;
                for (Index k = 0; k < per_number * n; ++k)
                    pairs.emplace_back(random() % static_cast<unsigned>(n), random() % static_cast<unsigned>(n));
                expect_sets(n, pairs, threads);
            }
    expect_sets(0, {}, 1);
}

/// A chain that is united from its end or its beginning is as deep as paths can be.
TEST(UnitedSets, OfAChainHaveOneRoot)
{
    const Index n = 20'000;
    UnitedSets  up(n), down(n);
    for (Index i = 0; i + 1 < n; ++i) {
        up.unite(i, i + 1);
        down.unite(n - 2 - i, n - 1 - i);
    }
    for (UnitedSets* sets : {&up, &down}) {
        EXPECT_EQ(sets->root(0), n - 1);
        sets->flatten();
        for (Index i = 0; i < n; ++i) ASSERT_EQ(sets->at(i), n - 1);
    }
}

}  // namespace
}  // namespace ilux
