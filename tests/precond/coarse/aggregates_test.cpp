// Aggregates: every node with a tie in one of them, connected, and the same on any number of threads.

#include "ilux/precond/coarse/aggregates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

Groups<> aggregates_of(const CsrMatrix<double>& A, Index unknowns = 0, int threads = 1)
{
    Cpu be(threads);
    return aggregates<Cpu, double>(be, A, groups_of(be, nodes_of<double>(A)), unknowns);
}

/// Whether the unknowns of each aggregate hang together in A.
bool are_connected(const CsrMatrix<double>& A, const Groups<>& parts)
{
    std::vector<Index> label(A.rows());
    for (Index i = 0; i < A.rows(); ++i) label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (Index i = 0; i < A.rows(); ++i)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (const Index j = A.col()[p]; parts.of[i] == parts.of[j] && label[j] < label[i])
                    label[i] = label[j], changed = true;
    }
    std::set<std::pair<Index, Index>> seen;
    for (Index i = 0; i < A.rows(); ++i) seen.insert({parts.of[i], label[i]});
    return static_cast<Index>(seen.size()) == parts.count();
}

TEST(Aggregates, HoldEveryUnknownOfAMeshAndHangTogether)
{
    for (const auto& A : {gallery::poisson2d(40, 30), gallery::poisson3d(12, 12, 12), gallery::convdiff2d({.n = 33})})
        for (const Index unknowns : {0, 30, 200}) {
            const auto parts = aggregates_of(A, unknowns);
            EXPECT_GE(*std::ranges::min_element(parts.of), 0);
            EXPECT_EQ(*std::ranges::max_element(parts.of) + 1, parts.count());
            EXPECT_TRUE(are_connected(A, parts));
            const double mean = static_cast<double>(A.rows()) / parts.count();
            EXPECT_GE(mean, 4);
            if (unknowns == 0) continue;
            EXPECT_LE(mean, 4 * unknowns);
            EXPECT_GE(mean, 0.2 * unknowns);
        }
}

TEST(Aggregates, AreTheSameOnAnyNumberOfThreads)
{
    const auto A = gallery::convdiff3d({.n = 24});
    const auto one = aggregates_of(A, 60);
    for (const int threads : {2, 5}) EXPECT_EQ(aggregates_of(A, 60, threads).of, one.of);
}

TEST(Aggregates, ANodeKeepsItsUnknownsTogether)
{
    const auto A = gallery::elasticity2d({.n = 20});
    Cpu        be(1);
    const auto nodes = groups_of(be, nodes_of<double>(A));
    EXPECT_FALSE(nodes.alone());
    EXPECT_EQ(2 * nodes.count(), A.rows());
    const auto parts = aggregates<Cpu, double>(be, A, nodes, 0);
    EXPECT_GE(*std::ranges::min_element(parts.of), 0);
    for (Index i = 0; i < A.rows(); i += 2) EXPECT_EQ(parts.of[i], parts.of[i + 1]);
}

TEST(Aggregates, WhatHasNoTieIsInNone)
{
    for (const Index n : {0, 1, 31, 32, 33}) {
        const auto parts = aggregates_of(CsrMatrix<double>::identity(n));
        EXPECT_EQ(parts.count(), 0);
        EXPECT_EQ(parts.of, std::vector<Index>(n, -1));
    }
}

TEST(Aggregates, FollowStrongTies)
{
    const auto A = gallery::anisotropic2d({.n = 32, .eps = 1e-3, .angle = 0});  // strong along lines of the mesh
    const auto parts = aggregates_of(A);
    Index      of_rows = 0, of_columns = 0;
    for (Index i = 0; i + 32 < A.rows(); ++i) {
        if (i % 32 != 31) of_rows += parts.of[i] == parts.of[i + 1];
        of_columns += parts.of[i] == parts.of[i + 32];
    }
    EXPECT_EQ(std::min(of_rows, of_columns), 0);
    EXPECT_GE(std::max(of_rows, of_columns), A.rows() / 2);
}

}  // namespace
}  // namespace ilux
