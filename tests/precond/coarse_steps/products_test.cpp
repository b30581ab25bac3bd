#include "ilux/precond/coarse_steps/products.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
class ProductOf : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(ProductOf, Numbers);

TYPED_TEST(ProductOf, TwoMatricesActsAsTheyDo)
{
    using S = TypeParam;
    for (const Index n : {0, 1, 31, 32, 33, 3000}) {
        const auto A = in_numbers_of<S>(test::random_matrix(n, n / 2 + 1, 4, 1));
        const auto B = in_numbers_of<S>(test::random_matrix(n / 2 + 1, n + 3, 5, 2));
        Cpu        one(1), several(4);
        const auto AB = product<S>(one, A, B), again = product<S>(several, A, B);
        EXPECT_TRUE(std::ranges::equal(AB.val(), again.val()) && std::ranges::equal(AB.col(), again.col()));
        const auto x = random_numbers<S>(n + 3, 5);
        EXPECT_LE(far(times<S>(AB, x), times<S>(A, times<S>(B, x))), 1e-14);
        const auto Ah = adjoint<S>(several, A);
        const auto y = random_numbers<S>(n, 6), z = random_numbers<S>(n / 2 + 1, 7);
        const S    left = inner(y, times<S>(A, z)), right = inner(times<S>(Ah, y), z);
        EXPECT_LE(std::abs(left - right), 1e-12 * (1 + std::abs(left)));
    }
}

TYPED_TEST(ProductOf, AStepOfJacobiSmooths)
{
    using S = TypeParam;
    const auto A = in_numbers_of<S>(test::random_dominant(200, 5, 4));
    const auto P = in_numbers_of<S>(test::random_matrix(200, 20, 1, 5));
    Cpu        be(3);
    const auto x = random_numbers<S>(20, 1), Px = times<S>(P, x), APx = times<S>(A, Px);
    const auto z = times<S>(smoothed<S>(be, A, P), x);
    for (Index i = 0; i < 200; ++i) EXPECT_LE(std::abs(z[i] - (Px[i] - 0.66 / A.at(i, i) * APx[i])), 1e-13);
}

TEST(ChosenRows, HoldMagnitudesOffTheDiagonal)
{
    test::EntryList entries;
    entries.add(0, 0, 9), entries.add(0, 1, -4), entries.add(0, 2, 0.5), entries.add(1, 1, 3);
    entries.add(2, 0, 0), entries.add(2, 1, -2);
    const auto A = entries.matrix(3, 3);
    Cpu        be(1);
    const auto F = magnitudes<double>(be, A);
    EXPECT_EQ(F.nnz(), 3);
    EXPECT_EQ(F.at(0, 1), 4);
    EXPECT_EQ(F.at(0, 2), 0.5);
    EXPECT_EQ(F.at(2, 1), 2);
    const auto strongest = strong(be, F, 0.2);
    EXPECT_EQ(strongest.nnz(), 2);
    EXPECT_EQ(strongest.at(0, 2), 0);
}

}  // namespace
}  // namespace ilux
