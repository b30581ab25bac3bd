#include "ilux/direct/solve/residual_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "ilux/direct/solve/refine_loop.hpp"
#include "ilux/tests/direct/solve/residual_systems.hpp"

namespace ilux::test {
namespace {

/// (row, column, position among the values) of the system, by stored vectors.
using Places = std::vector<std::tuple<Index, Index, Offset>>;

Places places_of(const Entries& A, bool by_rows)
{
    Places all;
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p)
            all.emplace_back(by_rows ? k : A.col[p], by_rows ? A.col[p] : k, p);
    std::ranges::stable_sort(all, {}, [](const auto& place) { return std::get<0>(place); });
    return all;
}

TEST(ResidualRows, HoldEveryEntryInItsRowInTheOrderOfAddition)
{
    for (const Entries& A : residual_systems())
        for (const auto layout : both_layouts)
            for (const Transpose way : both_ways) {
                const bool         by_rows = (layout == MatrixLayout::rows) == (way == Transpose::no);
                const ResidualRows rows = residual_rows(*only_pattern(A, layout), way);
                ASSERT_EQ(rows.ptr.size(), A.n + 1);
                ASSERT_EQ(rows.source.empty(), by_rows || A.col.empty());
                Places found;
                for (Index i = 0; i < A.n; ++i)
                    for (Offset p = rows.ptr[i]; p < rows.ptr[i + 1]; ++p)
                        found.emplace_back(i, rows.col[p], by_rows ? p : Offset{rows.source[p]});
                ASSERT_EQ(found, places_of(A, by_rows));
            }
}

TEST(ResidualRows, AreCutIntoSumsOfBoundedLength)
{
    bool any_short = false, any_piece = false, any_long = false;
    for (const Entries& A : residual_systems()) {
        const ResidualRows R = residual_rows(*only_pattern(A, MatrixLayout::rows), Transpose::no);
        std::vector<int>   row_met(A.n), met(A.col.size());
        const auto         meet = [&](Offset first, Offset end) {
            for (Offset p = first; p < end; ++p) ++met[p];
        };
        for (const Index i : R.short_row) {
            ++row_met[i];
            ASSERT_LE(R.ptr[i + 1] - R.ptr[i], ResidualRows::steps << R.log2_part);
            meet(R.ptr[i], R.ptr[i + 1]);
        }
        std::vector<ResidualRows::Piece> partial(R.partial_ptr.back(), {0, 0, 0});
        for (const auto& piece : R.piece) {
            ASSERT_LE(piece.count, ResidualRows::piece_entries);
            ASSERT_GT(piece.count, 0);
            meet(piece.first, piece.first + piece.count);
            if (piece.row < 0) {
                partial.at(~piece.row) = piece;
            } else {
                ++row_met[piece.row];
                ASSERT_EQ(piece.first, R.ptr[piece.row]);
                ASSERT_EQ(piece.count, R.ptr[piece.row + 1] - R.ptr[piece.row]);
                any_piece = true;
            }
        }
        for (std::size_t k = 0; k < R.long_row.size(); ++k) {
            ++row_met[R.long_row[k]];
            Offset at = R.ptr[R.long_row[k]];
            for (Index s = R.partial_ptr[k]; s < R.partial_ptr[k + 1]; at += partial[s++].count)
                ASSERT_EQ(partial[s].first, at);
            ASSERT_EQ(at, R.ptr[R.long_row[k] + 1]);
        }
        EXPECT_EQ(row_met, std::vector<int>(A.n, 1));
        EXPECT_EQ(met, std::vector<int>(A.col.size(), 1));
        any_short |= !R.short_row.empty();
        any_long |= !R.long_row.empty();
    }
    EXPECT_TRUE(any_short && any_piece && any_long);
}

/// Errors of the first x and of what corrections make of it, and what is to come of them.
struct Course {
    std::vector<double> error;
    Index               steps, accepted;
    double              left;
};

TEST(RefineLoop, StopsWhereItShould)
{
    const LuOptions options{.refine_steps = 3, .refine_target = 1e-12};
    for (const Course& c : std::vector<Course>{{{0}, 0, 0, 0},
                                               {{1e-12}, 0, 0, 1e-12},                  // good enough
                                               {{1, 1e-3, 1e-13, 0}, 2, 2, 1e-13},      // until it is
                                               {{1, 0.1, 0.01, 0.001, 0}, 3, 3, 1e-3},  // or there are no more steps
                                               {{1, 0.6, 0}, 1, 1, 0.6},       // a step of little use is the last
                                               {{1, 0.5, 0.6, 0}, 2, 1, 0.5},  // one of harm is undone
                                               {{1, 1, 0}, 1, 0, 1},
                                               {{1, nan, 0}, 1, 0, 1},
                                               {{1, infinity, 0}, 1, 0, 1},
                                               {{nan, 0}, 0, 0, infinity},
                                               {{infinity, 0}, 0, 0, infinity}}) {
        std::size_t at = 0;
        Index       accepted = 0;
        const auto  next = [&] { return c.error.at(at++); };
        const auto  report = detail::refine(options, next, next, [&] { ++accepted; });
        SCOPED_TRACE(::testing::PrintToString(c.error));
        EXPECT_EQ(report.steps, c.steps);
        EXPECT_EQ(accepted, c.accepted);
        EXPECT_EQ(report.backward_error, c.left);
        EXPECT_EQ(report.finite, c.left < infinity);
    }
}

TEST(RefineLoop, KeepsTheErrorsOfTheFirstStepsAlsoThoseNotTaken)
{
    const auto errors_of = [](std::vector<double> course, Index steps) {
        std::size_t at = 0;
        const auto  next = [&] { return course.at(at++); };
        return detail::refine({.refine_steps = steps, .refine_target = 0}, next, next, [] {}).first_errors;
    };
    const auto harmed = errors_of({1, 0.25, 0.5}, 5);
    EXPECT_EQ(harmed[0], 1);
    EXPECT_EQ(harmed[1], 0.25);
    EXPECT_EQ(harmed[2], 0.5);
    std::vector<double> many;
    for (int k = 0; k <= 20; ++k) many.push_back(std::ldexp(1.0, -2 * k));
    const auto kept = errors_of(many, 20);  // more steps than there is room for
    for (std::size_t k = 0; k < kept.size(); ++k) EXPECT_EQ(kept[k], many[k]) << k;
}

TEST(RefineLoop, IsContentWithTwoEpsilonWhateverTheTarget)
{
    for (const double error : {2 * eps, 2.5 * eps}) {
        const auto report = detail::refine(
            {.refine_target = 0}, [&] { return error; }, [] { return 0.0; }, [] {});
        EXPECT_EQ(report.steps, error > 2 * eps ? 1 : 0);
    }
}

}  // namespace
}  // namespace ilux::test
