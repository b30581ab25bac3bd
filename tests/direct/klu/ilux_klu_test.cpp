#include "ilux/direct/klu/ilux_klu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "ilux/direct/klu/ilux_klu_objects.hpp"
#include "ilux/tests/direct/klu/ilux_klu_problem.hpp"

extern "C" {
int klu_program(void);
int klu_extract_program(void);
int klu_l_program(void);
int klu_z_program(void);
int klu_z_extract_program(void);
int klu_zl_program(void);
}

namespace ilux {
namespace {

using test::componentwise_error;
template <class Klu>
using Numbers = std::vector<typename Klu::Scalar>;

template <class Klu>
using EveryFlavour = test::EveryFlavour<Klu>;
TYPED_TEST_SUITE(EveryFlavour, test::Flavours, test::FlavourName);

TEST(IluxKlu, RunsAProgramWrittenToKluInC)
{
    EXPECT_EQ(klu_program(), 0) << "the line of klu_program.c that failed";
    EXPECT_EQ(klu_extract_program(), 0) << "the line of klu_program.c that failed";
    EXPECT_EQ(klu_l_program(), 0) << "the line of klu_program.c that failed";
    EXPECT_EQ(klu_z_program(), 0) << "the line of klu_program.c that failed";
    EXPECT_EQ(klu_z_extract_program(), 0) << "the line of klu_program.c that failed";
    EXPECT_EQ(klu_zl_program(), 0) << "the line of klu_program.c that failed";
}

TYPED_TEST(EveryFlavour, SolvesCircuitsAndTheirTransposesUnderEveryOption)
{
    using Klu = TypeParam;
    for (const Index n : {1, 31, 32, 33, 200})
        for (const int btf : {0, 1})
            for (const int ordering : {0, 1, 2, 4})
                for (const int scale : {-1, 0, 1, 2}) {
                    typename TestFixture::Problem p(this->circuit(n, n));
                    p.common.btf = btf;
                    p.common.ordering = ordering;
                    p.common.scale = scale;
                    p.factor();
                    ASSERT_NE(p.numeric, nullptr) << p.common.status;
                    EXPECT_EQ(p.common.numerical_rank, p.n);
                    EXPECT_EQ(p.common.structural_rank, btf ? p.n : -1);
                    EXPECT_EQ(p.numeric->Rs == nullptr, scale <= 0);
                    const Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>(p.n, 1);
                    Numbers<TypeParam>       x = b;
                    ASSERT_TRUE(Klu::solve(p.symbolic, p.numeric, p.n, 1, x.data(), &p.common));
                    EXPECT_LE(componentwise_error(p.view(), x, b), 1e-9);  // not refined
                    x = b;
                    ASSERT_TRUE(Klu::tsolve(p.symbolic, p.numeric, p.n, 1, x.data(), &p.common));
                    EXPECT_LE(componentwise_error(p.view(), x, b, true), 1e-9);
                }
}

TYPED_TEST(EveryFlavour, SolvesManyRightHandSidesApart)
{
    using Klu = TypeParam;
    typename TestFixture::Problem p(this->circuit(50));
    p.factor();
    for (const typename Klu::Int count : {0, 1, 2, 7, 8, 9, 20})
        for (const typename Klu::Int gap : {0, 3}) {
            const auto               ldim = p.n + gap;
            const Numbers<TypeParam> B =
                test::random_values<typename TypeParam::Scalar>((std::max<typename Klu::Int>(ldim * count, 1)), 7);
            Numbers<TypeParam> X = B;
            ASSERT_TRUE(Klu::solve(p.symbolic, p.numeric, ldim, count, X.data(), &p.common));
            EXPECT_TRUE(count > 0 || X == B);
            for (typename Klu::Int c = 0; c < count; ++c) {
                const auto               at = B.begin() + c * ldim;
                const Numbers<TypeParam> alone = p.solved(Numbers<TypeParam>(at, at + p.n));
                EXPECT_TRUE(std::equal(alone.begin(), alone.end(), X.begin() + c * ldim));
                EXPECT_TRUE(std::equal(at + p.n, at + ldim, X.begin() + c * ldim + p.n));
            }
        }
}

TYPED_TEST(EveryFlavour, RcondIsOfRowsScaledByTheValuesOfNow)
{
    typename TestFixture::Problem p(this->two_by_two(2, 1, 1, 3));
    p.factor();
    ASSERT_TRUE(TypeParam::rcond(p.symbolic, p.numeric, &p.common));
    const double before = p.common.rcond;
    EXPECT_GT(before, 0.1);
    for (std::size_t q = 0; q < p.Ax.size(); ++q)
        if (p.Ai[q] == 1) p.Ax[q] *= 0x1p-60;  // a row in other units
    ASSERT_TRUE(p.refactor());
    ASSERT_TRUE(TypeParam::rcond(p.symbolic, p.numeric, &p.common));
    EXPECT_EQ(p.common.rcond, before);
    p.common.scale = 0;  // rows as they are: that is what an rcond without scales is about
    TypeParam::free_numeric(&p.numeric, &p.common);
    p.factor();
    ASSERT_TRUE(TypeParam::rcond(p.symbolic, p.numeric, &p.common));
    EXPECT_LT(p.common.rcond, 1e-17);
}

TYPED_TEST(EveryFlavour, RefactorKeepsThePivotsUnlessRepivotingIsAskedFor)
{
    typename TestFixture::Problem p(this->two_by_two(4, 1, 1, 2));
    p.common.ordering = 2;
    p.common.scale = 0;
    p.factor();
    const std::vector<typename TypeParam::Int> before(p.numeric->Pnum, p.numeric->Pnum + 2);
    p.Ax = {1e-14, 1, 1, 2};
    ASSERT_TRUE(p.refactor());
    EXPECT_EQ(std::vector(p.numeric->Pnum, p.numeric->Pnum + 2), before);
    ASSERT_TRUE(TypeParam::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
    EXPECT_LT(p.common.rgrowth, 1e-13);
    EXPECT_GT(std::abs(p.solved({1, 3})[0] - 1.), 1e-5) << "the example is no example";  // x = (1, 1)

    const test::Repivoting on;
    ASSERT_TRUE(p.refactor());
    EXPECT_EQ(test::repivots(p.numeric), 1);
    EXPECT_NE(std::vector(p.numeric->Pnum, p.numeric->Pnum + 2), before);
    EXPECT_LE(std::abs(p.solved({1, 3})[0] - 1.), 1e-13);
    EXPECT_LE(std::abs(p.solved({1, 3})[1] - 1.), 1e-13);
}

TYPED_TEST(EveryFlavour, RefactorKeepsPivotsThatLookBadButSolveWell)
{
    typename TestFixture::Problem p(this->two_by_two(4, 1, 1, 2));
    p.common.ordering = 2;
    p.common.scale = 0;
    p.factor();
    p.Ax = {1e-13, 1, 1e-13, 2};  // the first equation in other units: a multiplier of 1e13 that does no harm
    const test::Repivoting on;
    ASSERT_TRUE(p.refactor());
    const auto& lu = klu::behind<typename TypeParam::Int, typename TypeParam::Scalar>(p.symbolic, p.numeric).lu;
    EXPECT_EQ(judge_pivots(lu.pivots(), lu.pivots().monitor).action, LuAction::repivot) << "the example is no example";
    EXPECT_EQ(test::repivots(p.numeric), 0);
    EXPECT_LE(componentwise_error(p.view(), p.solved({3e-13, 5}), Numbers<TypeParam>{3e-13, 5}), 1e-15);
}

TYPED_TEST(EveryFlavour, OneThreadIsTheDefault) { EXPECT_EQ(test::Threads(1).before(), 1); }

/// Reverses the order, and notes that it was asked.
template <class Int, class Common>
Int reversed(Int n, Int*, Int*, Int* perm, Common* common)
{
    for (Int k = 0; k < n; ++k) perm[k] = n - 1 - k;
    ++*static_cast<int*>(common->user_data);
    return 1;
}

TYPED_TEST(EveryFlavour, OrdersAsTheCallerSays)
{
    using Int = typename TypeParam::Int;
    typename TestFixture::Problem p(test::with_values_of<typename TypeParam::Scalar>(test::random_dominant(20, 4, 3)));
    p.common.btf = 0;
    std::vector<Int> P(p.n), Q(p.n);
    std::iota(P.rbegin(), P.rend(), 0);
    const auto order = test::random_permutation(static_cast<Index>(p.n), 4);
    Q.assign(order.begin(), order.end());
    const Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>((p.n), 1);
    for (int given = 0; given < 4; ++given) {  // which of P and Q
        p.symbolic = TypeParam::analyze_given(p.n, p.Ap.data(), p.Ai.data(), given & 1 ? P.data() : nullptr,
                                              given & 2 ? Q.data() : nullptr, &p.common);
        ASSERT_NE(p.symbolic, nullptr);
        std::vector<Int> columns(p.symbolic->Q, p.symbolic->Q + p.n), expected(p.n);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(columns, given & 2 ? Q : expected);
        p.factor();
        const Numbers<TypeParam> x = p.solved(b);
        ASSERT_FALSE(x.empty());
        EXPECT_LE(componentwise_error(p.view(), x, b), 1e-11);  // not refined
        TypeParam::free_numeric(&p.numeric, &p.common);
        TypeParam::free_symbolic(&p.symbolic, &p.common);
    }
    int asked = 0;
    p.common.ordering = 3;
    p.common.user_order = reversed<Int, typename TypeParam::Common>;
    p.common.user_data = &asked;
    p.factor();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(std::vector<Int>(p.symbolic->Q, p.symbolic->Q + p.n), P);
    EXPECT_LE(componentwise_error(p.view(), p.solved(b), b), 1e-11);
}

TYPED_TEST(EveryFlavour, MeasuresWhatItSays)
{
    // U = (4 1; 0 7/4) of [4 1; 1 2] in its own order.
    typename TestFixture::Problem p(this->two_by_two(4, 1, 1, 2));
    p.common.ordering = 2;
    p.common.scale = 0;
    p.factor();
    ASSERT_NE(p.numeric, nullptr);
    EXPECT_EQ(p.common.noffdiag, 0);
    EXPECT_EQ(p.numeric->lnz, 3);
    EXPECT_EQ(p.numeric->unz, 3);
    EXPECT_TRUE(TypeParam::rcond(p.symbolic, p.numeric, &p.common));
    EXPECT_DOUBLE_EQ(p.common.rcond, 1.75 / 4);
    EXPECT_TRUE(TypeParam::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
    EXPECT_DOUBLE_EQ(p.common.rgrowth, 1);  // 4 / 4; the second column has 2 / (7/4)
    EXPECT_TRUE(TypeParam::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
    EXPECT_DOUBLE_EQ(p.common.condest, 5 * 5 / 7.0);  // ‖A‖₁ = 5, A⁻¹ = (2 −1; −1 4) / 7
    EXPECT_TRUE(TypeParam::flops(p.symbolic, p.numeric, &p.common));
    EXPECT_EQ(p.common.flops, 2 + 1);  // an update, and a division
}

TYPED_TEST(EveryFlavour, CountsExchangesOfRows)
{
    typename TestFixture::Problem p(this->two_by_two(1e-9, 1, 1, 1));
    p.common.ordering = 2;
    p.common.scale = 0;
    p.factor();
    EXPECT_EQ(p.common.noffdiag, 1);
    p.common.tol = 1e-12;  // counts at factor, not at analyze
    TypeParam::free_numeric(&p.numeric, &p.common);
    p.factor();
    EXPECT_EQ(p.common.noffdiag, 0);
    using Int = typename TypeParam::Int;
    const auto& f = klu::behind<Int, typename TypeParam::Scalar>(p.symbolic, p.numeric);
    EXPECT_EQ(f.lu.factors().symbolic, klu::behind<Int>(p.symbolic).lu);  // not a copy
}

TYPED_TEST(EveryFlavour, ServesSeveralThreadsThatShareEverything)
{
    using Klu = TypeParam;
    typename TestFixture::Problem p(this->circuit(300));
    p.factor();
    const Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>(p.n, 2), x = p.solved(b);
    std::vector<int>         wrong(4, 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int k = 0; k < 50; ++k) {
                Numbers<TypeParam> y = b;
                if (!Klu::solve(p.symbolic, p.numeric, p.n, 1, y.data(), &p.common) || y != x) ++wrong[t];
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, (std::vector<int>{0, 0, 0, 0}));
    EXPECT_EQ(p.common.status, ILUX_KLU_OK);
}

TYPED_TEST(EveryFlavour, RefactorAndSolveAllocateNothingTheSecondTime)
{
    typename TestFixture::Problem p(this->circuit(100));
    p.factor();
    Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>((p.n), 1);
    for (int k = 0; k < 3; ++k) {
        test::AllocationCounter counter;
        p.refactor();
        TypeParam::solve(p.symbolic, p.numeric, p.n, 1, b.data(), &p.common);
        EXPECT_TRUE(k == 0 || counter.count() == 0) << counter.count();
    }
}

TYPED_TEST(EveryFlavour, ItsMemoryFunctionsCount)
{
    typename TypeParam::Common common;
    TypeParam::defaults(&common);
    auto* p = static_cast<double*>(TypeParam::malloc(10, sizeof(double), &common));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(common.memusage, 80);
    p[9] = 7;
    p = static_cast<double*>(TypeParam::realloc(20, 10, sizeof(double), p, &common));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p[9], 7);
    EXPECT_EQ(common.memusage, 160);
    EXPECT_EQ(TypeParam::realloc(SIZE_MAX / 4, 20, sizeof(double), p, &common), p);
    EXPECT_EQ(common.status, ILUX_KLU_TOO_LARGE);
    EXPECT_EQ(TypeParam::malloc(SIZE_MAX, sizeof(double), &common), nullptr);
    EXPECT_EQ(common.status, ILUX_KLU_TOO_LARGE);
    EXPECT_EQ(TypeParam::malloc(1, 0, &common), nullptr);
    EXPECT_EQ(common.status, ILUX_KLU_INVALID);
    EXPECT_EQ(TypeParam::free(p, 20, sizeof(double), &common), nullptr);
    EXPECT_EQ(common.memusage, 0);
    EXPECT_EQ(common.mempeak, 160);
}

}  // namespace
}  // namespace ilux
