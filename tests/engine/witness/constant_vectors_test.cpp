// What vectors of ones say of matrices that one can look at.

#include "ilux/engine/witness/constant_vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "ilux/tests/engine/witness/known_systems.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

ConstantVectors constants_of(const CsrMatrix<double>& A)
{
    Cpu serial(1);
    return look_at_constants<double>(serial, A);
}
ConstantVectors constants_of(const WholeMatrix& A) { return constants_of(A.entries.matrix(A.n, A.n)); }

std::vector<Index> from_to(Index first, Index end, Index step = 1)
{
    std::vector<Index> all;
    for (Index i = first; i < end; i += step) all.push_back(i);
    return all;
}

/// 2 on the diagonal, −1 beside it.
CsrMatrix<double> dirichlet_chain(Index n)
{
    EntryList entries;
    for (Index i = 0; i < n; ++i) {
        entries.add(i, i, 2);
        if (i + 1 < n) entries.add(i, i + 1, -1), entries.add(i + 1, i, -1);
    }
    return entries.matrix(n, n);
}

/// Conductances of 1 between n nodes in a row; the first is grounded by g.
CsrMatrix<double> chain_grounded_by(double g, Index n)
{
    EntryList entries;
    for (Index i = 0; i + 1 < n; ++i) link(entries, i, i + 1, 1);
    entries.add(0, 0, g);
    return entries.matrix(n, n);
}

TEST(ConstantVectors, FindANeumannGridLooseAsAWhole)
{
    Random random(1);
    for (const auto draw : {neumann_chain, neumann_grid})
        for (const Index size : {4, 9, 25, 400}) {
            const WholeMatrix A = draw(size, random);
            const auto        found = constants_of(A);
            EXPECT_FALSE(found.regular);
            ASSERT_EQ(found.loose.size(), 1u);
            EXPECT_EQ(found.loose[0].kind, UnknownKind::all);
            EXPECT_EQ(found.loose[0].pinned, 0);
            EXPECT_EQ(found.loose[0].members, from_to(0, A.n));
        }
}

TEST(ConstantVectors, TellPartsThatNoEntryConnects)
{
    // Unknowns 0, 2, 4 and 1, 3.
    EntryList entries;
    link(entries, 0, 2, 1);
    link(entries, 2, 4, 3);
    link(entries, 1, 3, 2);
    const auto found = constants_of(entries.matrix(5, 5));
    EXPECT_FALSE(found.regular);
    ASSERT_EQ(found.loose.size(), 2u);
    EXPECT_EQ(found.loose[0].members, (std::vector<Index>{0, 2, 4}));
    EXPECT_EQ(found.loose[1].members, (std::vector<Index>{1, 3}));
    for (const LooseSet& one : found.loose) EXPECT_EQ(one.pinned, 0);
}

TEST(ConstantVectors, LeaveAPartThatIsHeldOutOfTheLooseSets)
{
    // 0 and 1 float; 2 and 3 are grounded by 1.
    const auto found = constants_of(to_csr({4, 4, {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 3, -2, 0, 0, -2, 2}}));
    EXPECT_FALSE(found.regular);
    ASSERT_EQ(found.loose.size(), 1u);
    EXPECT_EQ(found.loose[0].members, (std::vector<Index>{0, 1}));
}

TEST(ConstantVectors, ProveADirichletGridRegular)
{
    for (const Index n : {1, 2, 3, 10, 1000}) {
        const auto found = constants_of(dirichlet_chain(n));
        EXPECT_TRUE(found.regular) << n;
        EXPECT_TRUE(found.loose.empty()) << n;
        // Sums of rows: 1 at both ends, in all 2, of 2 n + 2 (n − 1).
        EXPECT_DOUBLE_EQ(found.pinned, 2. / (4. * n - 2)) << n;
    }
}

TEST(ConstantVectors, MeasureHowLittleHoldsANearlyFloatingGrid)
{
    // |A t| sums to g, and |A| t to 4 (n − 1) + g.
    for (const Index n : {2, 5, 30})
        for (const double g : {0x1p-40, 0x1p-30}) {
            const auto found = constants_of(chain_grounded_by(g, n));
            EXPECT_FALSE(found.regular);
            ASSERT_EQ(found.loose.size(), 1u);
            EXPECT_EQ(found.loose[0].members, from_to(0, n));
            EXPECT_NEAR(found.loose[0].pinned * (4. * (n - 1) + g), g, 1e-6 * g);
        }
}

TEST(ConstantVectors, SeeNothingLooseInAGridThatIsGroundedByOne)
{
    for (const Index n : {2, 5, 30}) {
        const auto found = constants_of(chain_grounded_by(1, n));
        EXPECT_TRUE(found.regular);
        EXPECT_TRUE(found.loose.empty());
        EXPECT_DOUBLE_EQ(found.pinned, 1. / (4. * (n - 1) + 1));
    }
}

TEST(ConstantVectors, FindAFreePressureAmongUnknownsWithoutADiagonal)
{
    Random random(2);
    for (const Index size : {2, 7, 40}) {
        const WholeMatrix A = free_pressure(size, random);
        const auto        found = constants_of(A);
        EXPECT_FALSE(found.regular);
        ASSERT_EQ(found.loose.size(), 1u) << size;
        EXPECT_EQ(found.loose[0].kind, UnknownKind::zero_diagonal);
        EXPECT_EQ(found.loose[0].pinned, 0);
        EXPECT_EQ(found.loose[0].members, from_to(A.n / 2, A.n));
    }
}

TEST(ConstantVectors, FindATrussThatMaySlideOneWay)
{
    // Displacements u, v of each node; v is held at one node, and nothing holds u.
    Random random(3);
    for (const Index size : {8, 18, 50}) {
        WholeMatrix A = floating_truss(size, random, 1, 0, 0);
        A.entries.add(1, 1, 4);
        const auto found = constants_of(A);
        EXPECT_FALSE(found.regular);
        ASSERT_EQ(found.loose.size(), 1u) << size;
        EXPECT_EQ(found.loose[0].kind, UnknownKind::of_two);
        EXPECT_EQ(found.loose[0].pinned, 0);
        EXPECT_EQ(found.loose[0].members, from_to(0, A.n, 2));
    }
}

TEST(ConstantVectors, FindEveryThirdUnknownLoose)
{
    // Three unknowns a node: the first have zero sums, the others are held by 1 and take part in the rows of the first.
    constexpr Index nodes = 4;
    EntryList       entries;
    for (Index i = 0; i < nodes; ++i)
        for (const Index k : {1, 2}) {
            entries.add(3 * i + k, 3 * i + k, 3);
            entries.add(3 * i, 3 * i + k, 1);
            if (i == 0) continue;
            entries.add(3 * i + k, 3 * i, 1);
            entries.add(3 * i + k, 3 * i - 3, -1);
        }
    for (Index i = 0; i + 1 < nodes; ++i) link(entries, 3 * i, 3 * i + 3, 1);
    const auto found = constants_of(entries.matrix(3 * nodes, 3 * nodes));
    EXPECT_FALSE(found.regular);
    ASSERT_EQ(found.loose.size(), 1u);
    EXPECT_EQ(found.loose[0].kind, UnknownKind::of_three);
    EXPECT_EQ(found.loose[0].pinned, 0);
    EXPECT_EQ(found.loose[0].members, from_to(0, 3 * nodes, 3));
}

TEST(ConstantVectors, DoNotProveADominantMatrixRegularThatHoldsAFloatingPart)
{
    // Rows 0 and 1 lead to one another alone; t = (2, 2, 1) is taken to 0.
    const auto closed = to_csr({3, 3, {1, -1, 0, -1, 1, 0, -1, 0, 2}});
    EXPECT_EQ(plain_product(closed, std::vector<double>{2, 2, 1}), (std::vector<double>{0, 0, 0}));
    EXPECT_FALSE(constants_of(closed).regular);
    // The other way: 0 and 1 lead to a grounded row.
    EXPECT_TRUE(constants_of(to_csr({3, 3, {1, -1, 0, -1, 2, -1, 0, 0, 2}})).regular);
    // A link of 2⁻³⁰ of the row leads nowhere.
    EXPECT_FALSE(constants_of(to_csr({3, 3, {1, -1, 0, -1, 1 + 0x1p-30, -0x1p-30, 0, 0, 2}})).regular);
}

TEST(ConstantVectors, TakeComplexMultiplesAsTheMatricesThemselves)
{
    Random random(4);
    for (const auto draw : {neumann_grid, floating_nets, free_pressure, upwind})
        for (const std::complex<double> factor : {std::complex(1., .5), std::complex(0., -3.), std::complex(-2., 1.)}) {
            const WholeMatrix                 A = draw(30, random);
            const auto                        real = A.entries.matrix(A.n, A.n);
            std::vector<std::complex<double>> val;
            for (const double a : real.val()) val.push_back(a * factor);
            const auto times =
                CsrMatrix<std::complex<double>>::from_sorted(A.n, A.n, {real.row_ptr().begin(), real.row_ptr().end()},
                                                             {real.col().begin(), real.col().end()}, val);
            Cpu        serial(1);
            const auto found = look_at_constants<std::complex<double>>(serial, times), wanted = constants_of(real);
            EXPECT_FALSE(found.regular);
            ASSERT_EQ(found.loose.size(), wanted.loose.size());
            for (std::size_t k = 0; k < found.loose.size(); ++k) {
                EXPECT_EQ(found.loose[k].kind, wanted.loose[k].kind);
                EXPECT_EQ(found.loose[k].members, wanted.loose[k].members);
                EXPECT_EQ(found.loose[k].pinned, 0);
            }
        }
}

TEST(ConstantVectors, AreRightForHardlyAnyUnknowns)
{
    const auto none = constants_of(CsrMatrix<double>::from_arrays(0, 0, {0}, {}, {}));
    EXPECT_TRUE(none.loose.empty());
    EXPECT_TRUE(constants_of(to_csr({1, 1, {-5}})).regular);
    EXPECT_FALSE(constants_of(to_csr({1, 1, {0}})).regular);
    EXPECT_FALSE(constants_of(CsrMatrix<double>::from_arrays(1, 1, {0, 1}, {0}, {0})).regular);
    EXPECT_TRUE(constants_of(to_csr({2, 2, {2, -1, -1, 2}})).regular);
    const auto two = constants_of(to_csr({2, 2, {3, -3, -3, 3}}));
    EXPECT_FALSE(two.regular);
    ASSERT_EQ(two.loose.size(), 1u);
    EXPECT_EQ(two.loose[0].members, (std::vector<Index>{0, 1}));
    // (1, −1) is taken to 0, and no vector of ones.
    const auto other = constants_of(to_csr({2, 2, {1, 1, 1, 1}}));
    EXPECT_FALSE(other.regular);
    EXPECT_TRUE(other.loose.empty());
}

TEST(ConstantVectors, DoNotProveAMatrixWithAnEmptyRowOrColumnRegular)
{
    EXPECT_FALSE(constants_of(to_csr({3, 3, {2, -1, 0, 0, 0, 0, 0, -1, 2}})).regular);
    EXPECT_FALSE(constants_of(to_csr({3, 3, {2, 0, -1, -1, 0, 2, -1, 0, 3}})).regular);
}

TEST(ConstantVectors, DoNotDependOnTheNumbering)
{
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Random      random(seed);
        const auto  draw = std::vector{neumann_grid, floating_nets, free_pressure, grounded_once}[seed % 4];
        WholeMatrix A = draw(4 + random.below(60), random), permuted = A;
        if (seed % 3 == 0) A = permuted = A.grounded(0x1p-40, false);
        const auto place = random_permutation(A.n, seed);
        for (Index& i : permuted.entries.row) i = place[i];
        for (Index& j : permuted.entries.col) j = place[j];
        const auto one = constants_of(A), other = constants_of(permuted);
        EXPECT_EQ(one.regular, other.regular) << seed;
        EXPECT_NEAR(one.pinned, other.pinned, 1e-12) << seed;
        ASSERT_EQ(one.loose.size(), other.loose.size()) << seed;
        std::vector<std::vector<Index>> moved, found;
        for (const LooseSet& set : one.loose) {
            std::vector<Index> members;
            for (const Index j : set.members) members.push_back(place[j]);
            std::ranges::sort(members);
            moved.push_back(members);
        }
        for (const LooseSet& set : other.loose) found.push_back(set.members);
        std::ranges::sort(moved);
        std::ranges::sort(found);
        EXPECT_EQ(moved, found) << seed;
    }
}

}  // namespace
}  // namespace ilux
