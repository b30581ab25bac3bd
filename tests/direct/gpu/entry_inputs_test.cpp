#include "ilux/direct/gpu/entry_inputs.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

TEST(EntryInputs, AddUpToTheMatrixInTheOrderOfThePattern)
{
    bool any_F = false, any_repeated_F = false;
    for (const DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&     P = *system.F.pattern;
        const EntryInputs    in = entry_inputs(P);
        const RepeatedInputs repeated = repeated_inputs(in);
        std::vector<double>  B(entries(P));
        for (std::size_t e = 0; e < B.size(); ++e)
            if (in.source[e] >= 0) B[e] += system.A.val[in.source[e]] * in.scale[e];
        for (std::size_t r = 0; r < repeated.entry.size(); ++r) {
            EXPECT_LT(repeated.ptr[r], repeated.ptr[r + 1]);
            for (Offset q = repeated.ptr[r]; q < repeated.ptr[r + 1]; ++q)
                B[repeated.entry[r]] += system.A.val[repeated.source[q]] * repeated.scale[q];
            any_repeated_F |= repeated.entry[r] >= P.nnz();
        }
        EXPECT_TRUE(identical(B, scaled_inputs(P, system.A.val)));
        EXPECT_EQ(repeated.ptr.back(), in.extra_ptr.back());
        any_F |= P.nnz_F() > 0;
    }
    EXPECT_TRUE(any_F && any_repeated_F);
}

TEST(EntryInputs, KeepTheOrderOfManyInputsOfOneEntry)
{
    // (1 + 2⁻⁶⁰) − 1 is 0, (1 − 1) + 2⁻⁶⁰ is not.
    const Entries A{2, {0, 4, 5}, {0, 0, 1, 0, 1}, {1, 0x1p-60, 3, -1, 2}};
    LuPattern     P = pattern_of({{1, 1}, {0, 1}});
    P.in_ptr = {0, 3, 5};
    P.in_split = {3, 5};
    P.in_source = {0, 1, 3, 2, 4};
    P.in_row = {0, 0, 0, 0, 1};
    P.in_scale = {1, 1, 1, 1, 1};
    const RepeatedInputs repeated = repeated_inputs(entry_inputs(P));
    EXPECT_EQ(repeated.entry, std::vector<Offset>{0});
    EXPECT_EQ(repeated.source, (std::vector<std::int32_t>{1, 3}));
}

}  // namespace
}  // namespace ilux::test
