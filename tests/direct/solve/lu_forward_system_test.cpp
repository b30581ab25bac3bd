#include "ilux/direct/solve/lu_forward_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ilux/tests/direct/klu/both_ways.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/solve/forward_systems.hpp"

namespace ilux::test {
namespace {

std::vector<double> solved(const RenewedSystem& renewed, std::span<const double> values, std::span<const double> b)
{
    std::vector<double> x(b.size());
    solve_serial<double>(with_values(renewed, values), b, x);
    return x;
}

TEST(LuForwardSystem, OfThreeUnknownsInTwoBlocksByHand)
{
    // L = [1; 1/2 1], U = [4 2; 4], F = (0,1): 3; entries 2 | 4 | 1/2 | 2 | 4 | F: 3
    const auto hand = factored({.B = dense(3, {2, 3, 0, 0, 4, 2, 0, 2, 5}), .block_ptr = {0, 1, 3}});
    // y₁, x₂ (which nothing but itself would ask for y₂), x₁, x₀
    const auto plain = lu_forward_system(*hand.factors.pattern, {}, Transpose::no).system;
    EXPECT_EQ(plain.frame.in_index, (std::vector<Index>{1, 2, -1, 0}));
    EXPECT_EQ(plain.frame.out_index, (std::vector<Index>{-1, 2, 1, 0}));
    EXPECT_EQ(plain.frame.length, 3);
    EXPECT_EQ(plain.L.at(1, 0), renewed(2));
    EXPECT_EQ(plain.L.at(2, 0), -1);
    EXPECT_EQ(plain.L.at(2, 1), renewed(3));
    EXPECT_EQ(plain.L.at(3, 2), renewed(5));
    EXPECT_EQ(plain.L.nnz(), 4);
    EXPECT_EQ(plain.inv_diag, (std::vector<double>{1, renewed(4), renewed(1), renewed(0)}));
    // y₀ = x₀, y₁, y₂ = x₂, x₁
    const auto transposed = lu_forward_system(*hand.factors.pattern, {}, Transpose::yes).system;
    EXPECT_EQ(transposed.frame.in_index, (std::vector<Index>{0, 1, 2, -1}));
    EXPECT_EQ(transposed.frame.out_index, (std::vector<Index>{0, -1, 2, 1}));
    EXPECT_EQ(transposed.L.at(1, 0), renewed(5));
    EXPECT_EQ(transposed.L.at(2, 1), renewed(3));
    EXPECT_EQ(transposed.L.at(3, 1), -1);
    EXPECT_EQ(transposed.L.at(3, 2), renewed(2));
    EXPECT_EQ(transposed.inv_diag, (std::vector<double>{renewed(0), renewed(1), renewed(4), 1}));
}

TEST(LuForwardSystem, SolvesWithAAndItsTranspose)
{
    for (const FactoredSystem& system : factored_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       b = random_vector(P.n, 11);
        Cpu              cpu(1);
        LuWorkspace<>    ws(P.n);
        for (const Transpose transpose : both_ways) {
            const auto          renewed = lu_forward_system(P, {}, transpose);
            const auto          x = solved(renewed, system.values(), b);
            std::vector<double> expected(b.size());
            lu_solve(cpu, system.F, b, expected, ws, transpose);
            EXPECT_LE(relative_difference(x, expected), 1e-10);
            EXPECT_LE(componentwise_error(system.view(), x, b, transpose == Transpose::yes), 1e-12);
        }
    }
}

TEST(LuForwardSystem, IsStrictlyLowerAndReadsEveryEntryOnce)
{
    for (const FactoredSystem& system : factored_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        Index            read = 0;  // y that have a row of their own
        for (Index k = 0; k < P.n; ++k) read += P.lower_count(k) > 0;
        for (const Transpose transpose : both_ways) {
            const auto [L, inv_diag, frame] = lu_forward_system(P, {}, transpose).system;
            EXPECT_EQ(L.rows(), P.n + read);
            EXPECT_EQ(broken_invariant(L), "");
            std::vector<int> times(static_cast<std::size_t>(P.nnz() + P.nnz_F()));
            Index            constants = 0;
            for (Index i = 0; i < L.rows(); ++i)
                for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) {
                    EXPECT_LT(L.col()[p], i);
                    const Offset entry = renewed_position(L.val()[p]);
                    if (entry >= 0) {
                        ++times[static_cast<std::size_t>(entry)];
                    } else {
                        ++constants;
                        EXPECT_EQ(L.val()[p], -1);
                    }
                }
            for (const double inverse : inv_diag) {
                const Offset entry = renewed_position(inverse);
                if (entry >= 0) {
                    ++times[static_cast<std::size_t>(entry)];
                } else {
                    EXPECT_EQ(inverse, 1);
                }
            }
            EXPECT_EQ(constants, read);
            EXPECT_TRUE(std::ranges::all_of(times, [](int t) { return t == 1; }));
        }
    }
}

TEST(LuForwardSystem, FindsEntriesWhereTheirSlotsAre)
{
    for (const FactoredSystem& system : factored_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&                 P = *system.F.pattern;
        const auto                       values = system.values();
        const auto                       place = random_permutation(static_cast<Index>(values.size()), 4);
        const std::vector<std::uint32_t> slot_of(place.begin(), place.end());
        std::vector<double>              moved(values.size());
        for (std::size_t e = 0; e < values.size(); ++e) moved[slot_of[e]] = values[e];
        const auto b = random_vector(P.n, 12);
        for (const Transpose transpose : both_ways)
            EXPECT_TRUE(identical(solved(lu_forward_system(P, slot_of, transpose), moved, b),
                                  solved(lu_forward_system(P, {}, transpose), values, b)));
    }
}

}  // namespace
}  // namespace ilux::test
