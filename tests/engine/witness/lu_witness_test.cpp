// An LU that judges: A⁻¹ r to rounding, and what it says of a singular A.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/engine/witness/lu_witness.hpp"
#include "ilux/tests/engine/witness/known_systems.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

TEST(LuWitness, EstimatesTheErrorThatTheResidualHas)
{
    Cpu                       cpu(1);
    const auto                A = to_csr({2, 2, {2, 1, 1, 3}});
    const auto                witness = LuWitness<double>::make(cpu, A);
    std::vector<double>       d(2);
    const std::vector<double> r{5, 10};  // of d = (1, 3)
    ASSERT_TRUE(witness->estimate(r, d));
    EXPECT_NEAR(d[0], 1, 1e-15);
    EXPECT_NEAR(d[1], 3, 1e-15);
    Residual<double> residual;
    (void)measure<double>(cpu, A, d, r, residual);
    EXPECT_EQ(witness->warning(d, residual), "");
}

TEST(LuWitness, SaysThatASingularMatrixLeavesXOpen)
{
    Cpu                       cpu(1);
    const auto                A = to_csr({2, 2, {1, -1, -1, 1}});
    const auto                witness = LuWitness<double>::make(cpu, A);
    std::vector<double>       d{7, 7};
    const std::vector<double> x{1, 0}, b{1, -1};
    EXPECT_FALSE(witness->estimate(b, d));
    EXPECT_EQ(d, (std::vector<double>{7, 7}));
    Residual<double> residual;
    (void)measure<double>(cpu, A, x, b, residual);
    EXPECT_NE(witness->warning(x, residual).find("one of many"), std::string::npos);
}

TEST(LuWitness, KnowsEachUnknownInAnyUnits)
{
    Cpu cpu(1);
    for (const RegularKind& kind : regular_kinds())
        for (const Units units : {Units::plain, Units::both_sides, Units::rows_and_columns, Units::far_rows})
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Random              random(seed);
                const auto          system = known_system(kind.draw(60, random), units, random);
                const auto          witness = LuWitness<double>::make(cpu, system.A);
                std::vector<double> d(system.x.size());
                ASSERT_TRUE(witness->estimate(system.b, d));
                EXPECT_LE(worst_share(system.x, d), 1e-9) << kind.name << ", seed " << seed;
            }
}

TEST(LuWitness, TakesNoUnknownsAtAll)
{
    Cpu                    cpu(1);
    const auto             A = CsrMatrix<double>::identity(0);
    const auto             witness = LuWitness<double>::make(cpu, A);
    const Residual<double> residual;
    EXPECT_EQ(witness->warning({}, residual), "");
}

TEST(LuWitness, IsNotMadeWhereItWouldTakeLong)
{
    Cpu cpu(1);
    EXPECT_NE(LuWitness<double>::make(cpu, gallery::build("poisson2d:n=31")), nullptr);
    EXPECT_EQ(LuWitness<double>::make(cpu, gallery::build("poisson2d:n=32")), nullptr);  // 1024 unknowns
    const auto dense = to_csr({400, 400, std::vector<double>(400 * 400, 0.5)});          // 4·10⁷ flops
    EXPECT_EQ(LuWitness<double>::make(cpu, dense), nullptr);
}

}  // namespace
}  // namespace ilux::test
