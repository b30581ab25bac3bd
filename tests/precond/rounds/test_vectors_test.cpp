#include "ilux/precond/rounds/test_vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/rounds/round_eliminate.hpp"
#include "ilux/tests/precond/rounds/round_checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

using namespace test::precond;

TEST(TestVectors, OneIsWeighedByItsRatio)
{
    const Vector      values{2, -6, 0.5};
    const TestVectors t(values, 3);
    EXPECT_EQ(t.count(), 1);
    EXPECT_EQ(t.size(1), 6);
    EXPECT_EQ(t.weight(0, 1), -3);
    EXPECT_EQ(t.weight(1, 2), -1. / 12);
}

/// δ = s·weight makes ‖δ t_i − s t_j‖ least: what is left stands at right angles to t_i.
TEST(TestVectors, SeveralAreWeighedByLeastSquares)
{
    constexpr Index   rows = 33, count = 3;
    const Vector      values = test::random_vector(rows * count, 1);
    const TestVectors t(values, rows);
    EXPECT_EQ(t.count(), count);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < rows; ++j) {
            double left = 0, size = 0;
            for (Index c = 0; c < count; ++c) {
                const double ti = values[i * count + c], tj = values[j * count + c];
                left += ti * (t.weight(i, j) * ti - tj);
                size += ti * ti;
            }
            EXPECT_NEAR(left, 0, 1e-13 * (1 + t.size(j) * t.size(i)));
            EXPECT_NEAR(t.size(i), std::sqrt(size), 1e-15 * t.size(i));
        }
}

TEST(TestVectors, RowsArePickedWhole)
{
    EXPECT_EQ(picked_rows(Vector{1, 2, 3, 4, 5, 6}, 3, std::vector<Index>{2, 0}), (Vector{5, 6, 1, 2}));
    EXPECT_EQ(picked_rows(Vector{1, 2, 3}, 3, std::vector<Index>{1}), Vector{2});
    EXPECT_TRUE(picked_rows(Vector{}, 0, {}).empty());
}

/// Unknowns of two kinds that know nothing of one another, each with a vector of its own: as each of them alone.
TEST(TestVectors, CompensatesUnknownsOfTwoKindsAsEachAlone)
{
    const auto          mesh = gallery::poisson2d(12, 9);
    const Index         n = mesh.rows();
    const Vector        first = test::random_vector(n, 1), second = test::random_vector(n, 2);
    test::EntryList     both;
    std::vector<double> vectors;
    for (Index i = 0; i < n; ++i) {
        for (Offset p = mesh.row_ptr()[i]; p < mesh.row_ptr()[i + 1]; ++p)
            for (Index kind : {0, 1}) both.add(2 * i + kind, 2 * mesh.col()[p] + kind, mesh.val()[p]);
        vectors.insert(vectors.end(), {2 + first[i], 0, 0, 2 + second[i]});
    }
    OwnedSystem               pair(both.matrix(2 * n, 2 * n));
    const RoundSystem<double> of_both{pair.S, pair.St, pair.w_L, pair.w_U, TestVectors(vectors, 2 * n)};
    const RoundDropping       dropping{.drop_tol = 0.3, .compensate = true};
    Cpu                       be;
    OwnedSystem               alone(mesh);
    RoundSet<double>          one = alone.set(lenient), two = pair.set(lenient);
    two.pivots.clear();
    two.rest.clear();
    for (Index k : one.pivots) two.pivots.insert(two.pivots.end(), {2 * k, 2 * k + 1});
    for (Index k : one.rest) two.rest.insert(two.rest.end(), {2 * k, 2 * k + 1});
    const auto made = test::to_dense(eliminate(be, of_both, two, dropping).next);
    for (Index kind : {0, 1}) {
        alone.t.clear();
        for (double t : kind == 0 ? first : second) alone.t.push_back(2 + t);
        const auto expected = test::to_dense(eliminate(be, alone.system(), one, dropping).next);
        const auto exact = test::to_dense(eliminate(be, alone.system(), one, RoundDropping{}).next);
        EXPECT_GT(largest_difference(expected, exact), 1e-3);
        for (Index i = 0; i < expected.rows; ++i)
            for (Index j = 0; j < expected.rows; ++j) {
                EXPECT_NEAR(made(2 * i + kind, 2 * j + kind), expected(i, j), 1e-14);
                EXPECT_EQ(made(2 * i + kind, 2 * j + 1 - kind), 0);
            }
    }
}

}  // namespace
}  // namespace ilux
