// Oracles: elimination by cliques for fill, the definition for bandwidth, known bandwidths of paths and grids.

#include "ilux/reorder/ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "ilux/base/error.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using Csr = CsrMatrix<double>;
constexpr std::array every_ordering{Ordering::amd, Ordering::metis, Ordering::rcm, Ordering::colamd, Ordering::none};

Csr from_edges(Index n, const std::vector<std::pair<Index, Index>>& edges, bool diagonal = true)
{
    std::vector<Index> row, col;
    const auto         add = [&](Index i, Index j) {
        row.push_back(i);
        col.push_back(j);
    };
    for (Index i = 0; i < n && diagonal; ++i) add(i, i);
    for (const auto& [i, j] : edges) add(i, j);
    return Csr::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.0));
}

std::vector<Index> shuffled(Index n, unsigned seed)
{
    std::vector<Index> perm(n);
    std::iota(perm.begin(), perm.end(), Index{0});
    std::ranges::shuffle(perm, std::mt19937(seed));
    return perm;
}

Csr grid(Index k)
{
    std::vector<std::pair<Index, Index>> edges;
    for (Index y = 0; y < k; ++y) {
        for (Index x = 0; x < k; ++x) {
            if (x + 1 < k) edges.insert(edges.end(), {{y * k + x, y * k + x + 1}, {y * k + x + 1, y * k + x}});
            if (y + 1 < k) edges.insert(edges.end(), {{y * k + x, y * k + x + k}, {y * k + x + k, y * k + x}});
        }
    }
    return from_edges(k * k, edges);
}

Csr path(Index n)
{
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i + 1 < n; ++i) edges.insert(edges.end(), {{i, i + 1}, {i + 1, i}});
    return from_edges(n, edges);
}

/// Off-diagonal entries of L when the symmetrised pattern is eliminated in this order: each vertex joins its later
/// neighbours into a clique.
Offset fill_of(const Csr& A, const std::vector<Index>& perm)
{
    const Csr                    B = permute(A, perm, perm);
    std::vector<std::set<Index>> later(B.rows());
    for (Index i = 0; i < B.rows(); ++i)
        for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p)
            if (B.col()[p] != i) later[std::min(i, B.col()[p])].insert(std::max(i, B.col()[p]));
    Offset nnz = 0;
    for (Index k = 0; k < B.rows(); ++k) {
        nnz += static_cast<Offset>(later[k].size());
        for (auto a = later[k].begin(); a != later[k].end(); ++a) later[*a].insert(std::next(a), later[k].end());
    }
    return nnz;
}

Index bandwidth(const Csr& A, const std::vector<Index>& perm)
{
    const Csr B = permute(A, perm, perm);
    Index     width = 0;
    for (Index i = 0; i < B.rows(); ++i)
        for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p) width = std::max(width, std::abs(i - B.col()[p]));
    return width;
}

Csr random_pattern(Index n, Index nnz, unsigned seed)
{
    std::mt19937                         random(seed);
    std::vector<std::pair<Index, Index>> edges;
    for (Index p = 0; p < nnz; ++p) edges.emplace_back(random() % n, random() % n);
    return from_edges(n, edges, seed % 2);
}

TEST(Ordering, IsAPermutationOfAnyPattern)
{
    std::vector<Csr> all;
    for (Index n : {0, 1, 2, 3, 31, 32, 33, 500}) {
        all.push_back(Csr::identity(n));
        all.push_back(from_edges(n, {}, false));  // nothing stored at all
        all.push_back(path(n));
        for (unsigned seed = 0; n > 0 && seed < 6; ++seed)
            all.push_back(random_pattern(n, static_cast<Index>(seed) * n, seed));
        std::vector<std::pair<Index, Index>> one_way;  // an unsymmetric chain, and one dense row, and one dense column
        for (Index i = 0; i + 1 < n; ++i) one_way.emplace_back(i + 1, i);
        all.push_back(from_edges(n, one_way, false));
        for (Index i = 0; i < n; ++i) one_way.emplace_back(n / 2, i);
        all.push_back(from_edges(n, one_way, false));
        for (Index i = 0; i < n; ++i) one_way.emplace_back(i, n / 3);
        all.push_back(from_edges(n, one_way));
    }
    for (const Csr& A : all) {
        for (const Ordering ordering : every_ordering) {
            const auto perm = fill_reducing_order(A, ordering);
            SCOPED_TRACE(testing::Message() << name(ordering) << ", n = " << A.rows() << ", nnz = " << A.nnz());
            ASSERT_EQ(perm.size(), A.rows());
            ASSERT_NO_THROW(inverse_permutation(perm));
        }
    }
}

TEST(Ordering, IsRepeatableWhateverTheStateOfRand)
{
    for (const Csr& A : {grid(30), random_pattern(700, 3000, 5)}) {
        for (const Ordering ordering : every_ordering) {
            std::srand(54321);
            const auto first = fill_reducing_order(A, ordering);
            std::srand(12345);
            EXPECT_EQ(fill_reducing_order(A, ordering), first) << name(ordering);
        }
    }
}

TEST(Ordering, RefusesARectangle)
{
    const Csr A = Csr::from_arrays(2, 3, {0, 0, 0}, {}, {});
    for (const Ordering ordering : every_ordering) EXPECT_THROW((void)fill_reducing_order(A, ordering), InvalidInput);
}

TEST(Ordering, NoneIsTheIdentity)
{
    EXPECT_EQ(fill_reducing_order(path(4), Ordering::none), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(Ordering, ReducesFillOnAGrid)
{
    const Index  k = 24, n = k * k;
    const Csr    A = grid(k);
    const Offset natural = fill_of(A, fill_reducing_order(A, Ordering::none));
    // vertex j of the first grid line gets j + 2 later neighbours, all others k, the last line what is left
    EXPECT_EQ(natural, (k * (k + 1) / 2 - 1) + k * (n - 2 * k + 1) + k * (k - 1) / 2);
    for (const Ordering ordering : {Ordering::amd, Ordering::metis})
        EXPECT_LT(fill_of(A, fill_reducing_order(A, ordering)), 6 * natural / 10) << name(ordering);
}

TEST(Ordering, AmdEliminatesATreeWithoutFill)
{
    std::vector<std::pair<Index, Index>> edges;  // each vertex hangs on an earlier one, stored in one direction only
    std::mt19937                         random(2);
    for (Index i = 1; i < 400; ++i) edges.emplace_back(i, static_cast<Index>(random() % i));
    const auto p = shuffled(400, 9);
    const Csr  A = permute(from_edges(400, edges), p, p);
    EXPECT_EQ(fill_of(A, fill_reducing_order(A, Ordering::amd)), 399);
}

TEST(Ordering, PutsTheDenseRowOfAnArrowLast)
{
    const Index                          n = 2000;
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < n; ++i) edges.insert(edges.end(), {{0, i}, {i, 0}});
    const Csr A = from_edges(n, edges);
    for (const Ordering ordering : {Ordering::amd, Ordering::metis})
        EXPECT_EQ(fill_reducing_order(A, ordering).back(), 0);
}

TEST(Ordering, ColamdPutsADenseColumnLast)
{
    const Index                          n = 2000;
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < n; ++i) edges.emplace_back(i, 5);
    EXPECT_EQ(fill_reducing_order(from_edges(n, edges), Ordering::colamd).back(), 5);
}

TEST(Ordering, ColamdReducesFillOfTheNormalEquations)
{
    const auto                           p = shuffled(300, 4);
    const Csr                            A = permute(path(300), p, p);
    std::vector<std::pair<Index, Index>> square;  // pattern of AᵀA
    for (Index i = 0; i < 300; ++i)
        for (Offset a = A.row_ptr()[i]; a < A.row_ptr()[i + 1]; ++a)
            for (Offset b = A.row_ptr()[i]; b < A.row_ptr()[i + 1]; ++b) square.emplace_back(A.col()[a], A.col()[b]);
    const Csr AtA = from_edges(300, square);
    EXPECT_LE(fill_of(AtA, fill_reducing_order(A, Ordering::colamd)), 2 * 300);  // a band of two, as in path order
    EXPECT_GT(fill_of(AtA, fill_reducing_order(A, Ordering::none)), 4 * 300);
}

TEST(Ordering, RcmRestoresAPathOfAnyLength)
{
    for (Index n : {2, 3, 31, 32, 33, 1000}) {
        const auto p = shuffled(n, static_cast<unsigned>(n));
        const Csr  A = permute(path(n), p, p);
        EXPECT_EQ(bandwidth(A, fill_reducing_order(A, Ordering::rcm)), 1) << "n = " << n;
    }
}

TEST(Ordering, RcmRestoresTheBandOfAGrid)
{
    const Index k = 20;
    const auto  p = shuffled(k * k, 1);
    const Csr   A = permute(grid(k), p, p);
    EXPECT_GT(bandwidth(A, fill_reducing_order(A, Ordering::none)), 300);
    EXPECT_LE(bandwidth(A, fill_reducing_order(A, Ordering::rcm)),
              k + 1);  // diagonals of the grid have k points at most
}

TEST(Ordering, RcmKeepsComponentsTogether)
{
    std::vector<std::pair<Index, Index>> edges;  // fifty rings of six vertices, interleaved
    for (Index c = 0; c < 50; ++c)
        for (Index i = 0; i < 6; ++i) edges.emplace_back(i * 50 + c, (i + 1) % 6 * 50 + c);
    const Csr A = from_edges(300, edges);
    EXPECT_EQ(bandwidth(A, fill_reducing_order(A, Ordering::rcm)), 2);
}

TEST(Ordering, RcmBreaksTiesByIndex)
{
    // a star with centre 0: 1 is farthest from 0, 2 from 1, and so the root; then 0 and the other leaves; reversed
    EXPECT_EQ(fill_reducing_order(from_edges(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}), Ordering::rcm),
              (std::vector<Index>{4, 3, 1, 0, 2}));
}

TEST(Ordering, ATokenEndsEveryLibrary)
{
    const auto A = grid(150);  // large enough for a thread of its own
    for (const Ordering ordering : {Ordering::amd, Ordering::metis, Ordering::rcm, Ordering::colamd}) {
        EXPECT_EQ(fill_reducing_order(A, ordering, test::never()), fill_reducing_order(A, ordering));
        EXPECT_THROW(fill_reducing_order(A, ordering, test::at_once()), Cancelled);
        EXPECT_EQ(fill_reducing_order(A, ordering, test::never()),
                  fill_reducing_order(A, ordering));  // what was left behind disturbs none
    }
}

TEST(Ordering, CountsArriveFromAThreadOfItsOwn)
{
    const auto        A = grid(150);
    const PatternView pattern{A.rows(), A.row_ptr(), A.col()};
    AmdCounts         here, apart;
    (void)fill_reducing_order(pattern, Ordering::amd, &here);
    (void)fill_reducing_order(pattern, Ordering::amd, &apart, test::never());
    EXPECT_GT(here.nnz_L, A.nnz());
    EXPECT_EQ(apart.nnz_L, here.nnz_L);
    EXPECT_EQ(apart.multiply_adds, here.multiply_adds);
    EXPECT_EQ(apart.symmetry, here.symmetry);
}

TEST(Ordering, MetisLeavesSigtermToTheProgram)
{
    const auto        A = grid(400);
    std::atomic<bool> over = false;
    std::thread       metis([&] {
        (void)fill_reducing_order(A, Ordering::metis);
        over = true;
    });
    int               own = 0, taken = 0;
    while (!over) {
        struct sigaction now {};
        sigaction(SIGTERM, nullptr, &now);
        ++(now.sa_handler == SIG_DFL ? own : taken);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    metis.join();
    EXPECT_GT(own, 20);
    EXPECT_LT(taken, own / 5);
}

}  // namespace
}  // namespace ilux
