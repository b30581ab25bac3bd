// Preconditioners of complex matrices. Oracles: the real library where nothing is imaginary, dense solves of the real
// form, and what the adjoint is by definition.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/jacobi.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/reorder/matching.hpp"
#include "ilux/tests/support/real_form.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux::test {
namespace {

using namespace precond;

CsrMatrix<Complex> complex_of(const CsrMatrix<>& A)
{
    return CsrMatrix<Complex>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, {A.val().begin(), A.val().end()});
}

/// D A D̄ for random phases D: Hermitian, and as definite as A, for a symmetric A.
CsrMatrix<Complex> rotated(const CsrMatrix<>& A, std::uint64_t seed)
{
    Random        random(seed);
    ComplexVector phase(A.rows());
    for (Complex& d : phase) d = std::polar(1., random.uniform(0, 6));
    CsrMatrix<Complex> B = complex_of(A);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];  // computed once for both triangles, or rounding would spoil the symmetry
            if (j < i) B.val()[p] = A.val()[p] * (phase[i] * std::conj(phase[j]));
            if (j > i) B.val()[p] = A.val()[p] * std::conj(phase[j] * std::conj(phase[i]));
        }
    return B;
}

CsrMatrix<Complex> dense(Index n, const ComplexVector& a)
{
    std::vector<Index> row, col;
    ComplexVector      val;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            if (a[i * n + j] != Complex(0)) {
                row.push_back(i);
                col.push_back(j);
                val.push_back(a[i * n + j]);
            }
    return CsrMatrix<Complex>::from_triplets(n, n, row, col, val);
}

ComplexVector applied(Preconditioner<Cpu, Complex>& M, const ComplexVector& r, bool adjoint = false, int threads = 1)
{
    Cpu           be(threads);
    ComplexVector z(r.size(), Complex(nan, nan));  // so that a component left out shows
    if (adjoint) M.apply_adjoint(be, r, z);
    else M.apply(be, r, z);
    return z;
}

Complex inner(const ComplexVector& x, const ComplexVector& y)
{
    Complex sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
    return sum;
}

double norm(const ComplexVector& x) { return std::sqrt(inner(x, x).real()); }

/// |⟨M⁻¹r, s⟩ − ⟨r, M⁻ᴴs⟩| relative to its terms.
double adjoint_defect(Preconditioner<Cpu, Complex>& M)
{
    const auto   r = random_complex_vector(M.size(), 1), s = random_complex_vector(M.size(), 2);
    const auto   z = applied(M, r), t = applied(M, s, true);
    const double size = norm(z) * norm(s) + norm(r) * norm(t);
    return size == 0 ? 0 : std::abs(inner(z, s) - inner(r, t)) / size;
}

double backward_error(const CsrMatrix<Complex>& A, const ComplexVector& x, const ComplexVector& b)
{
    return test::backward_error(real_form(A), real_form(x), real_form(b));
}

MlIlu<Complex> build(const CsrMatrix<Complex>& A, const MlIluOptions& options = {}, int threads = 1)
{
    Cpu be(threads);
    return MlIlu<Complex>::build(be, A, options);
}

std::vector<MlIluOptions> variants(double drop_tol)
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save})
        for (Estimator estimator : {Estimator::greedy, Estimator::look_ahead})
            for (double kappa : {2., 5.})
                all.push_back({.drop_tol = drop_tol,
                               .schur_drop_tol = drop_tol / 10,
                               .inverse_bound = kappa,
                               .off_diagonal = off_diagonal,
                               .estimator = estimator,
                               .dense_order = kappa > 2 ? 8 : 0});
    all.push_back({.schur_drop_tol = drop_tol / 10, .setup = MlIluSetup::rounds});
    all.push_back({.schur_drop_tol = drop_tol / 10, .setup = MlIluSetup::rounds, .compensation = Compensation::on});
    return all;
}

/// Regular and singular matrices of order n, their values turned.
std::vector<std::pair<std::string, CsrMatrix<Complex>>> complex_matrices(Index n)
{
    std::vector<std::pair<std::string, CsrMatrix<Complex>>> all;
    for (const auto& [name, A] : regular_matrices(n, n + 1)) all.emplace_back(name, turned(A, n));
    all.emplace_back("hermitian", rotated(random_spd(n, 3, n), n));
    return all;
}

constexpr Index sizes_of_warps[] = {0, 1, 2, 31, 32, 33};

void expect_same_values(const CsrMatrix<>& real, const CsrMatrix<Complex>& complex)
{
    EXPECT_TRUE(std::ranges::equal(real.row_ptr(), complex.row_ptr()) && std::ranges::equal(real.col(), complex.col()));
    EXPECT_TRUE(std::ranges::equal(real.val(), complex.val(), [](double a, Complex b) { return a == b; }));
}

TEST(ComplexMlIlu, IsThatOfTheRealMatrixWhereNothingIsImaginary)
{
    std::vector<Named> matrices{{"convdiff2d", gallery::convdiff2d({.n = 40})},
                                {"recirculating2d", gallery::build("recirculating2d:n=30")},
                                {"spd", gallery::poisson2d(30, 30)}};
    for (Index n : sizes_of_warps)
        for (const auto& named : regular_matrices(n, n + 1)) matrices.push_back(named);
    for (const auto& [name, A] : matrices)
        for (MlIluOptions options : variants(1e-2)) {
            options.definite = name == "spd";
            const auto  real = precond::build(A, options);
            const auto  complex = build(complex_of(A), options);
            const auto &one = real.report(), &two = complex.report();
            ASSERT_EQ(one.levels.size(), two.levels.size()) << name << " of " << A.rows();
            EXPECT_EQ(one.stored, two.stored);
            EXPECT_EQ(one.deficiency, two.deficiency);
            for (std::size_t l = 0; l < one.levels.size(); ++l) {
                EXPECT_EQ(one.levels[l].accepted, two.levels[l].accepted) << name << " of " << A.rows();
                EXPECT_EQ(one.levels[l].inverse_L, two.levels[l].inverse_L);
                EXPECT_EQ(one.levels[l].inverse_U, two.levels[l].inverse_U);
            }
            for (std::size_t l = 0; l < real.factors().levels.size(); ++l) {
                const auto& a = real.factors().levels[l];
                const auto& b = complex.factors().levels[l];
                EXPECT_TRUE(a.p == b.p && a.q == b.q && a.row_scale == b.row_scale && a.keep == b.keep);
                expect_same_values(a.L_B, b.L_B);
                expect_same_values(a.U_B, b.U_B);
                expect_same_values(a.lower, b.lower);
                expect_same_values(a.upper, b.upper);
            }
            MlIluPreconditioner M(real);
            MlIluPreconditioner N(complex);
            const auto          r = random_complex_vector(A.rows(), 1);
            const auto          parts = real_form(r);
            const auto          middle = parts.begin() + A.rows();
            const auto          re = precond::applied(M, {parts.begin(), middle});
            const auto          im = precond::applied(M, {middle, parts.end()});
            auto                expected = re;
            expected.insert(expected.end(), im.begin(), im.end());
            EXPECT_LE(relative_difference(real_form(applied(N, r)), expected), 1e-9) << name << " of " << A.rows();
        }
}

TEST(ComplexMlIlu, IsTheInverseWithoutDropping)
{
    for (Index n : sizes_of_warps)
        for (const auto& [name, A] : complex_matrices(n))
            for (const auto& options : variants(0)) {
                MlIluPreconditioner M(build(A, options));
                const auto          b = random_complex_vector(n, 1);
                EXPECT_LE(backward_error(A, applied(M, b), b), 1e-10) << name << " of " << n;
                EXPECT_LE(backward_error(adjoint(A), applied(M, b, true), b), 1e-10) << name << " of " << n;
                if (name != "dominant") continue;  // the well-conditioned ones
                EXPECT_LE(relative_difference(real_form(applied(M, b)), dense_solve(real_form(A), real_form(b))),
                          1e-12);
            }
}

TEST(ComplexMlIlu, IsTheInverseOverManyLevels)
{
    for (const auto& A : {turned(gallery::poisson2d(15, 15), 1), rotated(gallery::poisson2d(15, 15), 1)})
        for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
            const auto mlilu = build(A, {.drop_tol = 0,
                                         .schur_drop_tol = 0,
                                         .inverse_bound = 1,
                                         .ordering = Ordering::none,
                                         .off_diagonal = off_diagonal});
            EXPECT_GE(mlilu.report().levels.size(), 3);
            MlIluPreconditioner M(mlilu);
            const auto          b = random_complex_vector(A.rows(), 1);
            EXPECT_LE(backward_error(A, applied(M, b), b), 1e-12);
            EXPECT_LE(backward_error(adjoint(A), applied(M, b, true), b), 1e-12);
        }
}

TEST(ComplexMlIlu, AdjointIsTheAdjointMap)
{
    for (Index n : sizes_of_warps) {
        auto matrices = complex_matrices(n);
        for (const auto& [name, A] : singular_matrices(n, n + 5)) matrices.emplace_back(name, turned(A, 1));
        ComplexVector equal_rows(n * n);
        for (Index i = 0; i < n * n; ++i) equal_rows[i] = std::polar(1., static_cast<double>(i % n));
        matrices.emplace_back("of rank 1", dense(n, equal_rows));
        for (const auto& [name, A] : matrices)
            for (const auto& options : variants(1e-2)) {
                MlIluPreconditioner M(build(A, options));
                EXPECT_LE(adjoint_defect(M), 1e-10) << name << " of " << n;
            }
    }
    MlIluPreconditioner large(build(turned(gallery::convdiff2d({.n = 50}), 1)));
    EXPECT_LE(adjoint_defect(large), 1e-13);
}

TEST(ComplexMlIlu, CountsTheRankThatIsMissing)
{
    const auto none = build(dense(33, ComplexVector(33 * 33)));
    EXPECT_EQ(none.report().deficiency, 33);
    MlIluPreconditioner identity(none);
    const auto          r = random_complex_vector(33, 1);
    EXPECT_EQ(applied(identity, r), r);

    const Complex i(0, 1);
    EXPECT_EQ(build(dense(2, {1, i, i, -1})).report().deficiency, 1);  // the second row is i times the first
    EXPECT_EQ(build(dense(2, {1, i, -i, -1})).report().deficiency, 0);
}

TEST(ComplexMlIlu, IsHermitianAndDefiniteWhereAIs)
{
    std::vector<CsrMatrix<>> real{gallery::poisson2d(12, 12), gallery::elasticity2d({.n = 6, .nu = 0.3})};
    for (Index n : sizes_of_warps) real.push_back(random_spd(n, 4, n));
    for (const auto& S : real)
        for (MlIluOptions options : variants(5e-2)) {
            const auto A = rotated(S, 7);
            ASSERT_TRUE(is_hermitian(A));
            options.definite = true;
            const auto mlilu = build(A, options);
            for (const auto& level : mlilu.factors().levels)
                for (const Complex d : level.d_inv) ASSERT_TRUE(d.real() > 0 && d.imag() == 0);
            MlIluPreconditioner M(mlilu);
            for (std::uint64_t seed : {1, 2, 3}) {
                const auto r = random_complex_vector(A.rows(), seed), z = applied(M, r);
                EXPECT_LE(relative_difference(real_form(z), real_form(applied(M, r, true))), 1e-11);
                if (A.rows() == 0) continue;
                EXPECT_GT(inner(r, z).real(), 0);
                EXPECT_LE(std::abs(inner(r, z).imag()), 1e-12 * norm(r) * norm(z));
            }
        }
    const Complex i(0, 1);
    expect_refusal([&] { build(dense(2, {2, i, i, 2}), {.definite = true}); }, {"definite", "Hermitian"});
    expect_refusal([&] { build(dense(2, {2, i, -i, i}), {.definite = true}); }, {"definite", "Hermitian"});
}

TEST(ComplexMlIlu, GivesTheSameBitsForAnyNumberOfThreads)
{
    const auto          A = turned(gallery::convdiff2d({.n = 60}), 3);
    const auto          r = random_complex_vector(A.rows(), 1);
    MlIluPreconditioner M(build(A));
    const auto          one = applied(M, r), adjoint = applied(M, r, true);
    for (int threads : {2, 5}) {
        MlIluPreconditioner N(build(A, {}, threads));
        EXPECT_EQ(applied(N, r, false, threads), one);
        EXPECT_EQ(applied(N, r, true, threads), adjoint);
    }
}

/// By a phase of every row, a system stays what it was: the estimates are of moduli, and so is what is cut.
TEST(ComplexMlIlu, IsMadeByTheRoundsOfAnotherMatrix)
{
    Cpu        be(1);
    const auto check = [&](const CsrMatrix<Complex>& A, const CsrMatrix<Complex>& B, bool definite) {
        const MlIluOptions options{.setup = MlIluSetup::rounds, .definite = definite};
        const auto         former = build(A, options), anew = build(B, options);
        const auto         plan = former.rounds_plan().value();
        const auto         same = MlIlu<Complex>::rebuild(be, A, options, plan);
        const auto         other = MlIlu<Complex>::rebuild(be, B, options, plan);
        EXPECT_TRUE(same.report().replayed && other.report().replayed)
            << testing::PrintToString(other.report().decisions);
        MlIluPreconditioner M(former), N(same), O(other), P(anew);
        const auto          r = random_complex_vector(A.rows(), 1);
        EXPECT_EQ(applied(N, r), applied(M, r));
        EXPECT_EQ(applied(N, r, true), applied(M, r, true));
        const auto error = [&](MlIluPreconditioner<Complex>& preconditioner) {  // of M⁻¹ B x
            ComplexVector b(r.size());
            spmv<Complex>(be, Complex(1), B, r, Complex(0), b);
            return relative_difference(real_form(applied(preconditioner, b)), real_form(r));
        };
        EXPECT_LE(error(O), 2 * error(P));
        if (!definite) return;
        for (const auto& level : other.factors().levels)
            for (const Complex d : level.d_inv) ASSERT_TRUE(d.real() > 0 && d.imag() == 0);
    };
    const auto wind = [](double peclet) { return gallery::convdiff2d({.n = 30, .peclet = peclet}); };
    check(turned(wind(20), 3), turned(wind(30), 3), false);
    check(rotated(gallery::poisson2d(30, 30), 5), rotated(gallery::poisson2d(30, 30), 6), true);
}

/// Convection and diffusion with a damping of iσ: x ← x + M⁻¹ (b − A x) must contract.
TEST(ComplexMlIlu, MakesAFixedPointIterationConverge)
{
    CsrMatrix<Complex> A = complex_of(gallery::convdiff2d({.n = 50}));
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] *= Complex(1, 0.5);
    Cpu                 be(1);
    MlIluPreconditioner M(build(A));
    const auto          b = random_complex_vector(A.rows(), 1);
    ComplexVector       x(b.size()), r = b, z(b.size());
    for (int step = 0; step < 30; ++step) {
        M.apply(be, r, z);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += z[i];
        r = b;
        spmv<Complex>(be, -1, A, x, 1, r);
    }
    EXPECT_LE(norm(r), 1e-10 * norm(b));
}

TEST(ComplexIlu0, ReproducesAOnItsPattern)
{
    for (Index n : sizes_of_warps) {
        const auto    A = turned(random_dominant(n, 4, n), n);
        Ilu0          M(A);
        ComplexVector LU(n * n), pattern(n * n);
        ASSERT_EQ(M.zero_pivot(), -1);
        EXPECT_EQ(M.nnz(), A.nnz());
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) {
                Complex sum = M.U().at(i, j);
                for (Index k = 0; k < i; ++k) sum += M.L().at(i, k) * M.U().at(k, j);
                LU[i * n + j] = sum;
            }
        for (Index i = 0; i < n; ++i)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                EXPECT_LE(std::abs(LU[i * n + A.col()[p]] - A.val()[p]), 1e-13);
        const auto r = random_complex_vector(n, 3);
        EXPECT_LE(backward_error(dense(n, LU), applied(M, r), r), 1e-13);
        EXPECT_LE(backward_error(adjoint(dense(n, LU)), applied(M, r, true), r), 1e-13);
        EXPECT_LE(adjoint_defect(M), 1e-13);
    }
}

TEST(ComplexIlu0, ReportsTheFirstRowWithoutAPivot)
{
    const Complex i(0, 1);
    EXPECT_EQ(Ilu0(dense(2, {0, 1, 1, i})).zero_pivot(), 0);
    EXPECT_EQ(Ilu0(dense(2, {1, i, i, -1})).zero_pivot(), 1);  // −1 − i·i
    EXPECT_EQ(Ilu0(dense(2, {1, i, i, 1})).zero_pivot(), -1);
}

TEST(ComplexJacobi, DividesByTheDiagonalAndByItsConjugate)
{
    const Complex i(0, 1);
    Jacobi        M(dense(3, {2. * i, 1, 0, 0, 0, 1, 5, 0, -4}));
    EXPECT_EQ(M.zeros(), 1);
    EXPECT_EQ(applied(M, {2, i, 8}), (ComplexVector{-i, i, -2}));
    EXPECT_EQ(applied(M, {2, i, 8}, true), (ComplexVector{i, i, -2}));
}

TEST(ComplexMatching, IsThatOfTheModuli)
{
    for (Index n : sizes_of_warps) {
        const auto A = random_regular(n, 3, n);
        const auto B = turned(A, 1);
        CsrMatrix  moduli = A;
        for (Offset p = 0; p < A.nnz(); ++p) moduli.val()[p] = std::abs(B.val()[p]);
        const auto expected = maximum_product_matching(moduli), found = maximum_product_matching(B);
        EXPECT_EQ(found.col_of_row, expected.col_of_row);
        EXPECT_EQ(found.row_scale, expected.row_scale);
        EXPECT_EQ(found.col_scale, expected.col_scale);
    }
}

}  // namespace
}  // namespace ilux::test
