#include "ilux/gallery/stand_ins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using namespace gallery;

class EveryStandIn : public testing::TestWithParam<PublishedSize> {};
INSTANTIATE_TEST_SUITE_P(Table2, EveryStandIn, testing::ValuesIn(published().begin(), published().end()),
                         [](const auto& info) { return std::string(info.param.stand_in); });

TEST_P(EveryStandIn, HasThePublishedSizeAtScaleOne)
{
    const auto   A = build(GetParam().stand_in);
    const double published_per_row = static_cast<double>(GetParam().nnz) / static_cast<double>(GetParam().n);
    const double per_row = static_cast<double>(A.nnz()) / A.rows();
    EXPECT_NEAR(A.rows() / static_cast<double>(GetParam().n), 1, 0.01);
    EXPECT_NEAR(per_row / published_per_row, 1, 0.10);
    EXPECT_TRUE(is_well_formed(A));
    for (std::string_view grid : {"like_apache2", "like_atmosmodd", "like_ecology2", "like_parabolic_fem"})
        if (GetParam().stand_in == grid) {  // whose dimensions reproduce the published counts exactly
            EXPECT_EQ(A.rows(), GetParam().n);
            EXPECT_EQ(A.nnz(), GetParam().nnz);
        }
}

TEST_P(EveryStandIn, ShrinksWithItsScale)
{
    for (double scale : {0.01, 0.1}) {
        const auto A = build(std::string(GetParam().stand_in) + ":scale=" + std::to_string(scale));
        EXPECT_LT(A.rows(), 2.5 * scale * static_cast<double>(GetParam().n));
        EXPECT_GT(A.rows(), 0.4 * scale * static_cast<double>(GetParam().n));
    }
}

TEST(LikeCage13, IsStochasticAndStrictlyDominant)
{
    const auto A = like_cage13({.scale = 0.01});
    const auto sums = times(A, std::vector<double>(A.rows(), 1));
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_NEAR(sums[i], 1, 1e-14);
        EXPECT_GE(A.at(i, i), 0.5);
    }
    EXPECT_GT(std::ranges::min(A.val()), 0);
}

TEST(LikeEcology2, IsALaplacianGroundedAtFourNeighbours)
{
    const auto A = like_ecology2({.scale = 0.001});
    const auto sums = times(A, std::vector<double>(A.rows(), 1));
    Index      grounded = 0;
    for (Index i = 0; i < A.rows(); ++i) grounded += sums[i] > 1e-12 * A.at(i, i);
    EXPECT_EQ(grounded, 4);
}

TEST(LikeAsic320ks, HasFourDensePowerNets)
{
    const auto A = like_ASIC_320ks({.scale = 0.1});
    Index      dense_rows = 0;
    for (Index i = 0; i < A.rows(); ++i) dense_rows += A.row_ptr()[i + 1] - A.row_ptr()[i] > 100;
    EXPECT_EQ(dense_rows, 4);
}

TEST(LikeParabolicFem, KeepsTheIntegralOfAConstant)
{
    // Natural boundary: stiffness times a constant is zero, and mass times 1 sums to the area, 2 × 1.
    const auto A = like_parabolic_fem({.scale = 0.01});
    double     area = 0;
    for (double value : times(A, std::vector<double>(A.rows(), 1))) area += value;
    EXPECT_NEAR(area, 2, 0.1);  // cells are square: proportions are kept up to rounding of the point counts
}

TEST(LikeShip003, ResistsNoTranslationAwayFromTheClamp)
{
    const auto A = like_ship_003({.scale = 0.01});
    for (Index axis = 0; axis < 3; ++axis) {
        std::vector<double> u(A.rows(), 0);
        for (Index i = axis; i < A.rows(); i += 3) u[i] = 1;
        const auto force = times(A, u);
        Index      held = 0;
        for (Index i = 0; i < A.rows(); ++i) held += std::abs(force[i]) > 1e-9 * A.at(i, i);
        EXPECT_GT(held, 0);
        EXPECT_LT(held, A.rows() / 10);
    }
}

TEST(LikeThermomechDk, IsNearlyFreeToMove)
{
    const auto          A = like_thermomech_dK({.scale = 0.01});
    std::vector<double> u(A.rows(), 0);
    for (Index i = 0; i < A.rows(); i += 2) u[i] = 1;
    const auto force = times(A, u);
    for (Index i = 0; i < A.rows(); ++i) EXPECT_LT(std::abs(force[i]), 1e-5 * A.at(i, i));
}

}  // namespace
}  // namespace ilux
