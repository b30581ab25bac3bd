#include "ilux/precond/coarse/prolongation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/precond/coarse/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
class ProlongationOf : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(ProlongationOf, Numbers);

/// Vector c of `vectors`.
template <class S>
std::vector<S> column(const NearNull<S>& vectors, Index c)
{
    std::vector<S> x;
    for (std::size_t i = c; i < vectors.values.size(); i += vectors.count) x.push_back(vectors.values[i]);
    return x;
}

TYPED_TEST(ProlongationOf, IsOrthonormalAndHoldsItsVectors)
{
    using S = TypeParam;
    const auto  A = in_numbers_of<S>(gallery::elasticity2d({.n = 16}));
    const Nodes nodes = nodes_of<S>(A);
    Cpu         be(2);
    const auto  parts = aggregate<S>(be, A, nodes, 0);
    auto        vectors = constants<S>(A, nodes);
    vectors.append(random_numbers<S>(A.rows(), 1));
    vectors.append(column(vectors, 0));  // once more: no column of its own
    const auto made = orthonormal_basis<S>(be, parts, nodes, vectors);
    EXPECT_EQ(made.P.cols(), 3 * parts.count);
    const auto Ph = adjoint<S>(be, made.P);
    const auto x = random_numbers<S>(made.P.cols(), 2);
    EXPECT_LE(far(times<S>(Ph, times<S>(made.P, x)), x), 1e-13);
    for (Index c = 0; c < vectors.count; ++c)
        EXPECT_LE(far(times<S>(made.P, column(made.coarse, c)), column(vectors, c)), 1e-13) << c;
    for (std::size_t k = 1; k < made.aggregate.size(); ++k) EXPECT_LE(made.aggregate[k - 1], made.aggregate[k]);
}

TYPED_TEST(ProlongationOf, IsSmoothedByAStepOfJacobi)
{
    using S = TypeParam;
    const auto A = in_numbers_of<S>(test::random_dominant(200, 5, 4));
    const auto P = in_numbers_of<S>(test::random_matrix(200, 20, 1, 5));
    Cpu        be(3);
    const auto x = random_numbers<S>(20, 1), Px = times<S>(P, x), APx = times<S>(A, Px);
    const auto z = times<S>(smoothed<S>(be, A, P), x);
    for (Index i = 0; i < 200; ++i) EXPECT_LE(std::abs(z[i] - (Px[i] - 0.66 / A.at(i, i) * APx[i])), 1e-13);
}

}  // namespace
}  // namespace ilux
