// The unit of A and that of b are of no account: with powers of two every number of a solve is the same but for its
// exponent.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

/// M = A's diagonal, or without one the identity.
template <Scalar S>
class DiagonalOrNone final : public Preconditioner<Cpu, S> {
public:
    DiagonalOrNone(const CsrMatrix<S>& A, bool diagonal) : d_(A.rows(), S(1))
    {
        for (Index i = 0; diagonal && i < A.rows(); ++i) d_[i] = A.at(i, i);
    }
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
struct Solved {
    IterationReport report;
    std::vector<S>  x;
};

template <Scalar S>
Solved<S> solved(Method method, CsrMatrix<S> A, bool diagonal, std::vector<S> b, int k, int j, KrylovOptions options)
{
    for (S& a : A.val()) a *= std::ldexp(1., k);
    for (S& value : b) value *= std::ldexp(1., j);
    Cpu                     be(1);
    DiagonalOrNone<S>       M(A, diagonal);
    const MatrixOperator<S> op(A, needs_transpose(method));
    KrylovWorkspace<Cpu, S> ws(method, A.rows(), options);
    Solved<S>               made{{}, std::vector<S>(b.size())};
    made.report = solve<Cpu, S>(be, method, op, M, b, made.x, ws, options);
    for (S& x : made.x) x *= std::ldexp(1., k - j);
    return made;
}

/// A square root of a power of two is one where the exponent is even, and MINRES takes some.
constexpr int exponents[] = {-300, -60, 0, 60, 300};

template <Scalar S>
void expect_no_unit(Method method, const CsrMatrix<S>& A, const std::vector<S>& b, const KrylovOptions& options)
{
    for (const bool diagonal : {false, true}) {
        const auto usual = solved<S>(method, A, diagonal, b, 0, 0, options);
        EXPECT_EQ(usual.report.outcome, Outcome::converged) << name(method) << ' ' << diagonal;
        for (const int k : exponents)
            for (const int j : exponents) {
                if (std::abs(k - j) > 400) continue;  // squares of M⁻¹ b would over- or underflow
                const auto other = solved<S>(method, A, diagonal, b, k, j, options);
                EXPECT_EQ(other.report.steps, usual.report.steps)
                    << name(method) << " A 2^" << k << ", b 2^" << j << ": " << other.report.detail;
                EXPECT_EQ(other.report.outcome, usual.report.outcome);
                EXPECT_EQ(other.report.relative_residual, usual.report.relative_residual);
                EXPECT_TRUE(other.x == usual.x) << name(method) << " A 2^" << k << ", b 2^" << j;
            }
    }
}

/// Less a shift between its eigenvalues, which makes it indefinite.
CsrMatrix<double> poisson(double shift)
{
    auto A = gallery::poisson2d(9, 8);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] -= shift;
    return A;
}

TEST(UnitsOfAandB, SayNothingToAnyMethod)
{
    const auto A = poisson(0);
    const auto b = random_vector(A.rows(), 1);
    for (const Method method : {Method::gmres, Method::fgmres, Method::bicg, Method::bicgstab, Method::cg,
                                Method::minres, Method::sqmr, Method::cocg})
        expect_no_unit<double>(method, A, b, {.rtol = 1e-10});
    expect_no_unit<double>(Method::gmres, A, b, {.rtol = 1e-10, .side = Side::left});
    expect_no_unit<double>(Method::gmres, A, b, {.rtol = 1e-10, .ortho = Orthogonalization::cgs2});
}

TEST(UnitsOfAandB, SayNothingWhereAIsIndefinite)
{
    const auto A = poisson(1.3);
    const auto b = random_vector(A.rows(), 2);
    for (const Method method : {Method::gmres, Method::minres, Method::sqmr})
        expect_no_unit<double>(method, A, b, {.rtol = 1e-10, .restart = 72});
}

TEST(UnitsOfAandB, SayNothingOfComplexValues)
{
    const auto A = turned_hermitian(poisson(0), 3);
    const auto b = random_complex_vector(A.rows(), 3);
    for (const Method method : {Method::gmres, Method::bicg, Method::bicgstab, Method::cg, Method::minres})
        expect_no_unit<Complex>(method, A, b, {.rtol = 1e-10});
}

TEST(Minres, StillTellsASingularKrylovSpaceWhateverTheUnit)
{
    // b = e₁ + e₃ of diag(1, 1, 0): the component in the null space never goes.
    for (const int exponent : {-200, -56, 0, 56, 200}) {
        const double                 unit = std::ldexp(1., exponent);
        const std::vector<Index>     diagonal{0, 1};
        const std::vector<double>    values{unit, unit};
        const auto                   A = CsrMatrix<>::from_triplets(3, 3, diagonal, diagonal, values);
        Identity<Cpu>                I(3);
        const MatrixOperator<double> op(A);
        Cpu                          be(1);
        KrylovOptions                options;
        KrylovWorkspace<Cpu>         ws(Method::minres, 3, options);
        std::vector<double>          x(3), b{1, 0, 1};
        const auto                   report = solve<Cpu, double>(be, Method::minres, op, I, b, x, ws, options);
        EXPECT_NE(report.outcome, Outcome::converged) << exponent;
        EXPECT_NEAR(x[0] * unit, 1, 1e-12) << exponent;
        EXPECT_NEAR(report.relative_residual, std::sqrt(0.5), 1e-12) << exponent;
    }
}

}  // namespace
}  // namespace ilux::test
