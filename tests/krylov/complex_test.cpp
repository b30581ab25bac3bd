// The Krylov methods on complex systems: what conjugates, and that the answers are those of the real form.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "ilux/gallery/pde.hpp"
#include "ilux/krylov/hessenberg_qr.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/krylov/runs.hpp"

namespace ilux::test::krylov {
namespace {

constexpr Complex i_unit{0, 1};

/// M = diag(A), whose adjoint is another map.
class ComplexJacobi final : public Preconditioner<Cpu, Complex> {
public:
    explicit ComplexJacobi(const CsrMatrix<Complex>& A)
    {
        for (Index i = 0; i < A.rows(); ++i) d_.push_back(A.at(i, i));
    }
    Index size() const override { return static_cast<Index>(d_.size()); }
    void  apply(Cpu&, std::span<const Complex> r, std::span<Complex> z) override
    {
        for (std::size_t i = 0; i < d_.size(); ++i) z[i] = r[i] / d_[i];
    }
    void apply_adjoint(Cpu&, std::span<const Complex> r, std::span<Complex> z) override
    {
        for (std::size_t i = 0; i < d_.size(); ++i) z[i] = r[i] / std::conj(d_[i]);
    }

private:
    ComplexVector d_;
};

/// The identity until a call writes NaN into one imaginary part.
class NotAlwaysFinite final : public Preconditioner<Cpu, Complex> {
public:
    NotAlwaysFinite(Index n, long healthy) : n_(n), healthy_(healthy) {}
    Index size() const override { return n_; }
    void  apply(Cpu&, std::span<const Complex> r, std::span<Complex> z) override { spoil(r, z); }
    void  apply_adjoint(Cpu&, std::span<const Complex> r, std::span<Complex> z) override { spoil(r, z); }

private:
    void spoil(std::span<const Complex> r, std::span<Complex> z)
    {
        std::ranges::copy(r, z.begin());
        if (healthy_-- <= 0) z[n_ / 2] = {z[n_ / 2].real(), nan};
    }

    Index n_;
    long  healthy_;
};

struct ComplexSolution {
    IterationReport report;
    ComplexVector   x;
};

ComplexSolution run(Method method, const CsrMatrix<Complex>& A, Preconditioner<Cpu, Complex>& M, const ComplexVector& b,
                    ComplexVector x0, const KrylovOptions& opt)
{
    Cpu                           be(1);
    const MatrixOperator<Complex> op(A, needs_transpose(method));
    KrylovWorkspace<Cpu, Complex> ws(method, A.rows(), opt);
    ComplexSolution               s{{}, std::move(x0)};
    s.report = solve(be, method, op, M, b, s.x, ws, opt);
    return s;
}

ComplexSolution run(Method method, const CsrMatrix<Complex>& A, const ComplexVector& b, const KrylovOptions& opt)
{
    Identity<Cpu, Complex> I(A.rows());
    return run(method, A, I, b, ComplexVector(b.size()), opt);
}

/// ‖b − A x‖₂ / ‖b‖₂ in long double.
double true_residual(const CsrMatrix<Complex>& A, const ComplexVector& x, const ComplexVector& b)
{
    using Long = std::complex<long double>;
    long double squares = 0, squares_b = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        Long r(b[i]);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) r -= Long(A.val()[p]) * Long(x[A.col()[p]]);
        squares += std::norm(r);
        squares_b += std::norm(Long(b[i]));
    }
    return static_cast<double>(std::sqrt(squares / (squares_b > 0 ? squares_b : 1)));
}

CsrMatrix<Complex> small(const ComplexVector& a)
{
    return CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, a);
}

/// A + i s I for an A with a full diagonal.
CsrMatrix<Complex> shifted(CsrMatrix<Complex> A, double s)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] += s * i_unit;
    return A;
}

class EveryComplexKrylov : public testing::TestWithParam<Variant> {
protected:
    Method        method() const { return GetParam().method; }
    bool          is_cg() const { return method() == Method::cg; }
    KrylovOptions options(double rtol, Index max_steps = 1000) const
    {
        KrylovOptions opt = GetParam().opt;
        opt.rtol = rtol;
        opt.max_steps = max_steps;
        return opt;
    }
    /// Hermitian positive definite for CG, else unsymmetric and rotated, dominant.
    CsrMatrix<Complex> random_system(Index n, std::uint64_t seed) const
    {
        return is_cg() ? turned_hermitian(random_spd_by_rows(n, seed), seed)
                       : turned(random_dominant(n, 4, seed), seed);
    }
    /// On m × m points: Poisson with turned edges for CG, else convection and diffusion, turned and shifted.
    CsrMatrix<Complex> grid_system(Index m) const
    {
        if (is_cg()) return turned_hermitian(gallery::poisson2d(m, m), 5);
        return shifted(turned(gallery::convdiff2d({.n = m, .peclet = 20}), 5), 0.5);
    }

private:
    /// Symmetric and dominant by rows, so that turned edges keep it positive definite.
    static CsrMatrix<double> random_spd_by_rows(Index n, std::uint64_t seed)
    {
        std::vector<Index>  row, col;
        std::vector<double> val;
        Random              random(seed);
        const auto          add = [&](Index i, Index j, double value) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(value);
        };
        for (Index i = 0; i < n; ++i) {
            add(i, i, 1);
            for (Index k = 1; k <= 3 && k * k <= i; ++k) {
                const double a = random.uniform();
                add(i, i - k * k, a);
                add(i - k * k, i, a);
                add(i, i, std::abs(a));
                add(i - k * k, i - k * k, std::abs(a));
            }
        }
        return CsrMatrix<double>::from_triplets(n, n, row, col, val);
    }
};
INSTANTIATE_TEST_SUITE_P(Methods, EveryComplexKrylov, testing::ValuesIn(variants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryComplexKrylov, SolvesSystemsOfAwkwardSizes)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 300}) {
        const auto    A = random_system(n, n + 1);
        const auto    b = random_complex_vector(n, n + 2);
        ComplexJacobi M(A);
        ASSERT_EQ(is_hermitian(A), is_cg() || n == 0);
        const auto s = run(method(), A, M, b, random_complex_vector(n, 9), options(1e-10));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << "n = " << n << ": " << s.report.detail;
        EXPECT_LE(true_residual(A, s.x, b), 1.001e-10) << "n = " << n;
        EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-13) << "n = " << n;
        EXPECT_EQ(s.report.steps == 0, n == 0);
    }
}

TEST_P(EveryComplexKrylov, SolvesGridProblemsAsTheirRealForm)
{
    for (Index m : {1, 2, 7}) {
        const auto    A = grid_system(m);
        const auto    b = random_complex_vector(A.rows(), 3);
        ComplexJacobi M(A);
        const auto    s = run(method(), A, M, b, ComplexVector(b.size()), options(1e-10));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << s.report.detail;
        EXPECT_LE(true_residual(A, s.x, b), 1.001e-10);
        const auto x = dense_solve(real_form(A), real_form(b));
        EXPECT_LE(relative_difference(real_form(s.x), x), 1e-8) << m << " points a side";
    }
    const auto    A = grid_system(25);
    const auto    b = random_complex_vector(A.rows(), 3);
    ComplexJacobi M(A);
    const auto    s = run(method(), A, M, b, ComplexVector(b.size()), options(1e-10, 4000));
    EXPECT_EQ(s.report.outcome, Outcome::converged) << s.report.detail;
    EXPECT_LE(true_residual(A, s.x, b), 1.001e-10);
}

// What BiCG does with Aᵀ, M⁻ᵀ or the shadow's coefficients as they are is no method at all: it misses the n steps.
TEST_P(EveryComplexKrylov, ReachesTheSolutionInAtMostNIterations)
{
    const Index products = method() == Method::bicgstab ? 2 : 1;  // a half iteration is a step
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Index   n = 7;
        const auto    A = random_system(n, seed);
        const auto    b = random_complex_vector(n, seed);
        ComplexJacobi M(A);
        const auto    s = run(method(), A, M, b, ComplexVector(n), options(1e-9, products * n));
        EXPECT_EQ(s.report.outcome, Outcome::converged) << "seed " << seed;
        EXPECT_LE(relative_difference(real_form(s.x), dense_solve(real_form(A), real_form(b))), 1e-7);
    }
}

TEST_P(EveryComplexKrylov, TakesTheRealStepsWhereAllIsReal)
{
    const Index n = 60;
    const auto  A = is_cg() ? random_spd(n, 3, 5) : random_dominant(n, 4, 5);
    const auto  C = as_complex(A);
    const auto  b = random_vector(n, 2);
    auto        M = jacobi(A);
    const auto  real = run(method(), A, M, b, Vector(n), options(1e-8));

    ComplexJacobi MC(C);
    const auto    s = run(method(), C, MC, {b.begin(), b.end()}, ComplexVector(n), options(1e-8));
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_EQ(s.report.steps, real.report.steps);
    EXPECT_EQ(s.report.restarts, real.report.restarts);
    EXPECT_NEAR(s.report.relative_residual, real.report.relative_residual, 1e-13);
    for (Index i = 0; i < n; ++i) EXPECT_EQ(s.x[i].imag(), 0);
    Vector x;
    for (const Complex xi : s.x) x.push_back(xi.real());
    EXPECT_LE(relative_difference(x, real.x), 1e-12);
}

TEST_P(EveryComplexKrylov, AnswersBZeroWithXZero)
{
    const auto    A = random_system(5, 1);
    ComplexJacobi M(A);
    const auto    s = run(method(), A, M, ComplexVector(5), random_complex_vector(5, 3), options(1e-8));
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_EQ(s.report.steps, 0);
    EXPECT_EQ(s.x, ComplexVector(5));
}

TEST_P(EveryComplexKrylov, ReportsANaNInAnImaginaryPartAndKeepsXFinite)
{
    const auto A = random_system(50, 5);
    const auto b = random_complex_vector(50, 2);
    for (long healthy : {0, 1, 2, 3, 7}) {
        NotAlwaysFinite M(50, healthy);
        const auto      s = run(method(), A, M, b, ComplexVector(50), options(1e-12));
        EXPECT_EQ(s.report.outcome, Outcome::not_finite) << "after " << healthy << " calls";
        EXPECT_LE(true_residual(A, s.x, b), 1);  // false for NaN
    }
}

TEST_P(EveryComplexKrylov, StopsByBackwardErrorWhenAsked)
{
    const auto    A = random_system(60, 5);
    const auto    b = random_complex_vector(60, 2);
    auto          opt = options(1e-6);
    ComplexJacobi M(A);
    opt.stop = StopTest::backward_error;
    Cpu serial(1);
    opt.matrix_norm = norm2<Complex>(serial, A.val());
    const auto s = run(method(), A, M, b, ComplexVector(60), opt);
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    const double size = norm(real_form(b)), size_x = norm(real_form(s.x));
    const double error = true_residual(A, s.x, b) * size / (opt.matrix_norm * size_x + size);
    EXPECT_LE(error, 1.001e-6);
    EXPECT_NEAR(s.report.backward_error, error, 1e-12);
}

TEST_P(EveryComplexKrylov, AllocatesNothingWhileSolving)
{
    const auto                    A = random_system(100, 5);
    const auto                    b = random_complex_vector(100, 2);
    const auto                    opt = options(1e-10);
    Cpu                           be(1);
    const MatrixOperator<Complex> op(A, true);
    ComplexJacobi                 M(A);
    KrylovWorkspace<Cpu, Complex> ws(method(), 100, opt);
    ComplexVector                 x(100);
    AllocationCounter             counter;
    const auto                    report = solve(be, method(), op, M, b, x, ws, opt);
    const long                    allocations = counter.count();
    EXPECT_EQ(allocations, 0);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(ws.bytes(), 2 * KrylovWorkspace<Cpu>(method(), 100, opt).bytes());
}

TEST(ComplexGmres, TakesTheStepsComputedByHand)
{
    // A = diag(1, i), b = (1, 1): y = (Ab)ᴴb / ‖Ab‖² = (1 − i)/2, r₁ = ((1 + i)/2, (1 − i)/2).
    const auto A = small({1, 0, 0, i_unit});
    for (const Method method : {Method::gmres, Method::fgmres}) {
        const auto one = run(method, A, {1, 1}, {.max_steps = 1});
        EXPECT_LE(std::abs(one.x[0] - Complex(0.5, -0.5)) + std::abs(one.x[1] - Complex(0.5, -0.5)), 4 * eps);
        EXPECT_NEAR(one.report.relative_residual, std::sqrt(0.5), 4 * eps);
        const auto two = run(method, A, {1, 1}, {.max_steps = 2});
        EXPECT_EQ(two.report.outcome, Outcome::converged);
        EXPECT_LE(std::abs(two.x[0] - Complex(1)) + std::abs(two.x[1] + i_unit), 16 * eps);
    }
}

TEST(ComplexCg, TakesTheStepsComputedByHand)
{
    // A = [2 i; −i 2], b = (1, 0): α₀ = 1/2, r₁ = (0, i/2); then x = (2, i)/3.
    const auto A = small({2, i_unit, -i_unit, 2});
    const auto one = run(Method::cg, A, {1, 0}, {.rtol = 1e-12, .max_steps = 1});
    EXPECT_EQ(one.x, (ComplexVector{0.5, 0}));
    EXPECT_EQ(one.report.relative_residual, 0.5);
    const auto two = run(Method::cg, A, {1, 0}, {.rtol = 1e-12, .max_steps = 2});
    EXPECT_EQ(two.report.outcome, Outcome::converged);
    EXPECT_LE(std::abs(two.x[0] - 2. / 3) + std::abs(two.x[1] - i_unit / 3.), 8 * eps);
}

TEST(ComplexCg, NamesWhatIsNotPositiveDefinite)
{
    const auto s = run(Method::cg, small({1, 0, 0, -1}), {i_unit, 2}, {});
    EXPECT_EQ(s.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(s.report.detail, "p'Ap <= 0: A is not positive definite");
}

TEST(ComplexBicgstab, TakesTheStepsComputedByHand)
{
    // A = diag(1, i), b = (1, 1): α = 2/(1 + i), s = (i, −i), t = (i, 1), ω = tᴴs/tᴴt = (1 − i)/2, ‖r‖ = 1.
    const auto one = run(Method::bicgstab, small({1, 0, 0, i_unit}), {1, 1}, {.rtol = 1e-12, .max_steps = 2});
    EXPECT_EQ(one.report.outcome, Outcome::max_steps);
    EXPECT_LE(std::abs(one.x[0] - Complex(1.5, -0.5)) + std::abs(one.x[1] - Complex(0.5, -1.5)), 16 * eps);
    EXPECT_NEAR(one.report.relative_residual, std::sqrt(0.5), 8 * eps);
}

TEST(ComplexBicg, TakesTheStepsComputedByHand)
{
    // A = diag(1, i), b = (1, 1): α₀ = 1 − i, r₁ = (i, −i), r̃₁ = b − ᾱ₀ Aᴴ b = (−i, i), ρ₁ = −2, β = −1,
    // p₁ = (−1 + i, −1 − i), p̃₁ = (−1 − i, −1 + i), p̃₁ᴴ A p₁ = −2 − 2i, α₁ = (1 − i)/2; then x = (1, −i).
    const auto A = small({1, 0, 0, i_unit});
    const auto s = run(Method::bicg, A, {1, 1}, {.rtol = 1e-12, .max_steps = 2});
    EXPECT_EQ(s.report.outcome, Outcome::converged);
    EXPECT_EQ(s.report.steps, 2);
    EXPECT_LE(std::abs(s.x[0] - Complex(1)) + std::abs(s.x[1] + i_unit), 16 * eps);
}

TEST(ComplexHessenbergQr, AgreesWithTheNormalEquationsOfTheRealForm)
{
    for (Index k : {1, 2, 5, 31, 32, 33}) {
        Random             random(static_cast<std::uint64_t>(k));
        std::vector<Index> row, col;
        ComplexVector      val;
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i <= j + 1; ++i) {
                const double real = random.uniform(), imaginary = i <= j ? random.uniform() : 0;
                row.push_back(i);
                col.push_back(j);
                val.emplace_back(real, imaginary + (i == j ? 4 : 0));
            }
        const auto            H = CsrMatrix<Complex>::from_triplets(k + 1, k, row, col, val);
        HessenbergQr<Complex> qr(k);
        qr.start(3);
        for (Index j = 0; j < k; ++j) {
            const auto h = qr.next_column();
            for (Index i = 0; i <= j + 1; ++i) h[i] = H.at(i, j);
            ASSERT_TRUE(qr.append());
        }
        const Dense         D = to_dense(real_form(H)), Dt = transposed(D);
        std::vector<double> right(2 * k + 2);
        right[0] = 3;
        const std::vector<double> y = dense_solve(multiply(Dt, D), multiply(Dt, right));
        EXPECT_LE(relative_difference(real_form(qr.solve()), y), 1e5 * eps) << "k = " << k;
        std::vector<double> r = multiply(D, y);
        for (std::size_t i = 0; i < r.size(); ++i) r[i] = right[i] - r[i];
        EXPECT_NEAR(qr.residual(), norm(r), 100 * k * eps) << "k = " << k;
    }
}

}  // namespace
}  // namespace ilux::test::krylov
