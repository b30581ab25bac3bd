// Oracles: every index is met once; what is thrown arrives.

#include "ilux/base/tasks.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

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

}  // namespace
}  // namespace ilux
