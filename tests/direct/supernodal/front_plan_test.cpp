#include "ilux/direct/supernodal/front_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "ilux/direct/supernodal/block_adjacency.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
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

/// A matrix as a caller may hold it.
struct Given {
    std::string         name;
    Index               n = 0;
    std::vector<Offset> ptr{0};
    std::vector<Index>  idx;
    std::vector<double> val;
    MatrixLayout        layout = MatrixLayout::rows;

    MatrixView<> view() const { return {n, ptr, idx, val, layout}; }
};

enum class Shape { symmetric, unsymmetric, triangular };

/// A mesh of side² unknowns. Unsymmetric: every fifth entry off the diagonal is left out; triangular: of seven strips,
/// each has entries in the next one that are not mirrored. @param twice  every third entry comes in two parts
Given mesh(Index side, Shape shape, bool twice, MatrixLayout layout)
{
    const auto  A = gallery::convdiff2d({.n = side});
    const Index n = A.rows(), strip = n / 7 + 1;
    Given       given;
    given.name = fmt::format("{}² {} {} {}", side, int(shape), twice, int(layout));
    given.n = n;
    given.layout = layout;
    Offset met = 0;
    for (Index i = 0; i < n; ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p, ++met) {
            const Index j = A.col()[p];
            if (shape == Shape::unsymmetric && j != i && met % 5 == 0) continue;
            if (shape == Shape::triangular && j / strip < i / strip) continue;
            for (int part = 0; part <= int(twice && met % 3 == 0); ++part) {
                given.idx.push_back(j);
                given.val.push_back(A.val()[p] / (1 + part));
            }
        }
        given.ptr.push_back(std::ssize(given.idx));
    }
    return given;
}

std::vector<Given> systems_for_threads()
{
    std::vector<Given> all;
    for (const auto& A : test::front_systems())
        all.push_back({.name = fmt::format("n = {}, nnz = {}", A.rows(), A.nnz()),
                       .n = A.rows(),
                       .ptr = {A.row_ptr().begin(), A.row_ptr().end()},
                       .idx = {A.col().begin(), A.col().end()},
                       .val = {A.val().begin(), A.val().end()}});
    for (const Shape shape : {Shape::symmetric, Shape::unsymmetric, Shape::triangular})
        for (const bool twice : {false, true}) all.push_back(mesh(160, shape, twice, MatrixLayout::rows));
    all.push_back(mesh(160, Shape::triangular, true, MatrixLayout::columns));
    all.push_back(mesh(210, Shape::symmetric, false, MatrixLayout::columns));
    return all;
}

void expect_same(const LuSymbolic& a, const LuSymbolic& b)
{
    EXPECT_EQ(a.input_ptr, b.input_ptr);
    EXPECT_EQ(a.input_idx, b.input_idx);
    EXPECT_EQ(a.row_perm, b.row_perm);
    EXPECT_EQ(a.col_perm, b.col_perm);
    EXPECT_EQ(a.block_ptr, b.block_ptr);
    EXPECT_EQ(a.col_ptr, b.col_ptr);
    EXPECT_EQ(a.row, b.row);
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.report.decisions, b.report.decisions);
    EXPECT_EQ(a.report.nnz, b.report.nnz);
    EXPECT_EQ(a.report.flops, b.report.flops);
}

void expect_same(const FrontPlan& a, const FrontPlan& b)
{
    EXPECT_EQ(a.tree.order, b.tree.order);
    EXPECT_EQ(a.tree.pivot_ptr, b.tree.pivot_ptr);
    EXPECT_EQ(a.tree.row_ptr, b.tree.row_ptr);
    EXPECT_EQ(a.tree.row, b.tree.row);
    EXPECT_EQ(a.tree.parent, b.tree.parent);
    EXPECT_EQ(a.tree.child, b.tree.child);
    EXPECT_EQ(a.row_perm, b.row_perm);
    EXPECT_EQ(a.col_perm, b.col_perm);
    EXPECT_EQ(a.val_ptr, b.val_ptr);
    EXPECT_EQ(a.place, b.place);
    EXPECT_EQ(a.in_ptr, b.in_ptr);
    EXPECT_EQ(a.in_source, b.in_source);
    EXPECT_EQ(a.in_target, b.in_target);
    EXPECT_EQ(a.in_row, b.in_row);
    EXPECT_EQ(a.in_col, b.in_col);
    EXPECT_EQ(a.f_col_ptr, b.f_col_ptr);
    EXPECT_EQ(a.f_row, b.f_row);
    EXPECT_EQ(a.f_source, b.f_source);
    EXPECT_EQ(a.passes.size(), b.passes.size());
    EXPECT_EQ(a.multiply_adds, b.multiply_adds);
}

TEST(FrontPlan, AndAnalysisAndScalesAreTheSameOnAnyNumberOfThreads)
{
    for (const auto& given : systems_for_threads()) {
        SCOPED_TRACE(given.name);
        const LuOptions options;
        Cpu             one(1);
        const auto      s = analyse(given.view(), options, {}, one);
        const auto      plan = make_front_plan(one, *s);
        const auto      pattern = front_pattern<double>(one, *s, *plan, options, given.val);
        for (const int threads : {2, 3, 7}) {
            SCOPED_TRACE(threads);
            Cpu        be(threads);
            const auto same = analyse(given.view(), options, {}, be);
            expect_same(*s, *same);
            const auto same_plan = make_front_plan(be, *same);
            expect_same(*plan, *same_plan);
            const auto same_pattern = front_pattern<double>(be, *same, *same_plan, options, given.val);
            EXPECT_EQ(pattern->row_scale, same_pattern->row_scale);
            EXPECT_EQ(pattern->in_scale, same_pattern->in_scale);
        }
    }
}

}  // namespace
}  // namespace ilux
