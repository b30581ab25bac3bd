// Oracles: every index is met once; what is thrown arrives.

#include "ilux/base/tasks.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ilux/base/wall_clock.hpp"

namespace ilux {
namespace {

TEST(Tasks, PiecesMeetEveryIndexOnce)
{
    for (const int threads : {1, 2, 8}) {
        for (const Index n : {0, 1, piece_length - 1, piece_length, piece_length + 1, 5 * piece_length + 3}) {
            std::vector<int>   met(n, 0);
            std::vector<Index> first(pieces_of(n), -1);
            with_tasks(Cpu(threads), true, [&] {
                for_pieces(n, [&](Index piece, Index begin, Index end) {
                    first[piece] = begin;
                    for (Index i = begin; i < end; ++i) ++met[i];
                });
            });
            EXPECT_EQ(met, std::vector<int>(n, 1)) << n;
            for (Index k = 0; k < pieces_of(n); ++k) EXPECT_EQ(first[k], k * piece_length);
        }
    }
}

TEST(Tasks, ThreadsShareMoreTasksThanOneOfThemHasRoomFor)
{
    constexpr double      patience = 20;
    std::atomic<unsigned> met = 0;
    std::atomic<bool>     waited = false;
    const Cpu             two(2);
    with_tasks(two, true, [&] {
        for_tasks(500, [&](Index) {
            met |= 1U << omp_get_thread_num();
            for (const WallClock clock; met != 3 && !waited; std::this_thread::yield())
                if (clock.seconds() > patience) waited = true;
        });
    });
    EXPECT_EQ(met, 3U) << "one thread did them all";
}

TEST(Tasks, OfATaskAreSharedLikewise)
{
    constexpr Index    outer = 100, inner = 300;
    std::vector<Index> sum(outer, 0);
    with_tasks(Cpu(4), true, [&] {
        for_tasks(outer, [&](Index k) {
            std::atomic<Index> own = 0;
            for_tasks(inner, [&](Index j) { own += j; });
            sum[k] = own;
        });
    });
    EXPECT_EQ(sum, std::vector<Index>(outer, inner * (inner - 1) / 2));
    EXPECT_THROW(with_tasks(Cpu(4), true,
                            [] {
                                for_tasks(1000, [](Index k) {
                                    if (k == 700) throw std::runtime_error("task 700");
                                });
                            }),
                 std::runtime_error);
}

TEST(Tasks, PiecesNeedNoTeam)
{
    Index sum = 0;
    for_pieces(3 * piece_length, [&](Index, Index begin, Index end) { sum += end - begin; });
    EXPECT_EQ(sum, 3 * piece_length);
}

TEST(Tasks, WhatAPieceThrowsArrives)
{
    for (const int threads : {1, 4})
        EXPECT_THROW(with_tasks(Cpu(threads), true,
                                [] {
                                    for_pieces(4 * piece_length, [](Index piece, Index, Index) {
                                        if (piece == 2) throw std::runtime_error("piece 2");
                                    });
                                }),
                     std::runtime_error);
}

TEST(Tasks, AForestIsVisitedOnceAndChildrenComeBeforeParents)
{
    for (const Index n : {0, 1, 2, 33, 5000, 3 * piece_length})
        for (const Index spread : {1, 2, 40, 20'000}) {  // 1: a chain
            std::vector<Index> parent(n);
            for (Index k = 0; k < n; ++k) parent[k] = k + 1 + Index(Offset{k} * 7919 % spread);
            for (Index& up : parent)
                if (up >= n) up = -1;
            for (const int threads : {1, 2, 3, 7}) {
                std::vector<Index>              size(n, 0), visits(n, 0);
                std::vector<std::vector<Index>> children(n);
                for (Index k = 0; k < n; ++k)
                    if (parent[k] >= 0) children[parent[k]].push_back(k);
                with_tasks(Cpu(threads), true, [&] {
                    for_forest(
                        n, [&](Index k) { return parent[k]; },
                        [&](Index k) {
                            ++visits[k];
                            size[k] = 1;
                            for (const Index c : children[k]) size[k] += size[c];
                        });
                });
                ASSERT_EQ(visits, std::vector<Index>(n, 1)) << n << ", " << spread << ", " << threads;
                Index all = 0;
                for (Index k = 0; k < n; ++k)
                    if (parent[k] < 0) all += size[k];
                ASSERT_EQ(all, n) << spread << ", " << threads;
            }
        }
}

TEST(Tasks, WhatAVisitThrowsArrives)
{
    for (const int threads : {1, 4})
        EXPECT_THROW(with_tasks(Cpu(threads), true,
                                [] {
                                    for_forest(
                                        100, [](Index k) { return k < 99 ? k + 1 : -1; },
                                        [](Index k) {
                                            if (k == 50) throw std::runtime_error("50");
                                        });
                                }),
                     std::runtime_error);
}

TEST(Tasks, AnyIsFoundWhereverItIs)
{
    for (const int threads : {1, 3})
        for (const Offset n : {Offset{0}, Offset{1}, Offset{2 * piece_length + 1}})
            with_tasks(Cpu(threads), true, [&] {
                EXPECT_FALSE(any_by_tasks(n, [](Offset) { return false; }));
                for (const Offset at : {Offset{0}, n / 2, n - 1})
                    EXPECT_EQ(any_by_tasks(n, [&](Offset k) { return k == at; }), n > 0);
            });
}

}  // namespace
}  // namespace ilux
