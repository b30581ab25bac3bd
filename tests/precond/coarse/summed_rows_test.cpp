#include "ilux/precond/coarse/summed_rows.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/precond/coarse/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
class SummedRows : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(SummedRows, Numbers);

TYPED_TEST(SummedRows, OfAProductActAsItsFactorsDo)
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

}  // namespace
}  // namespace ilux
