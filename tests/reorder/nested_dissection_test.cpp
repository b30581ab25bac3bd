// Oracles: a permutation is one; multiply-adds by row subtrees of the elimination tree, beside METIS_NodeND's and
// closed forms; one thread's result for that of many.

#include "ilux/reorder/nested_dissection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>

#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/reorder/coarsening.hpp"
#include "ilux/reorder/separator.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using DissectedCsr = CsrMatrix<double>;

PatternView pattern_of(const DissectedCsr& A) { return {A.rows(), A.row_ptr(), A.col()}; }

DissectedCsr symmetric_from(Index n, const std::vector<std::pair<Index, Index>>& edges)
{
    std::vector<Index> row(n), col(n);
    std::iota(row.begin(), row.end(), Index{0});
    std::iota(col.begin(), col.end(), Index{0});
    for (const auto& [i, j] : edges) {
        row.insert(row.end(), {i, j});
        col.insert(col.end(), {j, i});
    }
    return DissectedCsr::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.0));
}

DissectedCsr complete_graph(Index n)
{
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) edges.emplace_back(i, j);
    return symmetric_from(n, edges);
}

DissectedCsr star(Index n, Index centre)
{
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < n; ++i)
        if (i != centre) edges.emplace_back(i, centre);
    return symmetric_from(n, edges);
}

DissectedCsr random_graph(Index n, Index edges, unsigned seed)
{
    std::mt19937                         random(seed);
    std::vector<std::pair<Index, Index>> all;
    for (Index p = 0; p < edges; ++p) all.emplace_back(random() % n, random() % n);
    return symmetric_from(n, all);
}

/// Every vertex of A is `copies` vertices that are all joined, and joined to all copies of its neighbours.
DissectedCsr blown_up(const DissectedCsr& A, Index copies)
{
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            for (Index a = 0; a < copies; ++a)
                for (Index b = 0; b < copies; ++b) edges.emplace_back(i * copies + a, A.col()[p] * copies + b);
    return symmetric_from(A.rows() * copies, edges);
}

/// Points of a cube, each joined to its 8 nearest.
DissectedCsr mesh_of_random_points(Index n, unsigned seed)
{
    std::mt19937                       random(seed);
    std::vector<std::array<double, 3>> at(n);
    for (auto& x : at)
        for (double& c : x) c = std::uniform_real_distribution<>()(random);
    std::vector<std::pair<Index, Index>>  edges;
    std::vector<std::pair<double, Index>> others(n);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j)
            others[j] = {std::hypot(at[i][0] - at[j][0], at[i][1] - at[j][1], at[i][2] - at[j][2]), j};
        std::nth_element(others.begin(), others.begin() + 8, others.end());  // itself, and 8 others
        for (int k = 0; k <= 8; ++k)
            if (others[k].second != i) edges.emplace_back(i, others[k].second);
    }
    return symmetric_from(n, edges);
}

/// Σ over the columns of L of the square of their entries below the diagonal.
double multiply_adds(const DissectedCsr& A, const std::vector<Index>& perm)
{
    const auto          inv = inverse_permutation(perm);
    std::vector<Index>  parent(A.rows(), -1), seen(A.rows(), -1);
    std::vector<double> count(A.rows(), 0);
    for (Index k = 0; k < A.rows(); ++k) {
        seen[k] = k;
        for (Offset p = A.row_ptr()[perm[k]]; p < A.row_ptr()[perm[k] + 1]; ++p)
            for (Index i = inv[A.col()[p]]; i < k && seen[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                seen[i] = k;
                ++count[i];
            }
    }
    double sum = 0;
    for (const double c : count) sum += c * c;
    return sum;
}

void expect_same_on_any_threads(const DissectedCsr& A)
{
    const auto one = nested_dissection(Cpu(1), pattern_of(A));
    ASSERT_EQ(one.size(), A.rows());
    ASSERT_NO_THROW(inverse_permutation(one));
    for (const int threads : {2, 3, 8}) EXPECT_EQ(nested_dissection(Cpu(threads), pattern_of(A)), one) << threads;
}

TEST(NestedDissection, IsAPermutationOfAnyPattern)
{
    for (const Index n : {0, 1, 2, 3, 31, 32, 33, 1000}) {
        expect_same_on_any_threads(DissectedCsr::identity(n));
        expect_same_on_any_threads(DissectedCsr::from_arrays(n, n, std::vector<Offset>(n + 1, 0), {}, {}));
        if (n == 0) continue;
        expect_same_on_any_threads(star(n, n / 2));
        for (unsigned seed = 0; seed < 4; ++seed)
            expect_same_on_any_threads(random_graph(n, static_cast<Index>(seed) * n, seed));
        if (n <= 33) expect_same_on_any_threads(complete_graph(n));
    }
}

TEST(NestedDissection, IsTheSameOnAnyNumberOfThreads)
{
    for (const char* spec : {"convdiff2d:n=180", "convdiff3d:n=28"}) expect_same_on_any_threads(gallery::build(spec));
    expect_same_on_any_threads(random_graph(30000, 45000, 7));
    expect_same_on_any_threads(mesh_of_random_points(12000, 5));
    expect_same_on_any_threads(star(30000, 17));
}

TEST(NestedDissection, OfAnUnsymmetricPatternIsThatOfItsSymmetrisation)
{
    std::mt19937                         random(3);
    std::vector<Index>                   row, col;
    std::vector<std::pair<Index, Index>> edges;
    const Index                          n = 12000;
    for (Index i = 0; i < n; ++i) {
        row.insert(row.end(), {i, i});
        col.insert(col.end(), {i, static_cast<Index>(random() % n)});
        edges.emplace_back(row.back(), col.back());
    }
    const auto A = DissectedCsr::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.0));
    EXPECT_EQ(nested_dissection(Cpu(2), pattern_of(A)),
              nested_dissection(Cpu(1), pattern_of(symmetric_from(n, edges))));
}

/// Multiply-adds of our order, as a share of METIS's.
double to_metis(const DissectedCsr& A)
{
    return multiply_adds(A, nested_dissection(Cpu(2), pattern_of(A))) /
           multiply_adds(A, fill_reducing_order(pattern_of(A), Ordering::metis));
}

TEST(NestedDissection, FillsMeshesAsLittleAsMetis)
{
    double product = 1;
    int    meshes = 0;
    for (const char* spec : {"poisson2d:n=150", "poisson2d:n=201", "convdiff2d:n=120", "convdiff3d:n=20",
                             "convdiff3d:n=24", "convdiff3d:n=30"}) {
        const double ratio = to_metis(gallery::build(spec));
        EXPECT_LE(ratio, 1.25) << spec;
        product *= ratio;
        ++meshes;
    }
    EXPECT_LE(std::pow(product, 1. / meshes), 1.05);
}

TEST(NestedDissection, FillsMeshesOfRandomPointsAsLittleAsMetis)
{
    double    product = 1;
    const int meshes = 4;
    for (unsigned seed = 0; seed < meshes; ++seed) product *= to_metis(mesh_of_random_points(6000, seed));
    EXPECT_LE(std::pow(product, 1. / meshes), 1.1);
}

TEST(NestedDissection, PutsHubsLastByDegree)
{
    const Index                          n = 20000;
    std::vector<std::pair<Index, Index>> edges;
    for (Index i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
    for (Index i = 0; i < n; i += 2) edges.emplace_back(i, 5);
    for (Index i = 0; i < n; i += 3) edges.emplace_back(i, 9000);
    const auto A = symmetric_from(n, edges);
    const auto perm = nested_dissection(Cpu(2), pattern_of(A));
    EXPECT_EQ(perm[n - 1], 5);
    EXPECT_EQ(perm[n - 2], 9000);
    EXPECT_LT(multiply_adds(A, perm), 40. * n);  // a path has fill for three hubs at most, but at its separators
}

TEST(NestedDissection, KeepsIndistinguishableVerticesTogether)
{
    const Index copies = 3;
    const auto  A = blown_up(gallery::build("poisson2d:n=60"), copies);
    const auto  perm = nested_dissection(Cpu(2), pattern_of(A));
    for (std::size_t k = 0; k < perm.size(); k += copies)
        for (Index c = 0; c < copies; ++c) ASSERT_EQ(perm[k + c], perm[k] / copies * copies + c);
}

TEST(NestedDissection, OfACompleteGraphIsNoWork)
{
    const auto perm = nested_dissection(Cpu(2), pattern_of(complete_graph(1500)));
    EXPECT_NO_THROW(inverse_permutation(perm));
}

TEST(NestedDissection, OfManyComponentsHasNoFillBetweenThem)
{
    std::vector<std::pair<Index, Index>>
                edges;  // rings of six, interleaved: 5 + 4 · 1 entries of L below the diagonal at best
    const Index rings = 5000;
    for (Index c = 0; c < rings; ++c)
        for (Index i = 0; i < 6; ++i) edges.emplace_back(i * rings + c, (i + 1) % 6 * rings + c);
    const auto A = symmetric_from(6 * rings, edges);
    const auto perm = nested_dissection(Cpu(2), pattern_of(A));
    EXPECT_EQ(multiply_adds(A, perm), rings * (4 * 4 + 1.));  // four vertices of degree two, one, none
    expect_same_on_any_threads(A);
}

TEST(NestedDissection, ATokenEndsIt)
{
    const auto A = gallery::build("poisson2d:n=150");
    EXPECT_EQ(nested_dissection(Cpu(2), pattern_of(A), test::never()), nested_dissection(Cpu(2), pattern_of(A)));
    EXPECT_THROW((void)nested_dissection(Cpu(2), pattern_of(A), test::at_once()), Cancelled);
    std::atomic<int> asked;
    (void)nested_dissection(Cpu(2), pattern_of(A), test::stop_at(0, asked));
    EXPECT_GT(asked, 4);
    const int half = asked / 2;
    EXPECT_THROW((void)nested_dissection(Cpu(2), pattern_of(A), test::stop_at(half, asked)), Cancelled);
}

detail::WeightedGraph weighted(const DissectedCsr& A)
{
    detail::WeightedGraph g{.start = {0}, .arc = {}, .weight = std::vector<Index>(A.rows(), 1), .total = A.rows()};
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i) g.arc.push_back({A.col()[p], 1});
        g.start.push_back(static_cast<Offset>(g.arc.size()));
    }
    return g;
}

TEST(Separator, SeparatesAndItsWeightsAreRight)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Index           n = 1 + static_cast<Index>(seed) * 77;
        const auto            g = weighted(seed % 3 == 0 ? random_graph(n, n, seed) : random_graph(n, 2 * n, seed));
        const auto            s = detail::separated(g, seed);
        std::array<Offset, 3> weight{};
        for (Index v = 0; v < n; ++v) {
            weight[s.side[v]] += g.weight[v];
            for (const auto& e : g.of(v)) ASSERT_NE(s.side[v] + s.side[e.to], 1) << "an edge between the sides";
        }
        EXPECT_EQ(s.weight, weight);
    }
}

TEST(Separator, OfAGridIsAboutALine)
{
    const auto s = detail::separated(weighted(gallery::build("poisson2d:n=100")), 1);
    EXPECT_LE(s.weight[2], 130);
    EXPECT_LE(s.heavier_side(), 7000);
}

TEST(Coarsening, KeepsWeightsAndEdges)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto g = weighted(random_graph(9000, 20000, seed));
        const auto c = detail::coarsened(g, 100, seed);
        EXPECT_LT(c.graph.n(), 6 * g.n() / 10);
        std::vector<Index> weight(c.graph.n(), 0);
        Offset             between = 0, kept = 0;
        for (Index v = 0; v < g.n(); ++v) {
            ASSERT_LT(c.coarse_of[v], c.graph.n());
            weight[c.coarse_of[v]] += g.weight[v];
            for (const auto& e : g.of(v)) between += c.coarse_of[v] != c.coarse_of[e.to] ? e.weight : 0;
        }
        for (const auto& e : c.graph.arc) kept += e.weight;
        EXPECT_EQ(c.graph.weight, weight);
        EXPECT_EQ(kept, between);
        EXPECT_LE(*std::ranges::max_element(weight), 100);
    }
}

}  // namespace
}  // namespace ilux
