#include "ilux/gallery/waves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using namespace gallery;
using namespace std::complex_literals;
using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

template <int d>
CsrMatrix<Complex> open_box(const OpenHelmholtzOptions<d>& o)
{
    if constexpr (d == 2) return helmholtz2d_open(o);
    else return helmholtz3d_open(o);
}

/// Calls visit(row, point) for all points of a box of n a side; a square has its third coordinate 0.
template <int d, class Visit>
void for_points(Index n, Visit&& visit)
{
    Index row = 0;
    for (Index k = 0; k < (d == 3 ? n : 1); ++k)
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) visit(row++, std::array<Index, 3>{i, j, k});
}

/// The part of the boundary that belongs to a point, in h^(d−1), on the sides at 0 (first) and at 1 of an axis.
template <int d>
std::array<double, 2> boundary_part(Index n, const std::array<Index, 3>& point, int axis)
{
    double area = 1;
    for (int other = 0; other < d; ++other)
        if (other != axis && (point[other] == 0 || point[other] == n - 1)) area /= 2;
    return {point[axis] == 0 ? area : 0, point[axis] == n - 1 ? area : 0};
}

TEST(Helmholtz2dOpen, IsTheMatrixWrittenByHand)
{
    const Complex corner = 0.75 + 1i;  // 1/2 (1 + i) + 1/2 (1 + i) − 1/4
    EXPECT_EQ(dense(helmholtz2d_open({.n = 2, .kh = 1})), (DenseOf<Complex>{4,
                                                                            {corner, -0.5, -0.5, 0,  //
                                                                             -0.5, corner, 0, -0.5,  //
                                                                             -0.5, 0, corner, -0.5,  //
                                                                             0, -0.5, -0.5, corner}}));
    const auto A = helmholtz2d_open({.n = 3, .kh = 1});
    EXPECT_EQ(A.at(4, 4), 3.);
    for (const Index j : {1, 3, 5, 7}) {
        EXPECT_EQ(A.at(4, j), -1.);
        EXPECT_EQ(A.at(j, j), 1.5 + 1i);
    }
    EXPECT_EQ(A.at(1, 2), -0.5);
    EXPECT_EQ(A.nnz(), 9 + 2 * 12);
}

TEST(Helmholtz3dOpen, IsTheMatrixWrittenByHand)
{
    const auto A = helmholtz3d_open({.n = 3, .kh = 1});
    EXPECT_EQ(A.at(13, 13), 5.);  // 6 − 1
    for (const Index j : {4, 10, 12, 14, 16, 22}) {
        EXPECT_EQ(A.at(13, j), -1.);
        EXPECT_EQ(A.at(j, j), 2.5 + 1i);  // half a cell: (6 − 1)/2 + i
    }
    EXPECT_EQ(A.at(0, 0), 0.75 - 0.125 + 0.75i);  // an eighth of a cell: 3/4 of a face, 3 quarters of a side
    EXPECT_EQ(A.at(0, 1), -0.25);
    EXPECT_EQ(A.at(1, 4), -0.5);
    EXPECT_EQ(A.nnz(), 27 + 2 * 54);
}

TEST(HelmholtzOpen, ShiftDampsEachCellByItsPart)
{
    const auto plain = helmholtz2d_open({.n = 3, .kh = 0.5}),
               shifted = helmholtz2d_open({.n = 3, .kh = 0.5, .shift = 2});
    const auto difference = [&](Index i) { return shifted.at(i, i) - plain.at(i, i); };
    EXPECT_EQ(difference(4), 0.5i);  // i shift (kh)²
    EXPECT_EQ(difference(1), 0.25i);
    EXPECT_EQ(difference(0), 0.125i);
    EXPECT_EQ(shifted.at(4, 1), plain.at(4, 1));
}

template <int d>
void expect_plane_waves_solve_rows_inside(Index n, double kh)
{
    const auto   A = open_box<d>({.n = n, .kh = kh});
    const double rest = 2. * d - kh * kh;  // Σ 2 cos κ_a
    for (const double first : {0., 0.1, kh / 2}) {
        const double last = std::acos((rest - 2 * std::cos(first) - (d == 3 ? 2 * std::cos(0.05) : 0)) / 2);
        ASSERT_FALSE(std::isnan(last));
        const std::array<double, 3> kappa{first, d == 2 ? last : 0.05, last};
        Vector                      u(A.rows());
        for_points<d>(n, [&](Index row, const auto& at) {
            double phase = 0;
            for (int axis = 0; axis < d; ++axis) phase += kappa[axis] * at[axis];
            u[row] = std::polar(1., -phase);
        });
        const Vector Au = times(A, u);
        for_points<d>(n, [&](Index row, const auto& at) {
            for (int axis = 0; axis < d; ++axis)
                if (at[axis] == 0 || at[axis] == n - 1) return;
            EXPECT_NEAR(std::abs(Au[row]), 0, 2e-14) << row;
        });
        EXPECT_GT(largest(Au), 1e-3);  // the boundary does not hold for a wave in the box's own numbers
    }
}

TEST(HelmholtzOpen, DiscretePlaneWavesSolveEveryRowInside)
{
    expect_plane_waves_solve_rows_inside<2>(12, ten_points);
    expect_plane_waves_solve_rows_inside<2>(7, 1.5);
    expect_plane_waves_solve_rows_inside<3>(6, ten_points);
}

template <int d>
void expect_power_leaves_through_the_boundary(Index n, double kh)
{
    const auto   A = open_box<d>({.n = n, .kh = kh});
    const Vector u = random_vector<Complex>(A.rows(), n), Au = times(A, u);
    Complex      form = 0;
    double       outflow = 0;
    for_points<d>(n, [&](Index row, const auto& at) {
        form += std::conj(u[row]) * Au[row];
        for (int axis = 0; axis < d; ++axis)
            for (const double part : boundary_part<d>(n, at, axis)) outflow += kh * part * std::norm(u[row]);
    });
    EXPECT_NEAR(form.imag() / outflow, 1, 1e-12);
}

TEST(HelmholtzOpen, PowerLeavesThroughTheBoundaryAlone)
{
    for (const double kh : {1e-3, ten_points, 5.}) {
        for (const Index n : {2, 3, 11}) expect_power_leaves_through_the_boundary<2>(n, kh);
        for (const Index n : {2, 3, 6}) expect_power_leaves_through_the_boundary<3>(n, kh);
    }
}

/// The largest error of u = e^{−ik(c·x)}, |c| = 1, given by what its boundary condition says.
template <int d>
double plane_wave_error(Index n, double k)
{
    const std::array<double, 3> c = d == 2 ? std::array{0.8, 0.6, 0.} : std::array{2. / 3, 1. / 3, 2. / 3};
    const double                h = 1. / (n - 1);
    const auto                  A = open_box<d>({.n = n, .k = k});
    Vector                      u(A.rows()), b(A.rows(), 0);
    for_points<d>(n, [&](Index row, const auto& at) {
        u[row] = std::polar(1., -k * h * (c[0] * at[0] + c[1] * at[1] + c[2] * at[2]));
        for (int axis = 0; axis < d; ++axis) {
            const auto [low, high] = boundary_part<d>(n, at, axis);
            b[row] += low * h * (1i * k * c[axis] + 1i * k) * u[row];    // ∂u/∂n = −∂u/∂x_axis
            b[row] += high * h * (-1i * k * c[axis] + 1i * k) * u[row];  // ∂u/∂n = ∂u/∂x_axis
        }
    });
    const auto A_inverse = inverse(dense(A)).first;
    double     error = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        Complex x = 0;
        for (Index j = 0; j < A.rows(); ++j) x += A_inverse(i, j) * b[j];
        error = std::max(error, std::abs(x - u[i]));
    }
    return error;
}

TEST(HelmholtzOpen, ConvergesWithTheSquareOfH)
{
    EXPECT_NEAR(std::log2(plane_wave_error<2>(9, 3) / plane_wave_error<2>(17, 3)), 2, 0.1);
    EXPECT_NEAR(std::log2(plane_wave_error<3>(4, 1) / plane_wave_error<3>(7, 1)), 2, 0.2);
}

TEST(HelmholtzOpen, IsRegularAtEveryWaveNumber)
{
    for (const double kh : {0.1, std::sqrt(2.), 2., std::sqrt(8.), 10.}) {
        EXPECT_GT(inverse(dense(helmholtz2d_open({.n = 7, .kh = kh}))).second, 1e-8) << kh;
        EXPECT_GT(inverse(dense(helmholtz3d_open({.n = 4, .kh = kh}))).second, 1e-8) << kh;
    }
    EXPECT_EQ(count_zero_diagonals(helmholtz2d_open({.n = 5, .kh = 2})), 9);
}

/// x of A x = b by elimination in a band of the grid's width, without pivots.
Vector solved(const CsrMatrix<Complex>& A, const Vector& b, Index width)
{
    const Index n = A.rows();
    Vector      band(static_cast<std::size_t>(n) * (2 * width + 1), 0), x = b;
    const auto  at = [&](Index i, Index j) -> Complex& { return band[i * (2 * width + 1) + j - i + width]; };
    for (Index i = 0; i < n; ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) at(i, A.col()[p]) = A.val()[p];
    for (Index k = 0; k < n; ++k) {
        const Index end = std::min(n, k + width + 1);
        for (Index i = k + 1; i < end; ++i) {
            const Complex l = at(i, k) / at(k, k);
            for (Index j = k + 1; j < end; ++j) at(i, j) -= l * at(k, j);
            x[i] -= l * x[k];
        }
    }
    for (Index i = n - 1; i >= 0; --i) {
        for (Index j = i + 1; j < std::min(n, i + width + 1); ++j) x[i] -= at(i, j) * x[j];
        x[i] /= at(i, i);
    }
    Vector residual = times(A, x);
    for (std::size_t i = 0; i < b.size(); ++i) residual[i] -= b[i];
    EXPECT_LT(largest(residual), 1e-10);
    return x;
}

/// How far the wave of a source in the middle is from that of a source in the open plane, −i/4 H₀⁽²⁾(kr), 5 to 20
/// points away.
double distance_to_open_plane(const Helmholtz2dOpenOptions& o)
{
    const Index middle = o.n / 2;
    const auto  A = helmholtz2d_open(o);
    Vector      b(A.rows(), 0);
    b[middle + o.n * middle] = 1;
    const Vector x = solved(A, b, o.n);
    double       error = 0, size = 0;
    for_points<2>(o.n, [&](Index row, const auto& at) {
        const double r = std::hypot(at[0] - middle, at[1] - middle);
        if (r < 5 || r > 20) return;
        const Complex wave = -0.25 * (std::cyl_neumann(0, o.kh * r) + 1i * std::cyl_bessel_j(0, o.kh * r));
        error += std::norm(x[row] - wave);
        size += std::norm(wave);
    });
    return std::sqrt(error / size);
}

TEST(HelmholtzOpen, ALayerAbsorbsWhatTheImpedanceThrowsBack)
{
    const double bare = distance_to_open_plane({.n = 81, .kh = 0.1});
    for (const Index layer : {10, 20}) {
        const double layered = distance_to_open_plane({.n = 81, .kh = 0.1, .layer = layer});
        EXPECT_LT(layered, 0.003);  // the grid's own error: of its phase (kh)²/24 · kr, up to 0.001, and of the source
        EXPECT_GT(bare, 5 * layered);
    }
}

TEST(HelmholtzOpen, ALayerKeepsSymmetryAndTheRowsInside)
{
    for (const Index layer : {1, 3}) {
        const auto A = helmholtz2d_open({.n = 9, .layer = layer}), bare = helmholtz2d_open({.n = 9});
        EXPECT_TRUE(is_well_formed(A));
        EXPECT_TRUE(is_symmetric(A));
        EXPECT_EQ(A.at(40, 40), bare.at(40, 40));
        EXPECT_NE(A.at(0, 0), bare.at(0, 0));
    }
    EXPECT_TRUE(is_symmetric(helmholtz3d_open({.n = 6, .shift = 0.3, .layer = 2})));
}

void expect_refused(const std::string& spec, std::string_view words)
{
    try {
        (void)build_any(spec);
        ADD_FAILURE() << spec;
    } catch (const InvalidOption& error) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << spec << ": " << error.what();
    }
}

TEST(Waves, TakeTheWaveNumberByEitherName)
{
    EXPECT_TRUE(same(helmholtz2d_open({.n = 5, .k = 2}), helmholtz2d_open({.n = 5, .kh = 0.5})));  // h = 1/4
    EXPECT_TRUE(same(maxwell3d({.n = 4, .k = 2}), maxwell3d({.n = 4, .kh = 0.5})));
    EXPECT_TRUE(same(build_any("helmholtz3d_open:n=3,k=1,shift=0.5"), AnyMatrix(helmholtz3d_open({3, 0.5, 0, 0.5}))));
    expect_refused("helmholtz2d_open:k=2,kh=0.5", "only one of them");
    expect_refused("maxwell3d:k=2,kh=0.5", "only one of them");
}

TEST(Waves, RefuseWhatCannotBe)
{
    expect_refused("helmholtz2d_open:n=1", "n=1");
    expect_refused("helmholtz2d_open:kh=0", "kh=0");
    expect_refused("helmholtz3d_open:kh=nan", "kh=nan");
    expect_refused("helmholtz2d_open:shift=-1", "shift=-1");
    expect_refused("helmholtz2d_open:shift=inf", "shift=inf");
    expect_refused("helmholtz2d_open:n=8,layer=4", "layer=4");
    expect_refused("helmholtz2d_open:n=8,layer=2000000000", "layer=2000000000");
    expect_refused("maxwell3d:n=1", "n=1");
    expect_refused("maxwell3d:kh=-1", "kh=-1");
    EXPECT_TRUE(is_well_formed(maxwell3d({.n = 2, .k = 1e100, .loss = 1e100})));  // the largest that are taken
    EXPECT_TRUE(is_well_formed(helmholtz2d_open({.n = 9, .layer = 4})));
    EXPECT_THROW((void)maxwell3d({.n = 3, .loss = std::numeric_limits<double>::quiet_NaN()}), InvalidOption);
}

TEST(Maxwell3d, OfEightCellsIsTheMatrixWrittenByHand)
{
    // Edges (0,1,1) and (1,1,1) along x, (1,0,1) and (1,1,1) along y, (1,1,0) and (1,1,1) along z: six spokes of the
    // middle node.
    const Complex    c = 3. + 0.5i;
    DenseOf<Complex> spokes{6, Vector(36, 0)};
    for (Index a = 0; a < 3; ++a)
        for (Index b = 0; b < 3; ++b)
            for (const Index s : {0, 1})
                for (const Index t : {0, 1}) {
                    if (a != b) spokes(2 * a + s, 2 * b + t) = s == t ? -1 : 1;  // into the node, or on through it
                    else if (s == t) spokes(2 * a + s, 2 * b + t) = c;
                }
    EXPECT_EQ(dense(maxwell3d({.n = 2, .kh = 1, .loss = 0.5})), spokes);
}

/// Where edge `direction` from `at` stands: along x, then y, then z, those on no wall.
template <class Value>
Vector edge_vector(Index n, Value&& value)
{
    Vector u;
    for (int direction = 0; direction < 3; ++direction)
        for (Index z = direction != 2; z < n; ++z)
            for (Index y = direction != 1; y < n; ++y)
                for (Index x = direction != 0; x < n; ++x) u.push_back(value(direction, std::array<Index, 3>{x, y, z}));
    return u;
}

/// A random potential's differences along the edges; it is 0 on the walls.
Vector gradient(Index n)
{
    std::vector<double> phi((n + 1) * (n + 1) * (n + 1), 0);
    Random              random(n);
    const auto          node = [&](const std::array<Index, 3>& p) -> double& {
        return phi[p[0] + (n + 1) * (p[1] + (n + 1) * p[2])];
    };
    for (Index z = 1; z < n; ++z)
        for (Index y = 1; y < n; ++y)
            for (Index x = 1; x < n; ++x) node({x, y, z}) = random.below(100);  // whole numbers: no rounding
    return edge_vector(n, [&](int direction, std::array<Index, 3> at) {
        const double from = node(at);
        ++at[direction];
        return node(at) - from;
    });
}

TEST(Maxwell3d, SeesOfGradientsTheirMassAlone)
{
    for (const Index n : {2, 3, 5, 8}) {
        const Vector u = gradient(n);
        for (const double loss : {0., 0.25, 8.}) {
            const auto   A = maxwell3d({.n = n, .kh = 0.5, .loss = loss});
            const Vector Au = times(A, u);
            ASSERT_EQ(Au.size(), u.size());
            for (std::size_t i = 0; i < u.size(); ++i) EXPECT_EQ(Au[i], -0.25 * (1. - 1i * loss) * u[i]);
        }
        EXPECT_EQ(largest(times(maxwell3d({.n = n, .kh = 0}), u)), 0) << "null space";
        EXPECT_GT(largest(u), 0);
    }
}

TEST(Maxwell3d, CavityModesAreItsEigenvectors)
{
    const Index n = 6;
    const auto  A = maxwell3d({.n = n, .kh = 0.7, .loss = 0.3});
    for (const auto& mode : {std::array{1, 1, 0}, {1, 1, 1}, {2, 3, 1}, {0, 4, 5}}) {
        std::array<double, 3> K{}, a{};
        double                square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            K[axis] = 2 * std::sin(mode[axis] * std::numbers::pi / (2 * n));
            square += K[axis] * K[axis];
        }
        const std::array<double, 3> any{0.3, -1, 0.8};  // less its part along K, so that K·a = 0
        const double                along = (K[0] * any[0] + K[1] * any[1] + K[2] * any[2]) / square;
        for (int axis = 0; axis < 3; ++axis) a[axis] = any[axis] - along * K[axis];
        const Vector u = edge_vector(n, [&](int direction, const std::array<Index, 3>& at) {
            double value = a[direction];
            for (int axis = 0; axis < 3; ++axis)
                value *= axis == direction ? std::cos(mode[axis] * std::numbers::pi * (at[axis] + 0.5) / n)
                                           : std::sin(mode[axis] * std::numbers::pi * at[axis] / n);
            return value;
        });
        const Vector Au = times(A, u);
        ASSERT_GT(largest(u), 0.1);
        for (std::size_t i = 0; i < u.size(); ++i)
            EXPECT_NEAR(std::abs(Au[i] - (square - 0.49 * (1. - 0.3i)) * u[i]), 0, 2e-14) << i;
    }
}

TEST(Maxwell3d, HasThirteenEntriesARowInsideAndItsOrderByTheFormula)
{
    for (const Index n : {2, 3, 6}) EXPECT_EQ(maxwell3d({.n = n}).rows(), 3 * n * (n - 1) * (n - 1));
    const auto A = maxwell3d({.n = 6});
    Offset     most = 0;
    for (Index i = 0; i < A.rows(); ++i) most = std::max(most, A.row_ptr()[i + 1] - A.row_ptr()[i]);
    EXPECT_EQ(most, 13);
}

TEST(Maxwell3d, IsSingularWithoutLossWhereTheCavityResonates)
{
    const double kh = std::sqrt(2.) * 2 * std::sin(std::numbers::pi / 8);  // mode (1, 1, 0) of n = 4
    EXPECT_LT(inverse(dense(maxwell3d({.n = 4, .kh = kh, .loss = 0}))).second, 1e-14);
    EXPECT_GT(inverse(dense(maxwell3d({.n = 4, .kh = kh, .loss = 0.1}))).second, 1e-4);
}

}  // namespace
}  // namespace ilux
