#include "ilux/gallery/pde.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "ilux/gallery/systems.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using namespace gallery;
constexpr double pi = std::numbers::pi;

TEST(Poisson2d, IsTheMatrixWrittenByHand)
{
    EXPECT_EQ(dense(poisson2d(1, 1)), dense(1, {4}));
    EXPECT_EQ(dense(poisson2d(2, 2)), dense(4, {4, -1, -1, 0,  //
                                                -1, 4, 0, -1,  //
                                                -1, 0, 4, -1,  //
                                                0, -1, -1, 4}));
    EXPECT_EQ(dense(poisson2d(3, 2)), dense(6, {4,  -1, 0,  -1, 0,  0,   //
                                                -1, 4,  -1, 0,  -1, 0,   //
                                                0,  -1, 4,  0,  0,  -1,  //
                                                -1, 0,  0,  4,  -1, 0,   //
                                                0,  -1, 0,  -1, 4,  -1,  //
                                                0,  0,  -1, 0,  -1, 4}));
    EXPECT_EQ(poisson2d(3, 3).nnz(), 9 + 2 * 12);
}

TEST(Poisson3d, IsTheMatrixWrittenByHand)
{
    EXPECT_EQ(dense(poisson3d(1, 1, 2)), dense(2, {6, -1, -1, 6}));
    EXPECT_EQ(dense(poisson3d(2, 1, 2)), dense(4, {6, -1, -1, 0,  //
                                                   -1, 6, 0, -1,  //
                                                   -1, 0, 6, -1,  //
                                                   0, -1, -1, 6}));
    EXPECT_EQ(dense(poisson3d(1, 2, 2)), dense(poisson3d(2, 1, 2)));
}

TEST(Poisson, SineVectorsAreItsEigenvectors)
{
    const Index nx = 7, ny = 5, nz = 4;
    const auto  A2 = poisson2d(nx, ny);
    const auto  A3 = poisson3d(nx, ny, nz);
    for (Index p = 1; p <= nx; p += 3)
        for (Index q = 1; q <= ny; q += 2)
            for (Index r = 1; r <= nz; ++r) {
                const double        lambda2 = 4 - 2 * std::cos(p * pi / (nx + 1)) - 2 * std::cos(q * pi / (ny + 1));
                const double        lambda3 = lambda2 + 2 - 2 * std::cos(r * pi / (nz + 1));
                std::vector<double> v2, v3;
                for (Index k = 1; k <= nz; ++k)
                    for (Index j = 1; j <= ny; ++j)
                        for (Index i = 1; i <= nx; ++i) {
                            const double plane = std::sin(i * p * pi / (nx + 1)) * std::sin(j * q * pi / (ny + 1));
                            if (k == 1) v2.push_back(plane);
                            v3.push_back(plane * std::sin(k * r * pi / (nz + 1)));
                        }
                const auto w2 = times(A2, v2), w3 = times(A3, v3);
                for (std::size_t i = 0; i < v2.size(); ++i) EXPECT_NEAR(w2[i], lambda2 * v2[i], 1e-13);
                for (std::size_t i = 0; i < v3.size(); ++i) EXPECT_NEAR(w3[i], lambda3 * v3[i], 1e-13);
            }
}

TEST(ConvDiff2d, IsTheStencilWrittenByHand)
{
    // n = 3, h = 1/4, b = (4, −8): b h = (1, −2).
    const auto central = convdiff2d({.n = 3, .peclet = 1, .bx = 4, .by = -8, .scheme = Scheme::central});
    const auto upwind = convdiff2d({.n = 3, .peclet = 2, .bx = 2, .by = -4, .scheme = Scheme::upwind});
    const auto stencil = [](const CsrMatrix<double>& A) {  // south west centre east north of the middle point
        return std::vector<double>{A.at(4, 1), A.at(4, 3), A.at(4, 4), A.at(4, 5), A.at(4, 7)};
    };
    EXPECT_EQ(stencil(central), (std::vector<double>{0, -1.5, 4, -0.5, -2}));
    EXPECT_EQ(stencil(upwind), (std::vector<double>{-1, -2, 7, -1, -3}));
    EXPECT_EQ(central.nnz(), 33);  // zeros of the stencil stay in the pattern
    EXPECT_EQ(upwind.at(0, 0), 7);
    EXPECT_EQ(upwind.at(0, 1), -1);
    EXPECT_EQ(upwind.at(0, 3), -3);
}

TEST(ConvDiff3d, IsTheStencilWrittenByHand)
{
    // n = 3, b h = (1, −2, 3).
    const auto A = convdiff3d({.n = 3, .peclet = 4, .bx = 1, .by = -2, .bz = 3, .scheme = Scheme::central});
    const auto U = convdiff3d({.n = 3, .peclet = 4, .bx = 1, .by = -2, .bz = 3});
    EXPECT_EQ((std::vector<double>{A.at(13, 4), A.at(13, 10), A.at(13, 12), A.at(13, 13), A.at(13, 14), A.at(13, 16),
                                   A.at(13, 22)}),
              (std::vector<double>{-2.5, 0, -1.5, 6, -0.5, -2, 0.5}));
    EXPECT_EQ((std::vector<double>{U.at(13, 4), U.at(13, 10), U.at(13, 12), U.at(13, 13), U.at(13, 14), U.at(13, 16),
                                   U.at(13, 22)}),
              (std::vector<double>{-4, -1, -2, 12, -1, -3, -1}));
}

TEST(ConvDiff, WithoutVelocityIsPoisson)
{
    for (auto scheme : {Scheme::upwind, Scheme::central}) {
        EXPECT_TRUE(same(convdiff2d({.n = 5, .peclet = 0, .scheme = scheme}), poisson2d(5, 5)));
        EXPECT_TRUE(same(convdiff3d({.n = 4, .peclet = 0, .scheme = scheme}), poisson3d(4, 4, 4)));
        EXPECT_TRUE(same(recirculating2d({.n = 5, .peclet = 0, .scheme = scheme}), poisson2d(5, 5)));
    }
}

TEST(Recirculating2d, FollowsTheWind)
{
    // n = 3, h = 1/4, at (1/4, 1/2): w = (0, 1/2), so peclet 8 gives b h = (0, 1).
    const auto A = recirculating2d({.n = 3, .peclet = 8});
    EXPECT_EQ((std::vector<double>{A.at(3, 0), A.at(3, 3), A.at(3, 4), A.at(3, 6)}),
              (std::vector<double>{-2, 5, -1, -1}));
    EXPECT_EQ(A.at(4, 4), 4);   // the eye of the vortex is at rest
    EXPECT_EQ(A.at(5, 2), -1);  // and beyond it the wind blows the other way
    EXPECT_EQ(A.at(5, 8), -2);
}

/// max |(A u)/h² − f| over the interior, u = sin πx sin πy (sin πz), f = −Σ K:∇∇u + b·∇u − k²u.
struct Manufactured {
    double kxx = 1, kyy = 1, kxy = 0, peclet = 0, bx = 0, by = 0, k = 0;
    bool   recirculating = false;
    double error(const CsrMatrix<double>& A, Index n) const
    {
        const double        h = 1. / (n + 1);
        std::vector<double> u, f;
        for (Index j = 1; j <= n; ++j)
            for (Index i = 1; i <= n; ++i) {
                const double x = i * h, y = j * h;
                const double s = std::sin(pi * x) * std::sin(pi * y);
                const double ux = pi * std::cos(pi * x) * std::sin(pi * y),
                             uy = pi * std::sin(pi * x) * std::cos(pi * y);
                const double uxy = pi * pi * std::cos(pi * x) * std::cos(pi * y);
                const double wx = recirculating ? 4 * x * (x - 1) * (1 - 2 * y) : bx;
                const double wy = recirculating ? -4 * y * (y - 1) * (1 - 2 * x) : by;
                u.push_back(s);
                f.push_back((kxx + kyy) * pi * pi * s - 2 * kxy * uxy + peclet * (wx * ux + wy * uy) - k * k * s);
            }
        auto w = times(A, u);
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = w[i] / (h * h) - f[i];
        return largest(w);
    }
};

/// log₂ of the error's fall when h is halved.
template <class Make>
double order(const Manufactured& problem, Make&& make)
{
    return std::log2(problem.error(make(31), 31) / problem.error(make(63), 63));
}

TEST(Discretisation, HasTheOrderItsSchemePromises)
{
    EXPECT_NEAR(order({}, [](Index n) { return poisson2d(n, n); }), 2, 0.05);
    EXPECT_NEAR(order({.k = 5}, [](Index n) { return helmholtz2d({.n = n, .k = 5}); }), 2, 0.05);
    const Manufactured steady{.peclet = 10, .bx = 1, .by = -0.5};
    const auto         steady_with = [](Scheme scheme) {
        return [scheme](Index n) { return convdiff2d({.n = n, .peclet = 10, .bx = 1, .by = -0.5, .scheme = scheme}); };
    };
    EXPECT_NEAR(order(steady, steady_with(Scheme::central)), 2, 0.1);
    EXPECT_NEAR(order(steady, steady_with(Scheme::upwind)), 1, 0.1);
    const Manufactured vortex{.peclet = 50, .recirculating = true};
    const auto         vortex_with = [](Scheme scheme) {
        return [scheme](Index n) { return recirculating2d({.n = n, .peclet = 50, .scheme = scheme}); };
    };
    EXPECT_NEAR(order(vortex, vortex_with(Scheme::central)), 2, 0.1);
    EXPECT_NEAR(order(vortex, vortex_with(Scheme::upwind)), 1, 0.1);
}

TEST(Anisotropic2d, TurnsTheTensorByItsAngle)
{
    const double       eps = 0.1, c = std::cos(pi / 6), s = std::sin(pi / 6);
    const Manufactured turned{.kxx = c * c + eps * s * s, .kyy = s * s + eps * c * c, .kxy = (1 - eps) * c * s};
    EXPECT_NEAR(order(turned, [](Index n) { return anisotropic2d({.n = n, .eps = 0.1, .angle = 30}); }), 2, 0.05);
}

TEST(Anisotropic2d, OnTheAxesIsFivePoint)
{
    const auto A = anisotropic2d({.n = 3, .eps = 0.25, .angle = 0});
    EXPECT_EQ(A.nnz(), 33);
    EXPECT_EQ((std::vector<double>{A.at(4, 1), A.at(4, 3), A.at(4, 4), A.at(4, 5), A.at(4, 7)}),
              (std::vector<double>{-0.25, -1, 2.5, -1, -0.25}));
    const auto B = anisotropic2d({.n = 3, .eps = 0.25, .angle = 90});
    EXPECT_EQ(B.nnz(), 33);
    EXPECT_NEAR(B.at(4, 1), -1, 1e-15);
    EXPECT_NEAR(B.at(4, 3), -0.25, 1e-15);
    EXPECT_TRUE(cholesky_succeeds(dense(anisotropic2d({.n = 12, .eps = 1e-9, .angle = 45}))));
}

TEST(Jump2d, SpansItsDecadesAndIsPoissonWithoutThem)
{
    EXPECT_TRUE(same(jump2d({.n = 6, .decades = 0}), poisson2d(6, 6)));
    const auto          A = jump2d({.n = 32});
    std::vector<double> diagonal;
    for (Index i = 0; i < A.rows(); ++i) diagonal.push_back(A.at(i, i));
    EXPECT_GT(std::ranges::max(diagonal) / std::ranges::min(diagonal), 1e7);
    EXPECT_LT(std::ranges::max(diagonal) / std::ranges::min(diagonal), 1e9);
    EXPECT_FALSE(same(A, jump2d({.n = 32, .seed = 2})));
}

TEST(Jump2d, LosesRowSumsOnlyAtTheBoundary)
{
    const Index n = 10;
    const auto  A = jump2d({.n = n});
    const auto  sums = times(A, std::vector<double>(A.rows(), 1));
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            const double relative = sums[i + n * j] / A.at(i + n * j, i + n * j);
            if (i % (n - 1) == 0 || j % (n - 1) == 0) EXPECT_GT(relative, 1e-10);
            else EXPECT_NEAR(relative, 0, 1e-15);
        }
}

TEST(Helmholtz2d, ShiftsPoissonAndIsIndefinite)
{
    const Index n = 9;
    const auto  A = helmholtz2d({.n = n, .k = 20});
    EXPECT_DOUBLE_EQ(A.at(0, 0), 4 - 4.);  // k h = 2
    EXPECT_EQ(A.at(0, 1), -1);
    EXPECT_FALSE(cholesky_succeeds(dense(A)));
    EXPECT_TRUE(cholesky_succeeds(dense(helmholtz2d({.n = n, .k = 4}))));  // k² = 16 < 2π²
}

double energy(const CsrMatrix<double>& A, const std::vector<double>& u)
{
    const auto Au = times(A, u);
    double     sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * Au[i];
    return sum;
}

/// Displacements (ux, uy) of (x, y) at the free nodes of elasticity2d.
template <class Field>
std::vector<double> displacement(Index n, Field&& field)
{
    std::vector<double> u;
    for (Index j = 0; j <= n; ++j)
        for (Index i = 1; i <= n; ++i) {
            const auto [ux, uy] = field(i / static_cast<double>(n), j / static_cast<double>(n));
            u.push_back(ux);
            u.push_back(uy);
        }
    return u;
}

TEST(Elasticity2d, StoresTheEnergyOfAConstantStrain)
{
    const double nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
    for (Index n : {1, 2, 5}) {
        const auto A = elasticity2d({.n = n, .nu = nu});
        ASSERT_EQ(A.rows(), 2 * n * (n + 1));
        const auto stretched = displacement(n, [](double x, double) { return std::pair{x, 0.}; });
        const auto sheared = displacement(n, [](double x, double) { return std::pair{0., x}; });
        EXPECT_NEAR(energy(A, stretched), lambda + 2 * mu, 1e-13);  // ∫ λ (div u)² + 2μ ε:ε
        EXPECT_NEAR(energy(A, sheared), mu, 1e-13);
    }
}

TEST(Elasticity2d, ResistsNoRigidMotionAwayFromTheClamp)
{
    const Index n = 6;
    const auto  A = elasticity2d({.n = n, .nu = 0.45});
    for (const auto& u : {displacement(n,
                                       [](double, double) {
                                           return std::pair{1., 0.};
                                       }),
                          displacement(n,
                                       [](double, double) {
                                           return std::pair{0., 1.};
                                       }),
                          displacement(n, [](double x, double y) {
                              return std::pair{-y, x};
                          })}) {
        const auto force = times(A, u);
        for (Index node = 0; node < n * (n + 1); ++node)
            if (node % n > 0) {  // not beside the clamped column
                EXPECT_NEAR(force[2 * node], 0, 1e-13);
                EXPECT_NEAR(force[2 * node + 1], 0, 1e-13);
            }
    }
}

/// Displacements of (x, y, z) at the free nodes of elasticity3d.
template <class Field>
std::vector<double> displacement3d(Index n, Field&& field)
{
    std::vector<double> u;
    const auto          at = [n](Index i) { return i / static_cast<double>(n); };
    for (Index k = 0; k <= n; ++k)
        for (Index j = 0; j <= n; ++j)
            for (Index i = 1; i <= n; ++i)
                for (const double one : field(at(i), at(j), at(k))) u.push_back(one);
    return u;
}

TEST(Elasticity3d, HasTheEnergyOfStretchAndShear)
{
    using Vector = std::array<double, 3>;
    const double nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
    for (Index n : {1, 2, 4}) {
        const auto A = elasticity3d({.n = n, .nu = nu});
        ASSERT_EQ(A.rows(), 3 * n * (n + 1) * (n + 1));
        const auto stretched = displacement3d(n, [](double x, double, double) { return Vector{x, 0, 0}; });
        const auto sheared = displacement3d(n, [](double x, double, double) { return Vector{0, 0, x}; });
        EXPECT_NEAR(energy(A, stretched), lambda + 2 * mu, 1e-13);
        EXPECT_NEAR(energy(A, sheared), mu, 1e-13);
    }
}

TEST(Elasticity3d, ResistsNoRigidMotionAwayFromTheClamp)
{
    using Vector = std::array<double, 3>;
    const Index n = 4;
    const auto  A = elasticity3d({.n = n, .nu = 0.45});
    for (const auto& u : {displacement3d(n,
                                         [](double, double, double) {
                                             return Vector{0, 1, 0};
                                         }),
                          displacement3d(n,
                                         [](double x, double y, double) {
                                             return Vector{-y, x, 0};
                                         }),
                          displacement3d(n, [](double, double y, double z) {
                              return Vector{0, -z, y};
                          })}) {
        const auto force = times(A, u);
        for (Index node = 0; node < A.rows() / 3; ++node)
            for (Index s = 0; s < 3 && node % n > 0; ++s)  // not beside the clamped face
                EXPECT_NEAR(force[3 * node + s], 0, 1e-13) << node;
    }
}

TEST(Stokes2d, IsTheMatrixWrittenByHand)
{
    // 2 × 2 cells: u₀ u₁ on the vertical face, v₀ v₁ on the horizontal one, p₀…p₃.
    EXPECT_EQ(dense(stokes2d({.n = 2, .pressure = Pressure::free})), dense(8, {5,  -1, 0,  0,  -1, 1,  0,  0,  //
                                                                               -1, 5,  0,  0,  0,  0,  -1, 1,  //
                                                                               0,  0,  5,  -1, -1, 0,  1,  0,  //
                                                                               0,  0,  -1, 5,  0,  -1, 0,  1,  //
                                                                               -1, 0,  -1, 0,  0,  0,  0,  0,  //
                                                                               1,  0,  0,  -1, 0,  0,  0,  0,  //
                                                                               0,  -1, 1,  0,  0,  0,  0,  0,  //
                                                                               0,  1,  0,  1,  0,  0,  0,  0}));
}

TEST(Stokes2d, SeesNoConstantPressureUnlessPinned)
{
    const Index         n = 5, velocities = 2 * n * (n - 1);
    const auto          A = stokes2d({.n = n, .pressure = Pressure::free});
    const auto          pinned = stokes2d({.n = n});
    std::vector<double> constant(A.rows(), 0);
    std::fill(constant.begin() + velocities, constant.end(), 1);
    EXPECT_EQ(largest(times(A, constant)), 0);
    EXPECT_EQ(A.rows(), velocities + n * n);
    EXPECT_EQ(pinned.rows(), A.rows() - 1);
    EXPECT_EQ(count_zero_diagonals(pinned), n * n - 1);
    EXPECT_GT(inverse(dense(pinned)).second, 1e-3);
    for (Index i = 0; i < pinned.rows(); ++i)
        for (Index j = 0; j < pinned.rows(); ++j) ASSERT_EQ(pinned.at(i, j), A.at(i, j));
}

}  // namespace
}  // namespace ilux
