#include "ilux/direct/klu/ilux_klu_z.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/klu/ilux_klu_problem.hpp"

namespace ilux::test {
namespace {

/// The two kinds of values with one integer type.
template <class RealCalls, class ComplexCalls>
struct Kinds {
    using Real = RealCalls;
    using Complex = ComplexCalls;
};
template <class Both>
class BothKinds : public testing::Test {};
struct KindsName {
    template <class Both>
    static std::string GetName(int number)
    {
        return FlavourName::GetName<typename Both::Real>(number);
    }
};
using IntegerTypes = testing::Types<Kinds<WithInt, WithComplexInt>, Kinds<WithLong, WithComplexLong>>;
TYPED_TEST_SUITE(BothKinds, IntegerTypes, KindsName);

/// A call of one kind for each of those that take a numeric, with the numeric and the symbolic of `of`: whether it is
/// INVALID.
template <class Klu>
void expect_all_invalid(auto& of, bool refactor_too)
{
    KluProblem<Klu> values(CsrMatrix<typename Klu::Scalar>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3}));
    auto* const     c = &of.common;
    const auto      invalid = [&](bool failed) {
        EXPECT_EQ(c->status, ILUX_KLU_INVALID);
        c->status = 99;
        return failed;
    };
    auto *const Ap = values.Ap.data(), *const Ai = values.Ai.data();
    auto* const                       Ax = values.Ax.data();
    std::vector<typename Klu::Scalar> x(2, 1.);
    FactorArrays<typename Klu::Int>   nothing;
    EXPECT_TRUE(invalid(!Klu::solve(of.symbolic, of.numeric, 2, 1, x.data(), c)));
    EXPECT_TRUE(invalid(!Klu::tsolve(of.symbolic, of.numeric, 2, 1, x.data(), c)));
    EXPECT_TRUE(invalid(!Klu::rcond(of.symbolic, of.numeric, c)));
    EXPECT_TRUE(invalid(!Klu::rgrowth(Ap, Ai, Ax, of.symbolic, of.numeric, c)));
    EXPECT_TRUE(invalid(!Klu::condest(Ap, Ax, of.symbolic, of.numeric, c)));
    EXPECT_TRUE(invalid(!Klu::flops(of.symbolic, of.numeric, c)));
    EXPECT_TRUE(invalid(!Klu::sort(of.symbolic, of.numeric, c)));
    EXPECT_TRUE(invalid(!Klu::extract(of.numeric, of.symbolic, nothing, c)));
    EXPECT_EQ(x, (std::vector<typename Klu::Scalar>(2, 1.)));
    if (!refactor_too) return;
    EXPECT_TRUE(invalid(!Klu::refactor(Ap, Ai, Ax, of.symbolic, of.numeric, c)));
}

TYPED_TEST(BothKinds, ANumericOfTheOtherKindIsInvalidAndFreedAllTheSame)
{
    using Real = typename TypeParam::Real;
    using Z = typename TypeParam::Complex;
    KluProblem<Real> r(CsrMatrix<double>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3}));
    KluProblem<Z>    z(CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3}));
    r.factor();
    z.factor();
    expect_all_invalid<Z>(r, false);
    expect_all_invalid<Real>(z, false);
    EXPECT_LE(std::abs(r.solved({3, 4})[0] - 1.), 1e-15) << "none of these touched it";
    EXPECT_LE(std::abs(z.solved({3, 4})[0] - 1.), 1e-15) << "none of these touched it";
    expect_all_invalid<Z>(r, true);
    expect_all_invalid<Real>(z, true);
    EXPECT_TRUE(r.solved({3, 4}).empty()) << "a refactor that was refused leaves nothing to solve with";
    EXPECT_TRUE(z.solved({3, 4}).empty());
    EXPECT_TRUE(r.refactor() && z.refactor());
    EXPECT_LE(std::abs(z.solved({3, 4})[0] - 1.), 1e-15);
    const auto of_symbolic = r.common.memusage;
    EXPECT_TRUE(Z::free_numeric(&r.numeric, &r.common) && Real::free_numeric(&z.numeric, &z.common));
    EXPECT_TRUE(r.numeric == nullptr && z.numeric == nullptr);
    EXPECT_LT(r.common.memusage, of_symbolic);  // and 0 when the problem ends
}

TYPED_TEST(BothKinds, OneSymbolicServesRealAndComplexValues)
{
    using Real = typename TypeParam::Real;
    using Z = typename TypeParam::Complex;
    const auto       A = random_dominant(40, 4, 1);
    KluProblem<Real> r(A);
    r.factor();
    ComplexVector Ax(r.Ax.begin(), r.Ax.end());
    auto*         numeric = Z::factor(r.Ap.data(), r.Ai.data(), Ax.data(), r.symbolic, &r.common);
    ASSERT_NE(numeric, nullptr);
    const auto b = random_vector(40, 2);
    auto       z = widened(b);
    ASSERT_TRUE(Z::solve(r.symbolic, numeric, 40, 1, z.data(), &r.common));
    const auto x = r.solved(b);
    for (Index i = 0; i < 40; ++i) EXPECT_EQ(z[i], Complex(x[i])) << "the same bits, and no imaginary part";
    EXPECT_TRUE(Z::free_numeric(&numeric, &r.common));
}

TYPED_TEST(BothKinds, ConjSolveTellsTheAdjointFromTheTranspose)
{
    using Z = typename TypeParam::Complex;
    for (const Index n : {1, 2, 33, 90}) {
        const auto    A = complex_system(n, n);
        KluProblem<Z> p(A);
        p.factor();
        const auto b = random_complex_vector(n, 3);
        auto       t = b, h = b;
        ASSERT_TRUE(Z::tsolve(p.symbolic, p.numeric, p.n, 1, t.data(), &p.common));
        ASSERT_TRUE(Z::atsolve(p.symbolic, p.numeric, p.n, 1, h.data(), &p.common));
        EXPECT_LE(relative_difference(real_form(t), dense_solve(real_form(transpose(A)), real_form(b))), 1e-10);
        EXPECT_LE(relative_difference(real_form(h), dense_solve(real_form(adjoint(A)), real_form(b))), 1e-10);
        EXPECT_GT(relative_difference(real_form(t), real_form(h)), 0.01) << "n " << n;
    }
}

TYPED_TEST(BothKinds, ArraysNeedNoMoreAlignmentThanDoubles)
{
    using Z = typename TypeParam::Complex;
    KluProblem<Z> p(complex_system(33, 5));
    p.factor();
    const auto b = random_complex_vector(33, 4), x = p.solved(b);
    const auto shifted = [](const ComplexVector& values, std::vector<double>& memory) {
        memory.resize(2 * values.size() + 1);
        auto* const at = reinterpret_cast<Complex*>(memory.data() + 1);
        std::copy(values.begin(), values.end(), at);
        return at;
    };
    std::vector<double> values, vector;
    auto* const         Ax = shifted(p.Ax, values);
    auto* const         y = shifted(b, vector);
    EXPECT_TRUE(Z::refactor(p.Ap.data(), p.Ai.data(), Ax, p.symbolic, p.numeric, &p.common));
    EXPECT_TRUE(Z::solve(p.symbolic, p.numeric, p.n, 1, y, &p.common));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y));
}

TYPED_TEST(BothKinds, ExtractGivesTheImaginaryPartsAlone)
{
    using Z = typename TypeParam::Complex;
    KluProblem<Z> p(complex_system(33, 6));
    p.factor();
    FactorArrays<typename Z::Int> all(*p.numeric), some;
    ASSERT_TRUE(Z::extract(p.numeric, p.symbolic, all, &p.common));
    some.Uz.resize(all.Uz.size());
    ASSERT_TRUE(Z::extract(p.numeric, p.symbolic, some, &p.common));
    EXPECT_EQ(some.Uz, all.Uz);
    EXPECT_GT(*std::max_element(some.Uz.begin(), some.Uz.end()), 0);
}

TYPED_TEST(BothKinds, ScaleRefusesNanAndInfAndThenWritesNothing)
{
    const auto refuses = []<class Klu>(KluProblem<Klu>&& p, typename Klu::Scalar bad) {
        std::vector<double> Rs(2, -9);
        for (const int how : {0, 1, 2}) {
            p.Ax[2] = bad;
            EXPECT_FALSE(Klu::scale(how, p.n, p.Ap.data(), p.Ai.data(), p.Ax.data(), Rs.data(), nullptr, &p.common));
            EXPECT_EQ(p.common.status, ILUX_KLU_INVALID);
            EXPECT_EQ(Rs, (std::vector<double>{-9, -9}));
        }
        EXPECT_TRUE(Klu::scale(-1, p.n, p.Ap.data(), p.Ai.data(), p.Ax.data(), nullptr, nullptr, &p.common));
        EXPECT_FALSE(Klu::scale(1, p.n, p.Ap.data(), p.Ai.data(), p.Ax.data(), Rs.data(), nullptr, nullptr));
    };
    using Real = typename TypeParam::Real;
    using Z = typename TypeParam::Complex;
    const auto real = CsrMatrix<double>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3});
    const auto complex = CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3});
    for (const double bad : {nan, infinity}) {
        refuses(KluProblem<Real>(real), bad);
        refuses(KluProblem<Z>(complex), {1, bad});
        refuses(KluProblem<Z>(complex), {bad, 1});
    }
}

}  // namespace
}  // namespace ilux::test
