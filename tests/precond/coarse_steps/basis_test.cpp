#include "ilux/precond/coarse_steps/basis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
class BasisOf : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(BasisOf, Numbers);

TYPED_TEST(BasisOf, IsOrthonormalAndHoldsItsVectors)
{
    using S = TypeParam;
    const auto A = in_numbers_of<S>(gallery::elasticity2d({.n = 16}));
    Cpu        be(2);
    const auto nodes = groups_of(be, nodes_of<S>(A));
    const auto parts = aggregates<Cpu, S>(be, A, nodes, 0);
    auto       vectors = constants<S>(be, A, nodes_of<S>(A), false);
    append<Cpu, S>(be, vectors, random_numbers<S>(A.rows(), 1));
    append<Cpu, S>(be, vectors, column(vectors, 0));  // once more: no column of its own
    ASSERT_EQ(vectors.count, 4);
    EXPECT_EQ(column(vectors, 2), random_numbers<S>(A.rows(), 1));
    const auto made = orthonormal_basis<S>(be, parts, vectors);
    EXPECT_EQ(made.P.cols(), 3 * parts.count());
    const auto Ph = adjoint<S>(be, made.P);
    const auto x = random_numbers<S>(made.P.cols(), 2);
    EXPECT_LE(far(times<S>(Ph, times<S>(made.P, x)), x), 1e-13);
    for (Index c = 0; c < vectors.count; ++c)
        EXPECT_LE(far(times<S>(made.P, column(made.coarse, c)), column(vectors, c)), 1e-13) << c;
    EXPECT_EQ(made.nodes.count(), parts.count());
    for (Index k = 0; k < made.nodes.size(); ++k) EXPECT_EQ(made.nodes.of[k], k / 3);
}

}  // namespace
}  // namespace ilux
