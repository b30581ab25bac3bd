// An operator without a matrix, preconditioned by factors of another matrix.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/gmres.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// y ← (P + c uuᵀ) x with the five-point stencil P of a k × k grid and the dense rank-one term of u, a vector of ones:
/// no sparse matrix holds it. Symmetric.
class StencilAndMean final : public LinearOperator<Cpu> {
public:
    StencilAndMean(Index k, double c) : k_(k), c_(c) {}
    Index size() const override { return k_ * k_; }
    void  apply(Cpu&, std::span<const double> x, std::span<double> y) const override
    {
        double sum = 0;
        for (const double value : x) sum += value;
        const auto at = [&](Index i, Index j) { return i < 0 || j < 0 || i >= k_ || j >= k_ ? 0 : x[i * k_ + j]; };
        for (Index i = 0; i < k_; ++i)
            for (Index j = 0; j < k_; ++j)
                y[i * k_ + j] = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1) + c_ * sum;
    }
    void apply_adjoint(Cpu& be, std::span<const double> x, std::span<double> y) const override { apply(be, x, y); }

private:
    Index  k_;
    double c_;
};

TEST(MatrixFree, EveryMethodTakesAnOperatorAndFactorsOfAnotherMatrix)
{
    constexpr Index           k = 40;
    Cpu                       be(1);
    const StencilAndMean      A(k, 1e-3);
    const CsrMatrix<double>   near = gallery::poisson2d(k, k);  // without the dense term
    MlIluPreconditioner       M(MlIlu<>::build(be, near, {}));
    const std::vector<double> exact = random_vector(A.size(), 1);
    std::vector<double>       b(exact.size());
    A.apply(be, exact, b);
    const KrylovOptions options{.rtol = 1e-10};
    for (const Method method : {Method::gmres, Method::fgmres, Method::bicg, Method::bicgstab, Method::cg}) {
        KrylovWorkspace<Cpu> ws(method, A.size(), options);
        std::vector<double>  x(b.size(), 0.);
        const auto           with_M = solve<Cpu>(be, method, A, M, b, x, ws, options);
        EXPECT_EQ(with_M.outcome, Outcome::converged) << name(method);
        EXPECT_LE(relative_difference(x, exact), 1e-7) << name(method);

        Identity<Cpu>       none(A.size());
        std::vector<double> plain(b.size(), 0.);
        const auto          without = solve<Cpu>(be, method, A, none, b, plain, ws, options);
        EXPECT_LT(2 * with_M.steps, without.steps) << name(method) << ": the other matrix is near enough to help";
    }
}

}  // namespace
}  // namespace ilux::test
