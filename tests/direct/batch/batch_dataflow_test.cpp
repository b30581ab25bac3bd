#include "ilux/direct/batch/batch_dataflow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ilux/direct/batch/batch_monitor.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/dataflow/tail_systems.hpp"

namespace ilux::test {
namespace {

/// What one lane of the kernel does; reads NaN where no earlier level wrote.
class Lane {
public:
    Lane(const BatchDataflow& dataflow, const DataflowProgram& program, std::span<const double> input, const double* a)
        : dataflow_(dataflow), input_(input), a_(a), v_(program.slots(), nan), sum_(dataflow.places, nan)
    {
        std::fill_n(v_.begin(), DataflowProgram::first_slot, 0.0);
        v_[DataflowProgram::minus_one_slot] = -1;
    }
    std::vector<double> run()
    {
        for (Index level = 0; level < dataflow_.depth(); ++level) {
            std::vector<std::pair<double*, double>> found;
            for (std::size_t t = dataflow_.level[level]; t < dataflow_.level[level + 1]; ++t)
                for (int g = 0; g < dataflow_.width; ++g) {
                    auto& to = dataflow_.task[t].makes_sums ? sum_ : v_;
                    found.emplace_back(&to[dataflow_.item[t * dataflow_.width + g].slot], compute(t, g));
                }
            for (const auto& [to, x] : found) *to = x;
        }
        return v_;
    }

private:
    double a(DataflowProgram::Slot slot) const { return a_ ? a_[slot] : v_[slot]; }
    double subtract(double x, const BatchDataflow::Product (&late)[2]) const
    {
        for (const auto [i, j] : late) x = std::fma(-a(i), v_[j], x);
        return x;
    }
    double compute(std::size_t t, int g)
    {
        const BatchDataflow::Task& task = dataflow_.task[t];
        const BatchDataflow::Item& item = dataflow_.item[t * dataflow_.width + g];
        auto&                      leaf = leaf_;
        leaf.clear();
        for (std::uint32_t l = 0; l < 1u << task.log2_leaves; ++l) {
            double x = l > 0 || item.source < 0 ? 0 : 0 + item.scale * input_[item.source];
            for (std::uint32_t step = 0; step < task.steps; ++step) {
                const auto [i, j] = dataflow_.operand(t, l * task.steps + step, g);
                x = task.adds_sums ? sum_[j] : std::fma(-a(i), v_[j], x);
            }
            leaf.push_back(x);
        }
        for (; leaf.size() > 1; leaf.resize(leaf.size() / 2))
            for (std::size_t l = 0; l < leaf.size() / 2; ++l) leaf[l] = leaf[2 * l] + leaf[2 * l + 1];
        if (task.makes_sums) return leaf[0];
        const double x = subtract(leaf[0], item.late);
        if (task.divide == BatchDataflow::Divide::none) return x;
        if (task.divide == BatchDataflow::Divide::by_slot) return x / a(item.divisor);
        return x / subtract(sum_[item.divisor], item.divisor_late);
    }

    const BatchDataflow&    dataflow_;
    std::span<const double> input_;
    const double*           a_;
    std::vector<double>     v_, sum_, leaf_;
};

/// NaN equals NaN, −0 does not equal 0.
bool same(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y); }

void expect_same_entries(const DataflowProgram& program, std::span<const double> input, const double* a)
{
    std::vector<double> expected(program.slots());
    run_serial(program, input, a, expected);
    for (const int width : {1, 4}) {
        const BatchDataflow dataflow = batch_dataflow(program, width);
        const auto          found = Lane(dataflow, program, input, a).run();
        for (std::size_t e = 0; e < program.slot_of.size(); ++e) {
            const auto slot = program.slot_of[e];
            ASSERT_TRUE(same(found[slot], expected[slot]))
                << "width " << width << ", entry " << e << ": " << found[slot] << ", " << expected[slot];
        }
    }
}

TEST(BatchDataflow, GiveAMemberTheBitsThatItHasAlone)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram factor = factor_dataflow(*system.F.pattern);
        expect_same_entries(factor, system.A.val, nullptr);
        std::vector<double> v(factor.slots());
        run_serial(factor, system.A.val, nullptr, v);
        const auto b = random_vector(system.F.pattern->n, 3);
        for (const Transpose transpose : {Transpose::no, Transpose::yes})
            expect_same_entries(solve_dataflow(*system.F.pattern, factor, transpose).dataflow, b, v.data());
    }
}

TEST(BatchDataflow, GiveThemToAMemberBeforeADenseTailToo)
{
    for (const DataflowSystem& system : tail_systems())
        for (const TailColumns tail : forced_tails(*system.F.pattern)) {
            if (tail.size == 2 || tail.size == 31 || tail.size == 33) continue;  // these matter to the tail itself
            if (sanitized && (tail.size == 1 || tail.size == 64)) continue;
            SCOPED_TRACE(system.name + ", tail " + std::to_string(tail.size));
            expect_same_entries(factor_dataflow(*system.F.pattern, tail), system.A.val, nullptr);
        }
}

/// Sums that vanish, or underflow to −0, in some lanes and not in others.
TEST(BatchDataflow, GiveZeroItsSign)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.F.pattern->n > 1000) continue;  // enough is enough
        SCOPED_TRACE(system.name);
        const DataflowProgram factor = factor_dataflow(*system.F.pattern);
        for (const double scale : {0.0, -0.0, 1e-160, 5e-324})
            for (const std::size_t every : {1, 5}) {
                auto values = system.A.val;
                for (std::size_t p = 0; p < values.size(); p += every) values[p] *= scale;
                expect_same_entries(factor, values, nullptr);
            }
    }
}

/// Levels at which slots, or places of sums, are written; and what is read must have been written earlier.
class Written {
public:
    explicit Written(std::size_t count) : level_(count, never) {}
    void write(DataflowProgram::Slot at, Index level) { level_[at] = level; }
    bool before(DataflowProgram::Slot at, Index level) const { return level_[at] < level; }
    bool ever(DataflowProgram::Slot at) const { return level_[at] != never; }

private:
    static constexpr Index never = std::numeric_limits<Index>::max();
    std::vector<Index>     level_;
};

void expect_reads_of_earlier_levels(const BatchDataflow& dataflow, Index level, const Written& v, const Written& sum)
{
    for (std::size_t t = dataflow.level[level]; t < dataflow.level[level + 1]; ++t)
        for (int g = 0; g < dataflow.width; ++g) {
            const auto& task = dataflow.task[t];
            const auto& item = dataflow.item[t * dataflow.width + g];
            for (std::uint32_t r = 0; r < task.products(); ++r) {
                const auto [a, b] = dataflow.operand(t, r, g);
                ASSERT_TRUE(task.adds_sums ? sum.before(b, level) : v.before(a, level) && v.before(b, level));
                ASSERT_TRUE(!task.early || (!task.adds_sums && v.before(a, level - 1) && v.before(b, level - 1)));
            }
            for (const auto [a, b] : item.late) ASSERT_TRUE(v.before(a, level) && v.before(b, level));
            if (task.divide == BatchDataflow::Divide::by_slot) {
                ASSERT_TRUE(v.before(item.divisor, level));
            }
            if (task.divide != BatchDataflow::Divide::by_sum) continue;
            ASSERT_TRUE(sum.before(item.divisor, level));
            for (const auto [a, b] : item.divisor_late) ASSERT_TRUE(v.before(a, level) && v.before(b, level));
        }
}

/// Lanes of one level write and read in any order.
TEST(BatchDataflow, ReadOnlyWhatEarlierLevelsWrite)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram factor = factor_dataflow(*system.F.pattern);
        const BatchDataflow   dataflow = batch_dataflow(factor, 4);
        Written               v(factor.slots()), sum(dataflow.places);
        for (DataflowProgram::Slot slot = 0; slot < DataflowProgram::first_slot; ++slot) v.write(slot, -1);
        for (Index level = 0; level < dataflow.depth(); ++level) {
            for (std::size_t i = std::size_t{4} * dataflow.level[level]; i < std::size_t{4} * dataflow.level[level + 1];
                 ++i) {
                const bool spare =
                    dataflow.item[i].slot ==
                    (dataflow.task[i / 4].makes_sums ? BatchDataflow::spare_place : BatchDataflow::spare_slot);
                if (spare) continue;
                auto& to = dataflow.task[i / 4].makes_sums ? sum : v;
                ASSERT_FALSE(!dataflow.task[i / 4].makes_sums && to.ever(dataflow.item[i].slot));
                ASSERT_FALSE(to.ever(dataflow.item[i].slot) && !to.before(dataflow.item[i].slot, level));
                to.write(dataflow.item[i].slot, level);
            }
            expect_reads_of_earlier_levels(dataflow, level, v, sum);
        }
        for (const auto slot : factor.slot_of) ASSERT_TRUE(v.ever(slot));
    }
}

/// An item of a level takes few products wherever its sum is known early, and levels are hardly more than the
/// program's.
TEST(BatchDataflow, AreShallowAndShort)
{
    for (const DataflowSystem& system :
         {grid_system(), dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 6}))}) {
        SCOPED_TRACE(system.name);
        const DataflowProgram factor = factor_dataflow(*system.F.pattern);
        const BatchDataflow   dataflow = batch_dataflow(factor, 4);
        EXPECT_LE(dataflow.depth(), factor.depth + factor.depth / 8 + 2);
        std::size_t shorts = 0, early = 0;
        for (const auto& task : dataflow.task) {
            shorts += task.products() <= BatchDataflow::longest;
            early += task.early;
        }
        EXPECT_GE(shorts, dataflow.task.size() * 95 / 100);
        EXPECT_GE(early, (dataflow.task.size() - dataflow.level[1]) * 3 / 4);  // of those behind level 0
    }
}

TEST(BatchDataflow, RefuseAWidthThatNoWarpHas)
{
    for (const int width : {0, 3, 64}) expect_refusal([&] { batch_dataflow(DataflowProgram{}, width); }, {"task"});
}

/// Every slot, input and column belongs to one piece, or to the parts of one long column.
TEST(BatchMonitorPlan, SharesEveryColumnOut)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       slot_of = factor_dataflow(P).slot_of;
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
