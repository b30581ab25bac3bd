#include "ilux/sptrsv/gpu/renewed_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "ilux/sptrsv/gpu/chunked_layout.hpp"
#include "ilux/sptrsv/gpu/warp_layout.hpp"
#include "ilux/tests/sptrsv/renewed.hpp"

using namespace ilux;
using Vector = std::vector<double>;

namespace {

/// What a layout stores once the values are in.
template <class Stored>
Vector filled(const Stored& stored, const Vector& values)
{
    Vector numbers(stored.begin(), stored.end());
    for (double& number : numbers)
        if (const Offset p = renewed_position(number); p >= 0) number = values[p];
    return numbers;
}

}  // namespace

TEST(RenewedSystem, TellsPositionsFromConstants)
{
    for (const std::uint32_t p : {0u, 1u, 2u, 0x7FFF'FFFFu, 0x8000'0000u, 0xFFFF'FFFEu}) {
        EXPECT_EQ(renewed_position(renewed(p)), p);
        EXPECT_LT(renewed(p), std::numeric_limits<double>::min());
    }
    for (const double constant : {0.0, -0.0, 1.0, -1.0, 1e300, 0x1p-1022, std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(renewed_position(constant), -1) << constant;
}

TEST(RenewedSystem, HasAPatternOfItsOwnInFloatForEachPositionAndConstant)
{
    constexpr std::uint32_t    one = 0x3F80'0000, minus_one = 0xBF80'0000;
    const std::vector<double>  constants{0, 1, -1};
    std::vector<std::uint32_t> bits;
    for (const double constant : constants) {
        EXPECT_EQ(renewed_in_float(constant), constant);
        bits.push_back(std::bit_cast<std::uint32_t>(renewed_in_float(constant)));
    }
    std::uint32_t before = 0;
    for (const std::uint32_t p : {0u, 1u, one - 3, one - 2, one - 1, one, one + 1, 0x8000'0000u, minus_one - 4,
                                  minus_one - 3, minus_one - 2, minus_one - 1, minus_one, 0xFFFF'FFFBu, 0xFFFF'FFFCu}) {
        const auto own = std::bit_cast<std::uint32_t>(renewed_in_float(renewed(p)));
        EXPECT_GT(own, before) << "position " << p;  // ascending, so no two are the same
        EXPECT_EQ(std::ranges::count(bits, own), 0) << "position " << p;
        EXPECT_EQ(own - 1 - (own > one) - (own > minus_one), p);
        before = own;
    }
    test::expect_refusal([] { renewed_in_float(renewed(0xFFFF'FFFDu)); }, {"4294967293"});
    for (const double constant : {0.5, 2.0, std::numeric_limits<double>::infinity()})
        test::expect_refusal([&] { renewed_in_float(constant); }, {"constant"});
}

TEST(RenewedSystem, IsTheSystemOfItsValues)
{
    for (const Index n : {0, 1, 31, 32, 33, 400})
        for (const auto& shape : test::shapes()) {
            const auto A = test::random_triangle(n, 4, shape, n + 1);
            const auto system = forward_system<double>(A, shape.triangle, shape.diagonal, test::random_frame(n, 3));
            const auto made = test::renewed_from(system, 5, 3);
            const auto again = with_values(made.renewed, made.values);
            EXPECT_TRUE(test::identical(again.L, system.L));
            const Vector b = test::random_vector(n, 7);
            Vector       x(n), expected(n);
            solve_serial<double>(system, b, expected);
            solve_serial<double>(again, b, x);
            EXPECT_LE(test::relative_difference(x, expected), 1e-12);  // 1/(1/d)
        }
}

TEST(RenewedSystem, KeepsItsPositionsInEveryLayout)
{
    const auto lower = test::random_triangle(3000, 6, {Triangle::lower, Diagonal::unit}, 2);
    const auto arrow =
        test::lower_from(2000, [](Index i) { return i < 1999 ? std::vector<Index>() : test::identity(i); });
    for (const auto* L : {&lower, &arrow}) {
        const auto system = forward_system<double>(*L, Triangle::lower, Diagonal::unit);
        const auto made = test::renewed_from(system, 9, 4);
        const auto level = levels(*L);
        for (const Index longest : {4, 512}) {
            const ChunkedTuning chunks{.chunks = 7, .least_rows = 8, .longest = longest, .segment = longest / 2};
            EXPECT_TRUE(test::identical(filled(chunked_layout(made.renewed.system.L, chunks).val, made.values),
                                        Vector(chunked_layout(*L, chunks).val)));
            const WarpLayoutOptions warps{.longest = longest, .segment = longest / 2};
            const auto              plain = warp_layout(*L, level, warps);
            EXPECT_TRUE(test::identical(filled(warp_layout(made.renewed.system.L, level, warps).val, made.values),
                                        Vector(plain.val.begin(), plain.val.end())));
        }
    }
}

TEST(ForwardSystem, ReadsAndWritesOnlyPartOfItsRowsWhereTheFrameHasALength)
{
    // x₀ = b₁, x₁ = 0 + 2 x₀, x₂ = 3 b₀ − x₁; out = (x₂, 5 x₁)
    ForwardSystem<double> system{.L = CsrMatrix<double>::from_sorted(3, 3, {0, 0, 1, 2}, {0, 1}, {-2, 1}),
                                 .inv_diag = {},
                                 .frame = {.in_index = {1, -1, 0},
                                           .in_scale = {1, 1, 3},
                                           .out_index = {-1, 1, 0},
                                           .out_scale = {1, 5, 1},
                                           .length = 2}};
    EXPECT_EQ(system.length(), 2);
    Vector out(2);
    solve_serial<double>(system, Vector{7, 4}, out);
    EXPECT_EQ(out, (Vector{13, 40}));
}
