#include "ilux/direct/plan/plan_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/direct/plan/plan_sections.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/series.hpp"

namespace ilux::test {
namespace {

LuPlan plan_of(const DataflowSystem& system)
{
    return {.symbolic = system.F.symbolic, .pattern = system.F.pattern, .growth = 2, .seconds = 0.5};
}

std::string refusal_of(const std::string& bytes)
{
    try {
        static_cast<void>(parse_plan(bytes, "kept.plan"));
    } catch (const InvalidInput& why) {
        return why.what();
    }
    return "";
}

/// Its checksums are right, whatever it holds.
std::string with_section(const PlanSections& sections, std::string_view name, const std::string& contents)
{
    std::vector<PlanSection> all;
    for (const char* other : {"symbolic", "pattern"})
        all.push_back({other, other == name ? contents : std::string(sections.bytes(other))});
    return join_sections(sections.key(), all);
}

TEST(PlanFile, IsReadAsItWasWritten)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const std::string bytes = plan_bytes(plan_of(system));
        LuPlan            plan = parse_plan(bytes, "kept.plan");
        EXPECT_EQ(plan_bytes(plan), bytes);
        EXPECT_EQ(plan.growth, 2);
        EXPECT_EQ(plan.seconds, 0.5);
        require_plan_for(plan, system.view(), system.F.symbolic->options, "kept.plan");

        LuFactors<> again{plan.symbolic,
                          plan.pattern,
                          LuValues<double>(system.F.val.size()),
                          std::vector<double>(system.F.f_val.size()),
                          {}};
        LuFactors<> known = system.F;
        refactor_serial<double>(system.A.val, again);
        refactor_serial<double>(system.A.val, known);
        EXPECT_TRUE(identical(again.val, known.val));
        EXPECT_TRUE(identical(again.f_val, known.f_val));
    }
}

TEST(PlanFile, IsRefusedForAnotherPatternAndOtherOptions)
{
    const auto systems = dataflow_systems();
    LuPlan     plan = parse_plan(plan_bytes(plan_of(systems[4])), "kept.plan");
    EXPECT_THROW(require_plan_for(plan, systems[5].view(), plan.symbolic->options, "kept.plan"), InvalidInput);
    LuOptions other = plan.symbolic->options;
    other.pivot_tol = 0.5;
    EXPECT_THROW(require_plan_for(plan, systems[4].view(), other, "kept.plan"), InvalidInput);
    other.pivot_tol = plan.symbolic->options.pivot_tol;
    other.refine_steps = 3;  // is not of the plan
    require_plan_for(plan, systems[4].view(), other, "kept.plan");
    EXPECT_EQ(plan.symbolic->options.refine_steps, 3);
}

TEST(PlanFile, OfEitherOrderServesWhoLeavesItOpen)
{
    const DataflowSystem system = dataflow_systems()[4];
    for (const LuOrderFor made : {LuOrderFor::automatic, LuOrderFor::host, LuOrderFor::gpu})
        for (const LuOrderFor asked : {LuOrderFor::automatic, LuOrderFor::host, LuOrderFor::gpu}) {
            LuOptions options;
            options.order_for = made;
            LuPlan plan =
                parse_plan(plan_bytes({.symbolic = analyse(system.view(), options), .pattern = {}}), "kept.plan");
            options.order_for = asked;
            const bool of_gpu = made == LuOrderFor::gpu;
            if (asked != LuOrderFor::automatic && of_gpu != (asked == LuOrderFor::gpu)) {
                EXPECT_THROW(require_plan_for(plan, system.view(), options, "kept.plan"), InvalidInput);
                continue;
            }
            require_plan_for(plan, system.view(), options, "kept.plan");
            EXPECT_EQ(plan.symbolic->options.order_for, made);
        }
}

TEST(PlanFile, IsRefusedWhereItIsCutShortOrAByteIsAnother)
{
    const std::string bytes = plan_bytes(plan_of(dataflow_systems()[1]));
    ASSERT_EQ(refusal_of(bytes), "");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::string why = refusal_of(bytes.substr(0, size));
        if (bytes.size() - size >= 8) {
            ASSERT_TRUE(why.starts_with("kept.plan")) << size;
        }
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ 0x10);
        const std::string why = refusal_of(other);
        ASSERT_TRUE(why.starts_with("kept.plan") || parse_plan(other, "").growth == 2) << at;
    }
    EXPECT_NE(refusal_of("something else that is long enough to be the head of such a file").find("not a plan"),
              std::string::npos);
}

TEST(PlanFile, SaysWhichVersionItHas)
{
    std::string bytes = plan_bytes(plan_of(dataflow_systems()[3]));
    std::string newer = bytes, older = bytes, other_order = bytes;
    newer[12] = 7;
    EXPECT_NE(refusal_of(newer).find("format 7"), std::string::npos);
    older[16] = '9';
    EXPECT_NE(refusal_of(older).find("another version of ilux"), std::string::npos);
    std::swap(other_order[8], other_order[11]);
    std::swap(other_order[9], other_order[10]);
    EXPECT_NE(refusal_of(other_order).find("order of bytes"), std::string::npos);
}

/// Checksums do not help against files that were made wrong: every number is replaced, and whatever is accepted is run.
TEST(PlanFile, IsSafeToFollowWhateverIsInIt)
{
    const DataflowSystem system = dataflow_system("random", random_dominant(9, 3, 2));
    const std::string    bytes = plan_bytes(plan_of(system));
    const PlanSections   sections(bytes, "kept.plan");
    int                  refused = 0, accepted = 0;
    for (const char* name : {"symbolic", "pattern"}) {
        const std::string section(sections.bytes(name));
        for (std::size_t at = 0; at + 4 <= section.size(); at += 4)
            for (const std::uint32_t value : {0u, 1u, 8u, 40u, 0x7fffffffu, 0xffffffffu}) {
                std::string other = section;
                std::memcpy(other.data() + at, &value, sizeof value);
                const std::string file = with_section(sections, name, other);
                if (!refusal_of(file).empty()) {
                    ++refused;
                    continue;
                }
                ++accepted;
                const LuPlan plan = parse_plan(file, "kept.plan");
                LuFactors<>  F{plan.symbolic,
                              plan.pattern,
                              LuValues<double>(plan.pattern->row.size()),
                              std::vector<double>(plan.pattern->f_row.size()),
                              {}};
                refactor_serial<double>(system.A.val, F);
            }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(accepted, 100);
}

TEST(PlanFile, HasPivotsThatServeTheFirstSystemWhereTheyHold)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.A.n == 0 || system.A.n > 1000) continue;
        SCOPED_TRACE(system.name);
        const LuPlan plan = parse_plan(plan_bytes(plan_of(system)), "kept.plan");
        Cpu          be(2);
        Lu<>         lu(be, plan.symbolic);
        lu.take_pivots(plan.pattern, plan.growth);
        std::vector<double> b(static_cast<std::size_t>(system.A.n), 1.0), x(b.size());
        EXPECT_THROW(static_cast<void>(lu.solve(b, x)), InvalidInput);  // there are no numbers yet
        EXPECT_EQ(lu.refactor_or_factor(system.A.val).action, LuAction::refactor);
        LuFactors<> known = system.F;
        refactor_serial<double>(system.A.val, known);
        EXPECT_TRUE(identical(lu.factors().val, known.val));
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_EQ(lu.status().repivots, 0);
    }
}

TEST(PlanFile, HasAnyGrowthThatFactorsCanHave)
{
    LuPlan plan = plan_of(dataflow_systems()[4]);
    for (const double growth : {0.0, 1 - 0x1p-53, 1.0, 1e300}) {
        plan.growth = growth;
        EXPECT_EQ(parse_plan(plan_bytes(plan), "kept.plan").growth, growth);
    }
    for (const double growth : {-1.0, double(NAN)}) {
        plan.growth = growth;
        EXPECT_NE(refusal_of(plan_bytes(plan)).find("growth"), std::string::npos) << growth;
    }
}

TEST(PlanFile, HasPivotsThatAreReplacedWhereTheyAreStale)
{
    // Diagonal pivots, then values for which the first one is 0.
    const Entries       A{2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 4}};
    const MatrixView<>  view{A.n, A.ptr, A.col, A.val, MatrixLayout::rows};
    const LuFactors<>   F = gilbert_peierls<double>(analyse(view), A.val);
    Cpu                 be(1);
    Lu<>                lu(be, F.symbolic);
    std::vector<double> values{0, 1, 1, 0}, b{2, 3}, x(2);
    lu.take_pivots(F.pattern, 1);
    EXPECT_EQ(lu.refactor_or_factor(values).action, LuAction::repivot);
    EXPECT_EQ(lu.status().repivots, 1);
    EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
    EXPECT_EQ(x, (std::vector<double>{3, 2}));
    EXPECT_THROW(lu.take_pivots(dataflow_systems()[4].F.pattern, 1), InvalidInput);
}

TEST(PlanFile, IsWrittenWholeAndMissingOnesAreNone)
{
    const std::string path = testing::TempDir() + "ilux_kept.plan";
    std::filesystem::remove(path);
    EXPECT_FALSE(read_plan(path));
    const LuPlan plan = plan_of(dataflow_systems()[5]);
    write_plan(path, plan);
    EXPECT_EQ(plan_bytes(*read_plan(path)), plan_bytes(plan));
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace ilux::test
