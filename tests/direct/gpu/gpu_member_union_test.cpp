#include "ilux/direct/gpu/gpu_member_union.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/direct/gpu/union_systems.hpp"

namespace ilux::test {
namespace {

void expect_same(const MemberUnion& found, const MemberUnion& expected)
{
    EXPECT_EQ(found.plan.index, expected.plan.index);
    EXPECT_EQ(found.plan.bytes, expected.plan.bytes);
    EXPECT_EQ(found.layout.first, expected.layout.first);
    EXPECT_EQ(found.len, expected.len);
    EXPECT_TRUE(found.plain == expected.plain);
    EXPECT_TRUE(found.wide == expected.wide);
    EXPECT_TRUE(found.runs == expected.runs);
    EXPECT_TRUE(found.words == expected.words);
}

TEST(GpuMemberUnion, IsThatOfTheHostInEveryEncoding)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : union_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&   P = *system.F.pattern;
        const GpuLuPattern pattern(gpu, system.F.pattern);
        const auto         runs = count_runs(P);
        for (const UnionIndex index : every_union_index) {
            SCOPED_TRACE(static_cast<int>(index));
            const GpuMemberUnion members(gpu, pattern, 0, index);
            expect_same(members.download(gpu), member_union(P, plan_union(P, 0, index, runs)));
        }
    }
}

TEST(GpuMemberUnion, KeepsItsLimit)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : union_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&   P = *system.F.pattern;
        const GpuLuPattern pattern(gpu, system.F.pattern);
        for (const std::size_t limit : limits_of(P)) {
            SCOPED_TRACE(limit);
            const GpuMemberUnion members(gpu, pattern, limit);
            EXPECT_LE(members.plan().bytes, limit);
            expect_same(members.download(gpu), member_union(P, members.plan()));
        }
    }
}

}  // namespace
}  // namespace ilux::test
