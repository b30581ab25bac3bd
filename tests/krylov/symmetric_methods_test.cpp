// MINRES, SQMR and COCG: what each minimizes, which form it uses, and how it ends.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

template <Scalar S>
struct Run {
    IterationReport report;
    std::vector<S>  x;
};

template <Scalar S>
Run<S> solved(Method method, const CsrMatrix<S>& A, Preconditioner<Cpu, S>& M, const std::vector<S>& b,
              const KrylovOptions& opt)
{
    Cpu                     be(2);
    const MatrixOperator<S> op(A, needs_transpose(method));
    KrylovWorkspace<Cpu, S> ws(method, A.rows(), opt);
    Run<S>                  run{{}, std::vector<S>(b.size())};
    run.report = solve<Cpu, S>(be, method, op, M, b, run.x, ws, opt);
    return run;
}

template <Scalar S>
Run<S> solved(Method method, const CsrMatrix<S>& A, const std::vector<S>& b, const KrylovOptions& opt)
{
    Identity<Cpu, S> I(A.rows());
    return solved<S>(method, A, I, b, opt);
}

/// M = diag(d).
template <Scalar S>
class Diagonal final : public Preconditioner<Cpu, S> {
public:
    explicit Diagonal(std::vector<S> d) : d_(std::move(d)) {}
    Index size() const override { return static_cast<Index>(d_.size()); }
    void  apply(Cpu&, std::span<const S> r, std::span<S> z) override
    {
        for (std::size_t i = 0; i < d_.size(); ++i) z[i] = r[i] / d_[i];
    }
    void apply_adjoint(Cpu&, std::span<const S> r, std::span<S> z) override
    {
        for (std::size_t i = 0; i < d_.size(); ++i) z[i] = r[i] / conj(d_[i]);
    }

private:
    std::vector<S> d_;
};

template <Scalar S>
double residual(const CsrMatrix<S>& A, const std::vector<S>& x, const std::vector<S>& b)
{
    Cpu            be(1);
    std::vector<S> r = b;
    spmv<S>(be, -1, A, x, 1, r);
    return norm2<S>(be, r) / norm2<S>(be, b);
}

/// A − s I
template <Scalar S>
CsrMatrix<S> shifted(CsrMatrix<S> A, S s)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] -= s;
    return A;
}

/// The Laplacian less a shift between its eigenvalues: indefinite.
CsrMatrix<double>  indefinite() { return shifted(gallery::poisson2d(13, 11), 1.3); }
CsrMatrix<Complex> hermitian_indefinite()
{
    return shifted(turned_hermitian(gallery::poisson2d(13, 11), 5), Complex(1.3));
}
/// Complex symmetric: that and an imaginary shift that varies.
CsrMatrix<Complex> complex_symmetric()
{
    auto A = as_complex(indefinite());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            A.val()[p] *= A.col()[p] == i ? Complex(1, 0.2 + 0.001 * i) : Complex(1, 0.1);
    return A;
}

TEST(Minres, HasTheResidualsOfFullGmres)
{
    const auto check = [](const auto& A, const auto& b) {
        for (Index steps : {1, 2, 5, 20, 40}) {
            const KrylovOptions opt{.rtol = 1e-14, .max_steps = steps, .restart = 100};
            const double        expected = residual(A, solved(Method::gmres, A, b, opt).x, b);
            EXPECT_NEAR(residual(A, solved(Method::minres, A, b, opt).x, b), expected, 1e-9) << steps;
        }
    };
    check(indefinite(), random_vector(143, 1));
    check(hermitian_indefinite(), random_complex_vector(143, 1));
}

TEST(Minres, MinimizesInTheNormOfM)
{
    // With M = D the residual's norm in D⁻¹ is that of GMRES for D^-1/2 A D^-1/2.
    const auto          A = indefinite();
    const auto          b = random_vector(143, 2);
    std::vector<double> d, root;
    for (Index i = 0; i < 143; ++i) d.push_back(1 + i % 7);
    for (double v : d) root.push_back(std::sqrt(v));
    auto scaled = A;
    for (Index i = 0; i < 143; ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) scaled.val()[p] /= root[i] * root[A.col()[p]];
    std::vector<double> right = b;
    for (Index i = 0; i < 143; ++i) right[i] /= root[i];
    for (Index steps : {1, 3, 10, 30}) {
        const KrylovOptions opt{.rtol = 1e-14, .max_steps = steps, .restart = 100};
        Diagonal<double>    M(d);
        auto                x = solved<double>(Method::minres, A, M, b, opt).x;
        for (Index i = 0; i < 143; ++i) x[i] *= root[i];
        EXPECT_NEAR(residual(scaled, x, right), residual(scaled, solved(Method::gmres, scaled, right, opt).x, right),
                    1e-9)
            << steps;
    }
}

TEST(Minres, RefusesAnMThatIsNotPositiveDefinite)
{
    std::vector<double> d(143, 1);
    d[70] = -1;
    Diagonal<double>    M(d);
    std::vector<double> b(143, 0);
    b[70] = 1;
    const auto run = solved<double>(Method::minres, indefinite(), M, b, {});
    EXPECT_EQ(run.report.outcome, Outcome::breakdown);
    EXPECT_NE(std::string(run.report.detail).find("M is not positive definite"), std::string::npos);
}

TEST(Sqmr, IsMinresWithoutAPreconditionerWhereAIsReal)
{
    const auto A = indefinite();
    const auto b = random_vector(143, 3);
    for (Index steps : {1, 2, 5, 20, 40}) {
        const KrylovOptions opt{.rtol = 1e-14, .max_steps = steps};
        EXPECT_NEAR(residual(A, solved(Method::sqmr, A, b, opt).x, b),
                    residual(A, solved(Method::minres, A, b, opt).x, b), 1e-8)
            << steps;
    }
}

TEST(Sqmr, TakesAnIndefiniteM)
{
    const auto          A = indefinite();
    const auto          b = random_vector(143, 3);
    std::vector<double> d;
    for (Index i = 0; i < 143; ++i) d.push_back(i % 5 == 0 ? -2 : 3);
    Diagonal<double> M(d);
    const auto       run = solved<double>(Method::sqmr, A, M, b, {.rtol = 1e-10, .max_steps = 5000});
    EXPECT_EQ(run.report.outcome, Outcome::converged) << run.report.detail;
    EXPECT_LE(residual(A, run.x, b), 1.001e-10);
}

TEST(Cocg, IsCgWhereAIsRealAndDefinite)
{
    const auto A = gallery::poisson2d(13, 11);
    const auto b = random_vector(143, 4);
    for (Index steps : {1, 5, 20}) {
        const KrylovOptions opt{.rtol = 1e-14, .max_steps = steps};
        EXPECT_LE(relative_difference(solved(Method::cocg, A, b, opt).x, solved(Method::cg, A, b, opt).x), 1e-10);
    }
}

TEST(BilinearMethods, SolveComplexSymmetricSystemsAndNeedTheTransposedForm)
{
    const auto A = complex_symmetric();
    ASSERT_TRUE(is_symmetric(A) && !is_hermitian(A));
    const auto    b = random_complex_vector(143, 5);
    ComplexVector d;
    for (Index i = 0; i < 143; ++i) d.push_back(A.at(i, i));
    for (const Method method : {Method::sqmr, Method::cocg}) {
        const auto plain = solved<Complex>(method, A, b, {.rtol = 1e-10});
        EXPECT_EQ(plain.report.outcome, Outcome::converged) << name(method);
        EXPECT_LE(residual(A, plain.x, b), 1.001e-10);
        Diagonal<Complex> M(d);
        const auto        with_M = solved<Complex>(method, A, M, b, {.rtol = 1e-10});
        EXPECT_EQ(with_M.report.outcome, Outcome::converged) << name(method);
        EXPECT_LE(residual(A, with_M.x, b), 1.001e-10);
    }
    // In the form xᴴy the same A is not symmetric: MINRES is no method for it.
    EXPECT_NE(solved<Complex>(Method::minres, A, b, {.rtol = 1e-10}).report.outcome, Outcome::converged);
}

TEST(BilinearMethods, EndWhereTheFormVanishes)
{
    // rᵀr = 0 for r = (1, i), though r is not 0.
    const auto I = CsrMatrix<Complex>::identity(2);
    for (const Method method : {Method::sqmr, Method::cocg}) {
        const auto run = solved<Complex>(method, I, ComplexVector{1, {0, 1}}, {});
        EXPECT_EQ(run.report.outcome, Outcome::breakdown) << name(method);
        EXPECT_NE(std::string(run.report.detail).find("vanished"), std::string::npos);
    }
}

TEST(SymmetricMethods, EndCleanlyInAwkwardCases)
{
    for (const Method method : {Method::minres, Method::sqmr, Method::cocg}) {
        for (Index n : {0, 1, 31, 33}) {
            const auto A = shifted(as_complex(gallery::poisson2d(std::max(n, 1), 1)), Complex(-1));
            const auto system = n == 0 ? CsrMatrix<Complex>() : A;
            const auto b = random_complex_vector(n, 1);
            const auto run = solved<Complex>(method, system, b, {});
            EXPECT_EQ(run.report.outcome, Outcome::converged) << name(method) << ' ' << n;
        }
        const auto A = indefinite();
        EXPECT_EQ(solved(method, A, std::vector<double>(143), {}).report.steps, 0);
        auto b = random_vector(143, 1);
        b[7] = nan;
        EXPECT_EQ(solved(method, A, b, {}).report.outcome, Outcome::not_finite);
        EXPECT_EQ(solved(method, A, random_vector(143, 1), {.max_steps = 3}).report.outcome, Outcome::max_steps);
        Diagonal<double> M(std::vector<double>(143, nan));
        EXPECT_EQ(solved<double>(method, A, M, random_vector(143, 1), {}).report.outcome, Outcome::not_finite);
    }
}

class GpuSymmetricMethods : public GpuTest {};

TEST_F(GpuSymmetricMethods, DoWhatTheCpuDoes)
{
    const auto check = [&]<Scalar S>(Method method, const CsrMatrix<S>& A, const std::vector<S>& b) {
        const KrylovOptions        opt{.rtol = 1e-10};
        const auto                 here = solved<S>(method, A, b, opt);
        const GpuMatrixOperator<S> op(gpu(), A);
        Identity<Gpu, S>           I(A.rows());
        KrylovWorkspace<Gpu, S>    ws(method, A.rows(), opt);
        DeviceBuffer<S>            db(b.size()), dx(b.size());
        std::vector<S>             x(b.size());
        upload<S>(gpu(), b, db);
        const auto report = solve<Gpu, S>(gpu(), method, op, I, db, dx, ws, opt);
        download<S>(gpu(), dx, x);
        EXPECT_EQ(report.outcome, Outcome::converged) << name(method);
        EXPECT_NEAR(report.steps, here.report.steps, 2 + here.report.steps / 20) << name(method);
        EXPECT_LE(residual(A, x, b), 1.001e-10);
    };
    check(Method::minres, indefinite(), random_vector(143, 1));
    check(Method::minres, hermitian_indefinite(), random_complex_vector(143, 1));
    for (const Method method : {Method::sqmr, Method::cocg}) {
        check(method, indefinite(), random_vector(143, 1));
        check(method, complex_symmetric(), random_complex_vector(143, 1));
    }
}

}  // namespace
}  // namespace ilux::test
