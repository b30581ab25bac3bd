#include "ilux/direct/solve/lu_solve.hpp"

#include <algorithm>
#include <thread>

#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/klu/both_ways.hpp"

namespace ilux::test {
namespace {

std::vector<double> solved(const LuFactors<>& factors, std::span<const double> b, Transpose transpose = Transpose::no,
                           Index together = 1, int threads = 1)
{
    Cpu                 cpu(threads);
    LuWorkspace<>       ws(factors.pattern->n, together);
    std::vector<double> x(b.size(), nan);
    lu_solve(cpu, factors, b, x, ws, transpose);
    return x;
}

TEST(LuSolve, OfThreeUnknownsInTwoBlocksByHand)
{
    // L = [1; 1/2 1], U = [4 2; 4], F = (0,1): 3
    const auto hand = factored({.B = dense(3, {2, 3, 0, 0, 4, 2, 0, 2, 5}), .block_ptr = {0, 1, 3}});
    ASSERT_EQ(hand.factors.val, (LuValues<double>{2, 4, 0.5, 2, 4}));
    ASSERT_EQ(hand.factors.f_val, std::vector<double>{3});
    EXPECT_EQ(solved(hand.factors, std::vector<double>{5, 6, 7}), (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(solved(hand.factors, std::vector<double>{2, 9, 7}, Transpose::yes), (std::vector<double>{1, 1, 1}));
}

TEST(LuSolve, PermutesAndScalesByTheRuleOfLuPattern)
{
    // B(k,j) = r[row_perm[k]] A(row_perm[k], col_perm[j]) c[col_perm[j]] = diag(1, 2)
    const auto hand = factored({.B = dense(2, {1, 0, 0, 2}),
                                .row_perm = {1, 0},
                                .col_perm = {0, 1},
                                .row_scale = {2, 4},
                                .col_scale = {8, 16}});
    ASSERT_EQ(hand.A, dense(2, {0, 2.0 / 32, 1.0 / 32, 0}));
    EXPECT_EQ(solved(hand.factors, std::vector<double>{2, 3}), (std::vector<double>{96, 32}));
    EXPECT_EQ(solved(hand.factors, std::vector<double>{2, 3}, Transpose::yes), (std::vector<double>{48, 64}));
}

TEST(LuSolve, AgreesWithDenseEliminationForManyShapes)
{
    const std::vector<std::vector<Index>> shapes{{},         {1},  {2},    {1, 1},       {5},         {31},
                                                 {32},       {33}, {1, 7}, {7, 1, 1, 9}, {10, 20, 3}, {1, 1, 1, 1, 1},
                                                 {64, 1, 35}};
    for (const auto& shape : shapes)
        for (const double density : {0.05, 0.3, 1.0}) {
            const auto  made = random_factors(shape, density, 7 * shape.size() + 1);
            const Index n = made.A.rows;
            const auto  b = random_vector(n, 5);
            EXPECT_LE(relative_difference(solved(made.factors, b), dense_solve(made.A, b)), 1e-12) << "n = " << n;
            EXPECT_LE(relative_difference(solved(made.factors, b, Transpose::yes), dense_solve(transposed(made.A), b)),
                      1e-12)
                << "n = " << n;
        }
}

TEST(LuSolve, WithoutScalesUsesOnes)
{
    auto made = factored({.B = dense(3, {4, 1, 0, 2, 5, 1, 0, 1, 3}), .row_perm = {2, 0, 1}, .col_perm = {1, 2, 0}});
    const std::vector<double> b{1, -2, 3};
    for (const Transpose way : both_ways) {
        const Dense A = way == Transpose::no ? made.A : transposed(made.A);
        EXPECT_LE(relative_difference(solved(made.factors, b, way), dense_solve(A, b)), 4 * eps);
    }
}

TEST(LuSolve, OfSeveralRightHandSidesHasTheBitsOfOneAtATime)
{
    for (const auto& shape : std::vector<std::vector<Index>>{{1}, {33}, {12, 1, 20}, {40, 40, 1, 1}}) {
        const auto  made = random_factors(shape, 0.4, shape.size());
        const Index n = made.A.rows;
        for (const Index count : {1, 2, 3, 4, 5, 8, 9, 33}) {
            const auto          b = random_vector(n * count, count);
            std::vector<double> one_by_one[2];
            for (const Transpose way : both_ways)
                for (Index c = 0; c < count; ++c)
                    for (const double x : solved(made.factors, std::span(b).subspan(c * n, n), way))
                        one_by_one[way == Transpose::yes].push_back(x);
            for (const Transpose way : both_ways)
                for (const Index together : {1, 2, 4, 7, 8, 9, 40})
                    EXPECT_TRUE(identical(solved(made.factors, b, way, together), one_by_one[way == Transpose::yes]))
                        << count << " right-hand sides, " << together << " together, n = " << n;
        }
    }
}

TEST(LuSolve, HasTheSameBitsForEveryNumberOfThreads)
{
    const auto  made = random_factors({150, 1, 60}, 0.9, 3);  // 26,000 entries: enough to fork for
    const Index n = made.A.rows;
    for (const Index count : {9, 16, 33}) {
        const auto b = random_vector(n * count, count);
        for (const Transpose way : both_ways)
            for (const Index together : {1, 8, 33})
                for (const int threads : {2, 3, 8})
                    EXPECT_TRUE(identical(solved(made.factors, b, way, together, threads),
                                          solved(made.factors, b, way, together)))
                        << count << " right-hand sides on " << threads << " threads";
    }
}

TEST(LuSolve, OverwritesItsRightHandSides)
{
    const auto made = random_factors({20, 1, 11}, 0.3, 9);
    const auto n = made.A.rows;
    for (const Index count : {1, 3, 17})
        for (const Transpose way : both_ways) {
            auto          both = random_vector(n * count, 3);
            const auto    expected = solved(made.factors, both, way);
            Cpu           cpu(1);
            LuWorkspace<> ws(n, 8);
            lu_solve(cpu, made.factors, both, both, ws, way);
            EXPECT_TRUE(identical(both, expected));
        }
}

TEST(LuSolve, KeepsNaNInItsOwnSystemAndOutOfLaterBlocks)
{
    const auto  made = random_factors({10, 12}, 0.5, 4);
    const auto& P = *made.factors.pattern;
    const Index n = P.n, count = 5;
    auto        b = random_vector(n * count, 1);
    const auto  expected = solved(made.factors, b, Transpose::no, 8);
    b[2 * n + P.row_perm[3]] = nan;  // a row of the first block
    const auto x = solved(made.factors, b, Transpose::no, 8);
    for (Index c = 0; c < count; ++c)
        for (Index k = 0; k < n; ++k) {
            const std::size_t at = c * n + P.col_perm[k];
            if (c != 2 || k >= 10) {
                EXPECT_EQ(x[at], expected[at]) << "system " << c << ", row " << k;
            }
        }
    EXPECT_TRUE(std::isnan(x[2 * n + P.col_perm[3]]));
}

TEST(LuSolve, AllocatesNothing)
{
    const auto    made = random_factors({60, 1, 30}, 0.5, 2);
    const Index   n = made.A.rows;
    const Held    A(made.A, MatrixLayout::columns);
    auto          b = random_vector(n * 9, 1), x = b;
    Cpu           cpu(1);
    LuWorkspace<> ws(n, 8);

    AllocationCounter counter;
    lu_solve(cpu, made.factors, b, x, ws);
    lu_solve(cpu, made.factors, b, x, ws, Transpose::yes);
    static_cast<void>(lu_refine(cpu, made.factors, A.view(), std::span(b).first(n), std::span(x).first(n), ws));
    static_cast<void>(condition_estimate(cpu, made.factors, A.view(), ws));
    EXPECT_EQ(counter.count(), 0);
}

TEST(LuSolve, ServesTwoThreadsAtOnceFromOneFactor)
{
    const auto          made = random_factors({50, 1, 50}, 0.5, 8);
    const Index         n = made.A.rows;
    const auto          b = random_vector(n * 8, 1);
    std::vector<double> x[2];
    std::vector<double> expected[2] = {solved(made.factors, b), solved(made.factors, b, Transpose::yes)};
    bool                same[2] = {true, true};
    const auto          work = [&](int which) {
        for (int round = 0; round < 200; ++round) {
            x[which] = solved(made.factors, b, both_ways[which], round % 2 == 0 ? 8 : 1);
            same[which] &= identical(x[which], expected[which]);
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    EXPECT_TRUE(same[0] && same[1]);
}

TEST(LuSolve, RefusesWrongLengthsAndBadPivots)
{
    auto                made = random_factors({4}, 1, 1);
    Cpu                 cpu(1);
    LuWorkspace<>       ws(4), small(3);
    std::vector<double> x(8);
    const auto          solve = [&](std::size_t of_b, std::size_t of_x, LuWorkspace<>& with) {
        lu_solve(cpu, made.factors, std::span(x).first(of_b), std::span(x).first(of_x), with);
    };
    expect_refusal([&] { solve(4, 8, ws); }, {"4", "8", "n = 4"});
    expect_refusal([&] { solve(5, 5, ws); }, {"5", "n = 4"});
    expect_refusal([&] { solve(4, 4, small); }, {"n = 3", "n = 4"});
    made.factors.monitor.bad_column = 2;
    expect_refusal([&] { solve(4, 4, ws); }, {"bad pivot", "column 2"});

    const auto none = random_factors({}, 1, 1);
    expect_refusal([&] { lu_solve(cpu, none.factors, x, x, ws); }, {"8", "n = 0"});
}

}  // namespace
}  // namespace ilux::test
