#include "ilux/direct/supernodal/front_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "ilux/direct/supernodal/block_adjacency.hpp"
#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux {
namespace {

using Rows = std::vector<std::set<Index>>;

/// Structure of L of B + Bᵀ in the given order, by elimination as on paper.
Rows eliminated(const LuSymbolic& s, const std::vector<Index>& order)
{
    std::vector<Index> position(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<Index>(k);
    Rows                 L(order.size());
    Cpu                  be(2);
    const BlockAdjacency C = block_adjacency(be, s);
    for (Index k = 0; k < C.size(); ++k)
        for (Offset p = C.ptr[k]; p < C.ptr[k + 1]; ++p)
            if (const Index a = position[C.row[p]], b = position[k]; a > b) L[b].insert(a);
    for (auto& column : L)
        if (!column.empty()) {
            const Index up = *column.begin();
            for (const Index i : column)
                if (i > up) L[up].insert(i);
        }
    return L;
}

TEST(FrontTree, WithoutMergingItStoresWhatFillsAndNothingElse)
{
    Cpu be(2);
    for (const auto& A : test::front_systems()) {
        const auto      s = analyse(view<double>(A));
        const FrontTree tree = front_tree(be, *s, {.few = 0, .some = 0, .many = 0, .beyond = 0});
        const Rows      L = eliminated(*s, tree.order);
        for (Index f = 0; f < tree.fronts(); ++f)
            for (Index k = tree.pivot_ptr[f]; k < tree.pivot_ptr[f + 1]; ++k) {
                std::set<Index> rows(tree.row.begin() + tree.row_ptr[f], tree.row.begin() + tree.row_ptr[f + 1]);
                for (Index i = k + 1; i < tree.pivot_ptr[f + 1]; ++i) rows.insert(i);
                EXPECT_EQ(rows, L[k]);
            }
    }
}

TEST(FrontTree, EveryFillIsStoredAndEveryUpdateRowIsInTheParent)
{
    Cpu be(2);
    for (const auto& A : test::front_systems()) {
        const auto      s = analyse(view<double>(A));
        const FrontTree tree = front_tree(be, *s);
        ASSERT_NO_THROW((void)inverse_permutation(tree.order));
        const Rows L = eliminated(*s, tree.order);
        for (Index f = 0; f < tree.fronts(); ++f) {
            const auto rows = std::span(tree.row).subspan(tree.row_ptr[f], tree.updates(f));
            EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
            for (Index k = tree.pivot_ptr[f]; k < tree.pivot_ptr[f + 1]; ++k)
                for (const Index i : L[k])
                    EXPECT_TRUE(i < tree.pivot_ptr[f + 1] || std::ranges::binary_search(rows, i));
            if (tree.parent[f] < 0) {
                EXPECT_TRUE(rows.empty());
                continue;
            }
            EXPECT_GT(tree.parent[f], f);
            const Index up = tree.parent[f];
            const auto  above = std::span(tree.row).subspan(tree.row_ptr[up], tree.updates(up));
            for (const Index i : rows) {
                const bool pivot = i >= tree.pivot_ptr[up] && i < tree.pivot_ptr[up + 1];
                EXPECT_TRUE(pivot || std::ranges::binary_search(above, i));
            }
        }
    }
}

TEST(FrontPlan, PlacesNameTheSameRows)
{
    Cpu be(2);
    for (const auto& A : test::front_systems()) {
        const auto       s = analyse(view<double>(A));
        const auto       plan = make_front_plan(be, *s);
        const FrontTree& tree = plan->tree;
        for (Index f = 0; f < tree.fronts(); ++f) {
            const Index up = tree.parent[f];
            if (up < 0) continue;
            for (Offset p = tree.row_ptr[f]; p < tree.row_ptr[f + 1]; ++p) {
                const Index at = plan->place[p], pivots = tree.pivots(up);
                EXPECT_EQ(at < pivots ? tree.pivot_ptr[up] + at : tree.row[tree.row_ptr[up] + at - pivots],
                          tree.row[p]);
            }
        }
    }
}

TEST(FrontPlan, EveryEntryHasOnePlace)
{
    Cpu be(2);
    for (const auto& A : test::front_systems()) {
        const auto          s = analyse(view<double>(A));
        const auto          plan = make_front_plan(be, *s);
        std::vector<Offset> sources(plan->in_source.begin(), plan->in_source.end());
        sources.insert(sources.end(), plan->f_source.begin(), plan->f_source.end());
        std::sort(sources.begin(), sources.end());
        for (std::size_t p = 0; p < sources.size(); ++p) EXPECT_EQ(sources[p], static_cast<Offset>(p));
        EXPECT_EQ(std::ssize(sources), s->input_nnz);
        std::set<Offset> targets(plan->in_target.begin(), plan->in_target.end());
        EXPECT_EQ(targets.size(), plan->in_target.size());  // no duplicates here
        for (const Offset at : plan->in_target) EXPECT_LT(at, plan->numbers());
    }
}

}  // namespace
}  // namespace ilux
