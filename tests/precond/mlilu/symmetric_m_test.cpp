// M of a symmetric A: with no matching it is symmetric, as SQMR and COCG need; with `absolute` it is positive definite,
// as MINRES needs.

#include <gtest/gtest.h>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

template <Scalar S>
std::vector<S> applied(const MlIlu<S>& mlilu, const std::vector<S>& r)
{
    Cpu                    cpu(2);
    MlIluPreconditioner<S> M(mlilu);
    std::vector<S>         z(r.size());
    M.apply(cpu, r, z);
    return z;
}

template <Scalar S>
MlIlu<S> built(const CsrMatrix<S>& A, const MlIluOptions& options)
{
    Cpu cpu(2);
    return MlIlu<S>::build(cpu, A, options);
}

/// Indefinite: a saddle point system, and Laplacians less a shift.
std::vector<CsrMatrix<double>> indefinite_matrices()
{
    auto helmholtz = gallery::build("poisson2d:n=40");
    for (Index i = 0; i < helmholtz.rows(); ++i)
        for (Offset p = helmholtz.row_ptr()[i]; p < helmholtz.row_ptr()[i + 1]; ++p)
            if (helmholtz.col()[p] == i) helmholtz.val()[p] -= 0.7;
    return {std::move(helmholtz), gallery::build("stokes2d:n=10")};
}

std::vector<MlIluOptions> setups()
{
    return {{.setup = MlIluSetup::crout},
            {.setup = MlIluSetup::crout, .off_diagonal = OffDiagonal::save},
            {.setup = MlIluSetup::rounds}};
}

TEST(MlIluOfASymmetricA, IsSymmetricWithoutAMatching)
{
    for (const auto& A : indefinite_matrices())
        for (MlIluOptions options : setups()) {
            ASSERT_TRUE(is_symmetric(A));
            options.matching = MatchingChoice::off;
            const auto M = built(A, options);
            const auto x = random_vector(A.rows(), 1), y = random_vector(A.rows(), 2);
            Cpu        be(1);
            const auto z = applied(M, x);
            const auto left = dot(be, y, z), right = dot(be, applied(M, y), x);
            EXPECT_NEAR(left, right, 1e-9 * norm2(be, y) * norm2(be, z)) << field_text(options.setup);
        }
}

TEST(MlIluOfASymmetricA, IsSymmetricOfComplexValuesToo)
{
    for (const char* spec : {"helmholtz2d_open:n=40", "ac_mesh:n=20", "maxwell3d:n=5"})
        for (MlIluOptions options : setups()) {
            const auto A = std::get<CsrMatrix<Complex>>(gallery::build_any(spec));
            ASSERT_TRUE(is_symmetric(A) && !is_hermitian(A)) << spec;
            options.matching = MatchingChoice::off;
            const auto M = built(A, options);
            const auto x = random_complex_vector(A.rows(), 1), y = random_complex_vector(A.rows(), 2);
            Cpu        be(1);
            const auto z = applied(M, x);
            const auto left = dotu<Complex>(be, y, z), right = dotu<Complex>(be, applied(M, y), x);
            EXPECT_LE(std::abs(left - right), 1e-9 * norm2<Complex>(be, y) * norm2<Complex>(be, z))
                << spec << ' ' << field_text(options.setup);
        }
}

TEST(AbsoluteMlIlu, IsPositiveDefinite)
{
    for (const auto& A : indefinite_matrices())
        for (MlIluOptions options : setups()) {
            options.absolute = true;
            const auto M = built(A, options);
            Cpu        be(1);
            for (int seed = 1; seed <= 20; ++seed) {
                const auto x = random_vector(A.rows(), seed), y = random_vector(A.rows(), 100 + seed);
                const auto z = applied(M, x);
                EXPECT_GT(dot(be, x, z), 0) << field_text(options.setup);
                EXPECT_NEAR(dot(be, y, z), dot(be, applied(M, y), x), 1e-9 * norm2(be, y) * norm2(be, z));
            }
        }
}

TEST(AbsoluteMlIlu, OfHermitianValuesToo)
{
    auto A = turned_hermitian(gallery::build("poisson2d:n=30"), 3);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] -= 1.1;
    const auto M = built(A, {.absolute = true});
    Cpu        be(1);
    for (int seed = 1; seed <= 20; ++seed) {
        const auto x = random_complex_vector(A.rows(), seed);
        const auto xMx = dot<Complex>(be, x, applied(M, x));
        EXPECT_GT(xMx.real(), 0);
        EXPECT_LE(std::abs(xMx.imag()), 1e-9 * xMx.real());
    }
}

TEST(AbsoluteMlIlu, RefusesAnUnsymmetricA)
{
    Cpu cpu(1);
    test::expect_refusal([&] { (void)MlIlu<>::build(cpu, gallery::build("convdiff2d:n=10"), {.absolute = true}); },
                         {"precond.absolute", "symmetric"});
    test::expect_refusal(
        [&] {
            (void)MlIlu<Complex>::build(cpu, std::get<CsrMatrix<Complex>>(gallery::build_any("ac_mesh:n=5")),
                                        {.absolute = true});
        },
        {"precond.absolute", "Hermitian"});
}

}  // namespace
}  // namespace ilux::test
