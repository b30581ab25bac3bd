// Oracle: std::stable_sort.

#include "ilux/base/matrix/grouping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

/// Two items a line, the first ones of each pair in any group, the others in few.
std::vector<Index> some_groups(Index lines, Index groups)
{
    std::mt19937       random(lines + groups);
    std::vector<Index> group(2 * lines);
    for (Index k = 0; k < 2 * lines; ++k)
        group[k] = static_cast<Index>(random() % (k % 2 == 0 ? groups : std::min(groups, 3)));
    return group;
}

struct Grouped {
    std::vector<Offset> ptr;
    std::vector<Index>  item;
};

Grouped grouped(int threads, const std::vector<Index>& group, Index groups)
{
    Grouped g{.ptr = {}, .item = std::vector<Index>(group.size())};
    with_tasks(Cpu(threads), true, [&] {
        const Index lines = static_cast<Index>(group.size()) / 2;
        Grouping    items(lines, std::ssize(group), groups, [&](Index begin, Index end, auto&& take) {
            for (Index k = 2 * begin; k < 2 * end; ++k) take(group[k], k);
        });
        items.place([&](Offset at, Index k) { g.item[at] = k; });
        g.ptr = items.take_ptr();
    });
    return g;
}

TEST(Grouping, IsAStableSortOnAnyNumberOfThreads)
{
    for (const Index lines : {0, 1, 31, 32, 33, 5000})
        for (const Index groups : {1, 2, 31, 33, 4000, 100'000}) {
            const auto         group = some_groups(lines, groups);
            std::vector<Index> sorted(group.size());
            std::iota(sorted.begin(), sorted.end(), Index{0});
            std::ranges::stable_sort(sorted, {}, [&](Index k) { return group[k]; });
            std::vector<Offset> ptr(groups + 1, 0);
            for (const Index k : group) ++ptr[k + 1];
            std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
            for (const int threads : {1, 2, 3, 7, 33}) {
                const Grouped g = grouped(threads, group, groups);
                ASSERT_EQ(g.item, sorted) << lines << " lines, " << groups << " groups, " << threads;
                ASSERT_EQ(g.ptr, ptr);
            }
        }
}

TEST(Grouping, OfNoGroupsHasNoItems)
{
    const Grouped g = grouped(3, {}, 0);
    EXPECT_EQ(g.ptr, std::vector<Offset>{0});
}

TEST(Grouping, ThrowsWhatItemsThrow)
{
    for (const int threads : {1, 3})
        EXPECT_THROW(with_tasks(Cpu(threads), true,
                                [&] { Grouping(10, 10, 10, [](Index, Index, auto&&) { throw std::bad_alloc(); }); }),
                     std::bad_alloc);
}

TEST(InverseByTasks, IsTheInverse)
{
    for (const Index n : {0, 1, 33, 20'000}) {
        const auto perm = test::random_permutation(n, 3);
        with_tasks(Cpu(3), true,
                   [&] { EXPECT_TRUE(std::ranges::equal(inverse_by_tasks(perm), inverse_permutation(perm))); });
    }
}

}  // namespace
}  // namespace ilux
