#include "ilux/precond/mlilu/level_budget.hpp"

#include <gtest/gtest.h>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

// 12 bytes an entry, 88 an accepted row, 512 a level: see level_budget.cpp.
LevelBudget<> with_room_for(Offset entries, Index rows)
{
    const auto bytes = static_cast<std::size_t>(512 + 88 * Offset{rows} + 12 * entries);
    return {CsrMatrix<>::identity(1), Bytes{bytes}};
}

/// `count` entries in one row.
CsrMatrix<> entries(Index count)
{
    std::vector<Index> col(count);
    for (Index j = 0; j < count; ++j) col[j] = j;
    return CsrMatrix<>::from_sorted(1, count, {0, count}, std::move(col), std::vector<double>(count, 1.));
}

CroutLevel<> level_of(Index accepted, Index postponed)
{
    CroutLevel level;
    level.accepted.resize(accepted);
    level.postponed.resize(postponed);
    level.L_B = entries(10);
    level.U_B = entries(20);
    return level;
}

TEST(LevelBudget, CountsTheEntriesThatRowsLeaveRoomFor)
{
    const auto budget = with_room_for(100, 10);
    EXPECT_EQ(budget.entries_left(10), 100);
    EXPECT_EQ(budget.entries_left(7), 122);  // three rows less: 264 bytes, 22 entries
    EXPECT_EQ(budget.entries_left(0), 173);  // 880 bytes: 73 and a third
    EXPECT_EQ(budget.entries_left(1000), 0);
}

TEST(LevelBudget, HoldsWhatTheTwoKindsOfLevelStoreAgainstTheRoom)
{
    auto crout = level_of(6, 0);
    crout.L_G = entries(30);
    crout.U_F = entries(40);
    const LevelBlocks<> blocks{.F = entries(35), .G = entries(34), .C = entries(1000)};
    for (Offset room : {98, 99, 100}) {
        EXPECT_EQ(with_room_for(room, 6).saved_fits(crout, blocks), room >= 99);  // 10 + 20 + 34 + 35
        EXPECT_EQ(with_room_for(room, 6).kept_fits(crout), room >= 100);          // 10 + 20 + 30 + 40
    }
}

TEST(LevelBudget, ChargesAPostponedRowThreeEntriesBesideARowOfTheNextLevel)
{
    const auto crout = level_of(6, 4);
    for (Offset room : {41, 42}) EXPECT_EQ(with_room_for(room, 10).kept_fits(crout), room >= 30 + 3 * 4);
}

TEST(LevelBudget, LetsADiagonalPassWhateverIsLeft)
{
    const auto empty = with_room_for(0, 1);
    EXPECT_TRUE(empty.next_fits(CsrMatrix<>::identity(50)));
    EXPECT_FALSE(empty.next_fits(gallery::poisson2d(5, 5)));
    EXPECT_TRUE(with_room_for(105, 25).next_fits(gallery::poisson2d(5, 5)));
    EXPECT_FALSE(with_room_for(104, 25).next_fits(gallery::poisson2d(5, 5)));
}

TEST(LevelBudget, ShrinksByWhatIsTaken)
{
    auto budget = with_room_for(100, 10);
    EXPECT_TRUE(budget.fits(2592));
    EXPECT_FALSE(budget.fits(2593));
    budget.take(600);
    EXPECT_EQ(budget.entries_left(10), 50);
    budget.take(10000);  // a last diagonal may
    EXPECT_EQ(budget.entries_left(10), 0);
    EXPECT_FALSE(budget.fits(0));
}

TEST(LevelBudget, HasALargestDenseLevelBesideItsBytes)
{
    const LevelBudget<> budget(CsrMatrix<>::identity(1), Bytes{DenseLevel<>::bytes(100)});
    EXPECT_TRUE(budget.dense_fits(100));
    EXPECT_FALSE(budget.dense_fits(101));
    const LevelBudget<> ample(CsrMatrix<>::identity(1), Bytes{std::size_t{1} << 40});
    EXPECT_TRUE(ample.dense_fits(DenseLevel<>::largest));
    EXPECT_FALSE(ample.dense_fits(DenseLevel<>::largest + 1));
}

TEST(LevelBudget, IsFortyTimesTheMatrixOrEightyMegabytesWhereNoneIsGiven)
{
    const LevelBudget<> automatic(CsrMatrix<>::identity(10), {});
    EXPECT_FALSE(automatic.given());
    EXPECT_TRUE(automatic.fits(80'000'880));
    EXPECT_FALSE(automatic.fits(80'000'881));
    EXPECT_NO_THROW(automatic.check(std::size_t{1} << 50));
    const auto    A = gallery::poisson2d(400, 400);
    LevelBudget<> of_a_large_matrix(A, {});
    EXPECT_TRUE(of_a_large_matrix.fits(40 * A.bytes()));
    EXPECT_FALSE(of_a_large_matrix.fits(40 * A.bytes() + 1));
}

TEST(LevelBudget, RefusesALimitThatHoldsNotEvenADiagonal)
{
    const auto A = CsrMatrix<>::identity(10);
    test::expect_refusal<OutOfMemory>([&] { LevelBudget(A, Bytes{999}); }, {"999 bytes", "10 rows", "1000 bytes"});
    const LevelBudget<> least(A, Bytes{1000});
    EXPECT_TRUE(least.given());
    EXPECT_NO_THROW(least.check(1000));
    test::expect_refusal<OutOfMemory>([&] { least.check(1001); }, {"1000 bytes", "about 1001 bytes"});
}

}  // namespace
}  // namespace ilux
