#include "ilux/gallery/circuit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include "ilux/base/error.hpp"
#include "ilux/gallery/stamps.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using namespace gallery;

TEST(RlcMesh, HasTheCountsOfTableOne)
{
    struct Row {
        Index    n, segments;
        Analysis analysis;
        double   rows, nnz;
    };
    for (const Row& row : {Row{100, 50, Analysis::transient, 1970204, 5930208},     // rlc1
                           Row{200, 25, Analysis::transient, 3940404, 11900408},    // rlc2
                           Row{100, 99, Analysis::dc, 5890604, 15731208},           // rlc3
                           Row{200, 100, Analysis::transient, 15880404, 47720408},  // rlc4
                           Row{200, 149, Analysis::dc, 35621204, 95082408}}) {      // rlc5
        const auto size = rlc_mesh_size({.n = row.n, .segments = row.segments, .analysis = row.analysis});
        EXPECT_EQ(size.rows, row.rows);
        EXPECT_EQ(size.nnz, row.nnz);
    }
}

TEST(RlcMesh, HasTheSizeItAnnounces)
{
    for (auto analysis : {Analysis::transient, Analysis::dc})
        for (Index n : {2, 3, 5})
            for (Index segments : {1, 2, 7}) {
                const RlcMeshOptions options{.n = n, .segments = segments, .analysis = analysis};
                const auto           A = rlc_mesh(options);
                EXPECT_TRUE(is_well_formed(A));
                EXPECT_TRUE(is_symmetric(A));
                EXPECT_EQ(A.rows(), rlc_mesh_size(options).rows);
                EXPECT_EQ(A.nnz(), rlc_mesh_size(options).nnz);
                EXPECT_EQ(structural_rank(A), A.rows());
                EXPECT_EQ(count_zero_diagonals(A), 4 + (analysis == Analysis::dc ? 2 * n * (n - 1) * segments : 0));
            }
}

TEST(RlcMesh, OfOneTransientSegmentAnEdgeIsTheMatrixWrittenByHand)
{
    // 2 × 2 nodes; edges 0-1, 2-3, 0-2, 1-3; C/dt = 2, R + L/dt = 3 + 4; sources at all nodes.
    const auto  A = dense(rlc_mesh({.n = 2, .segments = 1, .r = 3, .l = 4, .c = 2, .dt = 1, .spread = 0}));
    const Index ends[4][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
    Dense       B{12, std::vector<double>(144, 0)};
    for (Index v = 0; v < 4; ++v) {
        B(v, v) = 2;
        B(v, 8 + v) = B(8 + v, v) = 1;
    }
    for (Index e = 0; e < 4; ++e) {
        B(4 + e, 4 + e) = -7;
        B(ends[e][0], 4 + e) = B(4 + e, ends[e][0]) = 1;
        B(ends[e][1], 4 + e) = B(4 + e, ends[e][1]) = -1;
    }
    EXPECT_EQ(A, B);
}

TEST(RlcMesh, CarriesNoCurrentWhenAllCornersAreAtOneVolt)
{
    const Index         n = 4, segments = 3, edges = 2 * n * (n - 1);
    const auto          A = rlc_mesh({.n = n, .segments = segments, .analysis = Analysis::dc});
    std::vector<double> x(A.rows(), 1);
    for (Index e = 0; e < edges; ++e)
        for (Index k = 0; k < segments; ++k) x[n * n + e * 3 * segments + 3 * k + 1] = 0;  // inductor currents
    for (Index k = 0; k < 4; ++k) x[A.rows() - 1 - k] = 0;                                 // source currents
    const auto b = times(A, x);
    for (Index i = 0; i < A.rows(); ++i) EXPECT_NEAR(b[i], i >= A.rows() - 4 ? 1 : 0, 1e-13) << i;
    EXPECT_GT(inverse(dense(A)).second, 1e-6);
}

TEST(PowerGrid, IsAtOneVoltWhenItsPadsAreAndNothingDrawsCurrent)
{
    const auto A = power_grid({.n = 6, .layers = 3, .pads = 2});
    EXPECT_EQ(A.rows(), 36 + 9 + 4 + 4);
    EXPECT_EQ(count_zero_diagonals(A), 4);
    std::vector<double> x(A.rows(), 1);
    for (Index k = 0; k < 4; ++k) x[A.rows() - 1 - k] = 0;
    const auto b = times(A, x);
    for (Index i = 0; i < A.rows(); ++i) EXPECT_NEAR(b[i], i >= A.rows() - 4 ? 1 : 0, 1e-12) << i;
    EXPECT_GT(inverse(dense(A)).second, 1e-6);
}

TEST(PowerGrid, ConnectsLayersByViasAndPadsToTheTop)
{
    const auto A = power_grid({.n = 3, .layers = 2, .pads = 1});  // 9 + 4 nodes, 1 source at the top's node (1, 1)
    EXPECT_EQ(A.rows(), 14);
    EXPECT_EQ(A.nnz(), 13 + 2 * (12 + 4 + 4) + 2);  // diagonals, wires of both layers and vias, pad
    const std::set<std::pair<Index, Index>> vias{{0, 9}, {2, 10}, {6, 11}, {8, 12}};
    for (Index i = 0; i < 9; ++i)
        for (Index j = 9; j < 13; ++j) EXPECT_EQ(A.at(i, j) < 0, vias.contains({i, j})) << i << " " << j;
    EXPECT_EQ(A.at(13, 12), 1);
    for (auto [i, j] : vias) EXPECT_NEAR(-A.at(i, j), 2, 0.4);      // 0.5 Ω ± 20 %
    EXPECT_NEAR(-A.at(9, 11) / -A.at(0, 3), 16, 16 * 0.5 + 1e-12);  // thicker, and in its preferred direction
    EXPECT_THROW((void)power_grid({.n = 3, .layers = 2, .pads = 3}), InvalidOption);
    EXPECT_TRUE(is_well_formed(power_grid({.n = 1, .layers = 30, .pads = 1})));
}

TEST(MnaRandom, HasAZeroDiagonalForEachSourceAndValuesOverManyDecades)
{
    const auto A = mna_random({.n = 400});
    EXPECT_EQ(A.rows(), 420);
    EXPECT_EQ(count_zero_diagonals(A), 20);
    EXPECT_EQ(structural_rank(A), 420);
    double smallest = 1, largest_value = 0;
    for (double value : A.val())
        if (value != 0) {
            smallest = std::min(smallest, std::abs(value));
            largest_value = std::max(largest_value, std::abs(value));
        }
    EXPECT_LT(smallest, 1e-10);
    EXPECT_GT(largest_value, 1e1);
    EXPECT_GT(largest_value / smallest, 1e13);
}

TEST(MnaRandom, OfResistorsAndSourcesIsSymmetricAndPassive)
{
    const auto A = mna_random({.n = 60, .controlled = 0, .decades = 2});
    EXPECT_TRUE(is_symmetric(A));
    Dense nodes{60, std::vector<double>(3600, 0)};
    for (Index i = 0; i < 60; ++i)
        for (Index j = 0; j < 60; ++j) nodes(i, j) = A.at(i, j);
    EXPECT_TRUE(cholesky_succeeds(nodes));  // every node has a path of resistors to ground
    EXPECT_GT(inverse(dense(A)).second, 1e-10);
}

using Complex = std::complex<double>;
constexpr Complex unit_i{0, 1};

TEST(AcMesh, OfFourNodesIsTheMatrixWrittenByHand)
{
    // ω = 2πf = 4: y = 1/2 + 1/(4j·0.5) = 0.5 − 0.5j between neighbours, 4j·0.25 = j to ground.
    const auto    A = ac_mesh({.n = 2, .f = 2 / std::numbers::pi, .r = 2, .l = 0.5, .c = 0.25, .spread = 0});
    const Complex y = 0.5 - 0.5 * unit_i;
    for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 4; ++j)
            EXPECT_NEAR(std::abs(A.at(i, j) - (i == j ? 2. * y + unit_i : i + j == 3 ? 0. : -y)), 0, 1e-15) << i << j;
    EXPECT_EQ(A.nnz(), 12);
}

TEST(AcMesh, LetsNoCurrentFlowBetweenEqualVoltagesButToGround)
{
    for (const Index n : {1, 2, 9}) {
        const double omega = 2 * std::numbers::pi * 1e8;
        const auto   A = ac_mesh({.n = n, .f = 1e8});
        EXPECT_TRUE(is_symmetric(A));
        const auto       sums = times(A, std::vector<Complex>(A.rows(), 1));
        std::set<double> capacitors;
        for (Index i = 0; i < A.rows(); ++i) {
            const double size = std::abs(A.at(i, i)), c = sums[i].imag() / omega;
            EXPECT_NEAR(sums[i].real(), 0, 1e-15 * size);
            EXPECT_GT(c, 0.5e-12 * (1 - 1e-10));
            EXPECT_LT(c, 1.5e-12 * (1 + 1e-10));
            capacitors.insert(c);
        }
        EXPECT_EQ(std::ssize(capacitors), A.rows());
    }
}

TEST(AcMesh, OfEqualElementsHasCosineVectorsAsEigenvectors)
{
    const Index         n = 6;
    const AcMeshOptions o{.n = n, .f = 3e9, .spread = 0};
    const auto          A = ac_mesh(o);
    const double        omega = 2 * std::numbers::pi * o.f;
    const auto          wave = [&](Index p, Index i) { return std::cos((i + 0.5) * p * std::numbers::pi / n); };
    for (Index p = 0; p < n; ++p)
        for (Index q = 0; q < n; q += 2) {
            const double  lambda = 4 - 2 * std::cos(p * std::numbers::pi / n) - 2 * std::cos(q * std::numbers::pi / n);
            const Complex mode = unit_i * omega * o.c + lambda * (1 / o.r + 1. / (unit_i * omega * o.l));
            std::vector<Complex> v;
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) v.push_back(wave(p, i) * wave(q, j));
            const auto w = times(A, v);
            for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(std::abs(w[i] - mode * v[i]), 0, 1e-15);
        }
}

TEST(AcMesh, IsNearlySingularAtLowFrequencyAndDominantAtHigh)
{
    EXPECT_LT(inverse(dense(ac_mesh({.n = 5, .f = 1e3}))).second, 1e-11);
    EXPECT_GT(inverse(dense(ac_mesh({.n = 5, .f = 1e9}))).second, 1e-4);
    EXPECT_TRUE(is_weakly_dominant(ac_mesh({.n = 5, .f = 1e12})));
    EXPECT_THROW((void)ac_mesh({.n = 5, .f = 0}), InvalidOption);
    EXPECT_THROW((void)ac_mesh({.n = 0}), InvalidOption);
}

TEST(Stamps, AreThoseOfTheTextbook)
{
    Stamps stamps(1);
    stamps.conductance(0, 1, 2);
    stamps.conductance(1, -1, 3);               // to ground
    stamps.controlled_current(0, -1, 1, 2, 5);  // 5 (v₁ − v₂) out of node 0
    stamps.voltage_source(2, 0, 3);
    EXPECT_EQ(dense(stamps.matrix(4)), dense(4, {2, -2 + 5, -5, -1,  //
                                                 -2, 5, 0, 0,        //
                                                 0, 0, 0, 1,         //
                                                 -1, 0, 1, 0}));
}

}  // namespace
}  // namespace ilux
