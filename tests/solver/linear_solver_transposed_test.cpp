// Aᵀ x = b and Aᴴ x = b by the factors of A. x is measured by a transpose that the test makes itself.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

using Complex = std::complex<double>;

template <class S>
std::vector<S> drawn(Index n, std::uint64_t seed)
{
    const auto     re = random_vector(n, seed), im = random_vector(n, seed + 100);
    std::vector<S> v(re.size());
    for (std::size_t i = 0; i < v.size(); ++i)
        if constexpr (is_complex<S>) v[i] = {re[i], im[i]};
        else v[i] = re[i];
    return v;
}

/// ‖b − op(A) x‖₂ / ‖b‖₂ by columns of A.
template <class S>
double residual_of_transposed(const CsrView<S>& A, Transpose op, std::span<const S> x, std::span<const S> b)
{
    std::vector<S> r(b.begin(), b.end());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (op == Transpose::no) r[i] -= A.val()[p] * x[A.col()[p]];
            else r[A.col()[p]] -= (op == Transpose::adjoint ? S(conj(A.val()[p])) : A.val()[p]) * x[i];
        }
    double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        r2 += std::norm(r[i]);
        b2 += std::norm(b[i]);
    }
    return std::sqrt(r2 / b2);
}

/// Unsymmetric by values, and by pattern.
template <class S>
CsrMatrix<S> lopsided(Index n)
{
    const CsrMatrix<double> A = unsymmetric(gallery::build("convdiff2d:n=" + std::to_string(n)));
    std::vector<Index>      row, col;
    std::vector<S>          val;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.col()[p] == i + n && i % 3 == 0) continue;
            row.push_back(i);
            col.push_back(A.col()[p]);
            if constexpr (is_complex<S>)
                val.emplace_back(A.val()[p], A.col()[p] > i ? 0.3 : A.col()[p] < i ? 0.1 : 0.5);
            else val.push_back(A.val()[p]);
        }
    return CsrMatrix<S>::from_triplets(A.rows(), A.cols(), row, col, val);
}

template <class S>
class Turned : public testing::Test {};
using Values = testing::Types<double, Complex>;
TYPED_TEST_SUITE(Turned, Values);

std::vector<SolverOptions> ways()
{
    std::vector<SolverOptions> all{{}, {.mode = SolverMode::direct}};
    for (const auto method : {MethodChoice::gmres, MethodChoice::bicg, MethodChoice::bicgstab, MethodChoice::fgmres})
        for (const auto kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
            SolverOptions options{.method = method};
            options.precond.kind = kind;
            all.push_back(options);
        }
    SolverOptions rounds{.method = MethodChoice::gmres};
    rounds.precond.mlilu.setup = MlIluSetup::rounds;
    all.push_back(rounds);
    SolverOptions mixed{.method = MethodChoice::gmres};
    mixed.krylov.precision = KrylovPrecision::mixed;
    all.push_back(mixed);
    return all;
}

/// All three systems by the same factors, in turns.
template <class S>
void solve_all_three(LinearSolver<S>& solver, const CsrView<S>& A, const std::string& device = "cpu")
{
    for (const Transpose op : {Transpose::adjoint, Transpose::no, Transpose::yes, Transpose::adjoint}) {
        const auto     b = drawn<S>(A.rows(), 7);
        std::vector<S> x(b.size(), S(NAN));
        const auto     report = solver.solve(b, x, op);
        EXPECT_TRUE(report.converged()) << report.why();
        EXPECT_EQ(report.attempts.size(), 1u);
        EXPECT_EQ(report.result().device.kind, device);
        EXPECT_LE(residual_of_transposed<S>(A, op, x, b), 1.01e-8) << int(op);
        EXPECT_EQ(report.result().x.template of<S>(), x);
    }
}

TYPED_TEST(Turned, EveryMethodSolvesWithTransposeAndAdjoint)
{
    using S = TypeParam;
    const CsrMatrix<S> A = lopsided<S>(14);
    for (SolverOptions options : ways()) {
        SCOPED_TRACE(testing::Message() << int(options.method) << " " << int(options.precond.kind) << " "
                                        << int(options.precond.mlilu.setup));
        LinearSolver<S> solver(serial(options));
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        solve_all_three<S>(solver, A);
    }
}

TYPED_TEST(Turned, OfNewNumbersTheTransposeIsOfThose)
{
    using S = TypeParam;
    CsrMatrix<S> A = lopsided<S>(12);
    for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative, SolverMode::automatic}) {
        LinearSolver<S> solver(serial({.mode = mode}));
        solver.analyse(A, 4);
        solver.factor();
        for (int k = 0; k < 4; ++k) {
            std::vector<S> values(A.val().begin(), A.val().end());
            for (std::size_t p = 0; p < values.size(); ++p) values[p] *= 1 + 0.02 * double((p + k) % 7);
            ASSERT_TRUE(solver.refactor(values).ready());
            solve_all_three<S>(solver, CsrView<S>(A).with_values(values));
        }
    }
}

TYPED_TEST(Turned, SmallOrders)
{
    using S = TypeParam;
    for (const Index n : {0, 1, 31, 32, 33})
        for (const SolverMode mode : {SolverMode::direct, SolverMode::iterative, SolverMode::automatic}) {
            std::vector<Index> row, col;
            std::vector<S>     val;
            for (Index i = 0; i < n; ++i)
                for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 2); ++j) {
                    row.push_back(i);
                    col.push_back(j);
                    val.push_back(S(i == j ? 4 : j > i ? 1 + 0.1 * i : -1));
                }
            const auto      A = CsrMatrix<S>::from_triplets(n, n, row, col, val);
            LinearSolver<S> solver(serial({.mode = mode}));
            solver.analyse(A);
            solver.factor();
            const auto     b = drawn<S>(n, 3);
            std::vector<S> x(b.size());
            EXPECT_TRUE(solver.solve(b, x, Transpose::yes).converged());
            if (n > 0) {
                EXPECT_LE(residual_of_transposed<S>(A, Transpose::yes, x, b), 1e-8);
            }
        }
}

TYPED_TEST(Turned, AGuessIsOfTheSystemSolved)
{
    using S = TypeParam;
    const CsrMatrix<S> A = lopsided<S>(12);
    SolverOptions      options{.method = MethodChoice::gmres};
    options.sequence.reuse_x = true;
    LinearSolver<S> solver(serial(options));
    solver.analyse(A);
    solver.factor();
    const auto     b = drawn<S>(A.rows(), 5);
    std::vector<S> x(b.size());
    for (const Transpose op : {Transpose::yes, Transpose::adjoint}) {
        std::ranges::fill(x, S(0));
        EXPECT_GT(solver.solve(b, x, op).steps(), 0);
        EXPECT_EQ(solver.solve(b, x, op).steps(), 0);
    }
}

TYPED_TEST(Turned, ColumnsAreSolvedOneByOne)
{
    using S = TypeParam;
    const CsrMatrix<S> A = lopsided<S>(10);
    const auto         n = static_cast<std::size_t>(A.rows());
    LinearSolver<S>    solver(serial({.mode = SolverMode::direct}));
    solver.analyse(A);
    solver.factor();
    const auto     B = drawn<S>(3 * A.rows(), 5);
    std::vector<S> X(B.size());
    const auto     reports = solver.solve_columns(B, X, Transpose::yes);
    ASSERT_EQ(reports.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_TRUE(reports[k].converged());
        const auto x = std::span<const S>(X).subspan(k * n, n), b = std::span<const S>(B).subspan(k * n, n);
        EXPECT_LE(residual_of_transposed<S>(A, Transpose::yes, x, b), 1e-8);
    }
    EXPECT_THROW((void)solver.solve_columns(std::span(B).first(n + 1), std::span(X).first(n + 1)), InvalidInput);
    EXPECT_TRUE(solver.solve_columns(std::span(B).first(0), std::span(X).first(0)).empty());
    auto broken = B;
    broken.back() = S(NAN);
    std::ranges::fill(X, S(1));
    EXPECT_THROW((void)solver.solve_columns(broken, X), InvalidInput);
    EXPECT_EQ(X[0], S(1));  // refused before anything was solved
}

/// ⟨M⁻ᴴ r, s⟩ = ⟨r, M⁻¹ s⟩, and M⁻ᵀ r is the conjugate of M⁻ᴴ of the conjugate.
template <class S>
void expect_adjoint_pair(LinearSolver<S>& solver, Index n, double tolerance = 1e-12)
{
    const auto     r = drawn<S>(n, 1), s = drawn<S>(n, 2);
    std::vector<S> plain(r.size()), adjoint(r.size()), transposed(r.size()), r_conjugated = r;
    for (S& one : r_conjugated) one = conj(one);
    solver.precondition(s, plain);
    solver.precondition(r, adjoint, Transpose::adjoint);
    solver.precondition(r_conjugated, transposed, Transpose::yes);
    S      left = 0, right = 0;
    double size = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        left += conj(adjoint[i]) * s[i];
        right += conj(r[i]) * plain[i];
        size += std::abs(r[i]) * std::abs(plain[i]) + std::abs(adjoint[i]) * std::abs(s[i]);
        EXPECT_EQ(transposed[i], S(conj(adjoint[i])));
    }
    EXPECT_LE(std::abs(left - right), tolerance * size);
    EXPECT_GT(size, 0);
}

TYPED_TEST(Turned, PreconditioningIsAdjointToItself)
{
    using S = TypeParam;
    const CsrMatrix<S> A = lopsided<S>(14);
    for (SolverOptions options : ways()) {
        LinearSolver<S> solver(serial(options));
        solver.analyse(A);
        EXPECT_THROW(expect_adjoint_pair<S>(solver, A.rows()), InvalidInput);
        ASSERT_TRUE(solver.factor().ready());
        expect_adjoint_pair<S>(solver, A.rows());
    }
    LinearSolver<S> lu(serial({.mode = SolverMode::direct}));
    lu.analyse(A);
    (void)lu.factor();
    const auto     r = drawn<S>(A.rows(), 1);
    std::vector<S> z(r.size());
    lu.precondition(r, z);
    EXPECT_LE(residual_of_transposed<S>(A, Transpose::no, z, r), 1e-12);
    EXPECT_THROW(lu.precondition(std::span(r).first(3), z), InvalidInput);
}

TEST(Turned, ASingularTransposeIsToldSo)
{
    // row 2 = row 1 + row 0: A and Aᵀ are singular, and Aᵀ x = b has no solution for most b
    const auto A =
        CsrMatrix<>::from_triplets(3, 3, std::vector<Index>{0, 0, 1, 1, 2, 2, 2},
                                   std::vector<Index>{0, 1, 1, 2, 0, 1, 2}, std::vector<double>{1, 2, 3, 4, 1, 5, 4});
    LinearSolver<> solver(serial({.mode = SolverMode::direct}));
    solver.analyse(A);
    solver.factor();
    const std::vector<double> b{1, 2, 4};
    std::vector<double>       x(3);
    EXPECT_EQ(solver.solve(b, x, Transpose::yes).outcome(), Outcome::singular);
}

template <class S>
class GpuTransposed : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};
TYPED_TEST_SUITE(GpuTransposed, Values);

TYPED_TEST(GpuTransposed, EveryMethodSolvesWithTransposeAndAdjoint)
{
    using S = TypeParam;
    const CsrMatrix<S> A = lopsided<S>(40);
    for (SolverOptions options : ways()) {
        if (options.strategy() == SolverMode::automatic) continue;  // which may leave the device
        SCOPED_TRACE(testing::Message() << int(options.method) << " " << int(options.precond.kind) << " "
                                        << int(options.precond.mlilu.setup));
        options.device = DeviceChoice::gpu;
        options.krylov.max_steps = 5000;
        LinearSolver<S> solver(options);
        solver.analyse(A, 3);
        ASSERT_TRUE(solver.factor().ready());
        ASSERT_TRUE(solver.refactor(A.val()).ready());
        solve_all_three<S>(solver, A, "gpu");
        // A GPU multiplies by inverses of the dense level, which for so lopsided an A are right from one side only.
        if (options.strategy() == SolverMode::iterative) expect_adjoint_pair<S>(solver, A.rows(), 1e-8);
    }
}

}  // namespace
}  // namespace ilux
