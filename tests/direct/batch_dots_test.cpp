#include "ilux/direct/batch_dots.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ilux/direct/batch_monitor.hpp"
#include "ilux/direct/lu_dots.hpp"
#include "ilux/tests/direct/dot_systems.hpp"

namespace ilux::test {
namespace {

constexpr Index pilot_distance = 4;

/// What one lane of the kernel does; reads NaN where an earlier item did not write.
std::vector<double> run_batch_dots(const BatchDots& dots, const DotProgram& program, std::span<const double> input,
                                   const double* a)
{
    std::vector<double> v(program.slots(), std::numeric_limits<double>::quiet_NaN());
    std::fill_n(v.begin(), DotProgram::first_slot, 0.0);
    v[DotProgram::minus_one_slot] = -1;
    if (!program.a_given) a = v.data();
    for (const BatchDots::Item& item : dots.item) {
        std::array<double, BatchDots::most_merges> aside{};
        double                                     x = item.source < 0 ? 0 : 0 + item.scale * input[item.source];
        for (std::size_t p = 2 * std::size_t{item.first}; p < 2 * (std::size_t{item.first} + item.pairs); ++p) {
            const auto product = dots.product[p];
            x = std::fma(-a[product.a & BatchDots::slot_mask], v[product.b & BatchDots::slot_mask], x);
            const int mark = static_cast<int>(BatchDots::mark(product));
            const int merges = mark > BatchDots::most_merges ? mark - BatchDots::most_merges : mark - 1;
            for (int m = 0; m < merges; ++m) x = aside[m] + x;
            if (mark == 0 || mark > BatchDots::most_merges) continue;
            aside[merges] = std::exchange(x, 0.0);
        }
        if (item.divisor != DotProgram::zero_slot) x /= a[item.divisor];
        v[item.slot] = x;
    }
    return v;
}

/// NaN equals NaN, −0 does not equal 0.
bool same(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y); }

void expect_same_entries(const DotProgram& program, std::span<const double> input, const double* a)
{
    const BatchDots     dots = batch_dots(program, pilot_distance);
    const auto          found = run_batch_dots(dots, program, input, a);
    std::vector<double> expected(program.slots());
    run_serial(program, input, a, expected);
    for (std::size_t e = 0; e < program.slot_of.size(); ++e) {
        const auto slot = program.slot_of[e];
        ASSERT_TRUE(same(found[slot], expected[slot]))
            << "entry " << e << ": " << found[slot] << ", " << expected[slot];
    }
}

TEST(BatchDots, GiveAMemberTheBitsThatItHasAlone)
{
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        const DotProgram factor = factor_dots(*system.F.pattern);
        expect_same_entries(factor, system.A.val, nullptr);
        std::vector<double> v(factor.slots());
        run_serial(factor, system.A.val, nullptr, v);
        const auto b = random_vector(system.F.pattern->n, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes})
            expect_same_entries(solve_dots(*system.F.pattern, factor, transpose).dots, b, v.data());
    }
}

/// Sums that vanish, or underflow to −0, in some lanes and not in others.
TEST(BatchDots, GiveZeroItsSign)
{
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        const DotProgram factor = factor_dots(*system.F.pattern);
        if (system.F.pattern->n > 1000) continue;  // enough is enough
        for (const double scale : {0.0, -0.0, 1e-160, 5e-324})
            for (const std::size_t every : {1, 5}) {
                auto values = system.A.val;
                for (std::size_t p = 0; p < values.size(); p += every) values[p] *= scale;
                expect_same_entries(factor, values, nullptr);
            }
    }
}

TEST(BatchDots, ReadOnlyWhatEarlierItemsWrite)
{
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        const DotProgram  factor = factor_dots(*system.F.pattern);
        const BatchDots   dots = batch_dots(factor, pilot_distance);
        std::vector<bool> written(factor.slots(), false);
        std::fill_n(written.begin(), DotProgram::first_slot, true);
        for (const BatchDots::Item& item : dots.item) {
            for (std::size_t p = 2 * std::size_t{item.first}; p < 2 * (std::size_t{item.first} + item.pairs); ++p) {
                ASSERT_TRUE(written[dots.product[p].a & BatchDots::slot_mask]);
                ASSERT_TRUE(written[dots.product[p].b & BatchDots::slot_mask]);
            }
            ASSERT_TRUE(written[item.divisor]);
            ASSERT_TRUE(item.pilot < 0 || written[item.pilot]);
            ASSERT_FALSE(written[item.slot]);
            written[item.slot] = true;
        }
        for (const auto slot : factor.slot_of) ASSERT_TRUE(written[slot]);
    }
}

TEST(BatchDots, RefuseAPilotThatFliesBeside)
{
    expect_refusal([] { batch_dots(DotProgram{}, 0); }, {"pilot"});
}

/// Every slot, input and column belongs to one piece, or to the parts of one long column.
TEST(BatchMonitorPlan, SharesEveryColumnOut)
{
    for (const DotSystem& system : dot_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       slot_of = factor_dots(P).slot_of;
        for (const Index least : {1, 7, 64}) {
            const auto plan = batch_monitor_plan(P, slot_of, 512, least);
            ASSERT_EQ(plan.piece.front(), 0);
            ASSERT_EQ(plan.piece.back(), P.n);
            for (Index i = 0; i < plan.pieces(); ++i) ASSERT_LT(plan.piece[i], plan.piece[i + 1]);
            std::vector<int> seen(plan.slot.size(), 0), seen_input(plan.input.size(), 0);
            for (const auto& part : plan.part)
                for (Offset p = part.first; p < part.last; ++p)
                    ++(part.kind == BatchMonitorPlan::Kind::inputs ? seen_input : seen)[p];
            Index longs = 0;
            for (Index k = 0; k < P.n; ++k) {
                const auto& c = plan.column[k];
                ASSERT_EQ(plan.slot[c.first + c.upper - 1], slot_of[P.diag[k]]);
                if (c.number >= 0) {
                    ASSERT_EQ(c.number, longs++);
                    continue;
                }
                for (Offset p = 0; p < c.upper + c.lower; ++p) ++seen[c.first + p];
                for (Offset p = 0; p < c.f; ++p) ++seen[c.f_first + p];
                for (Offset p = 0; p < c.inputs; ++p) ++seen_input[c.input + p];
            }
            ASSERT_EQ(longs, plan.longs);
            ASSERT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
            ASSERT_TRUE(std::ranges::all_of(seen_input, [](int times) { return times == 1; }));
        }
    }
}

}  // namespace
}  // namespace ilux::test
