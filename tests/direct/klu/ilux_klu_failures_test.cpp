#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/tests/direct/klu/ilux_klu_problem.hpp"

namespace ilux {
namespace {

template <class Klu>
using Numbers = std::vector<typename Klu::Scalar>;

template <class Klu>
using EveryFailure = test::EveryFlavour<Klu>;
TYPED_TEST_SUITE(EveryFailure, test::Flavours, test::FlavourName);

TYPED_TEST(EveryFailure, SingularMatricesAreToldAndForgotten)
{
    for (const int halt : {0, 1}) {
        typename TestFixture::Problem p(this->two_by_two(1, 1, 1, 2));
        p.common.halt_if_singular = halt;
        p.factor();
        ASSERT_NE(p.numeric, nullptr);
        p.Ax = {1, 1, 1, 1};
        EXPECT_EQ(p.refactor(), halt ? 0 : 1);
        EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
        EXPECT_EQ(p.common.numerical_rank, 1);
        EXPECT_GE(p.common.singular_col, 0);
        EXPECT_LT(p.common.singular_col, 2);

        Numbers<TypeParam> x{1, 2};
        EXPECT_EQ(TypeParam::solve(p.symbolic, p.numeric, 2, 1, x.data(), &p.common), halt ? 0 : 1);
        EXPECT_EQ(p.common.status, halt ? ILUX_KLU_SINGULAR : ILUX_KLU_OK);
        EXPECT_TRUE(!halt || (is_nan(x[0]) && is_nan(x[1])));
        EXPECT_FALSE(is_finite(x[0]) && is_finite(x[1]));
        EXPECT_TRUE(TypeParam::rcond(p.symbolic, p.numeric, &p.common));
        EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
        EXPECT_EQ(p.common.rcond, 0);
        EXPECT_TRUE(TypeParam::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
        EXPECT_EQ(p.common.condest, std::numeric_limits<double>::infinity());

        p.Ax = {2, 1, 1, 3};
        EXPECT_TRUE(p.refactor());
        EXPECT_LE(std::abs(p.solved({3, 4})[0] - 1.), 1e-15);
        EXPECT_LE(std::abs(p.solved({3, 4})[1] - 1.), 1e-15);
    }
}

TYPED_TEST(EveryFailure, ASingularFirstFactorizationIsKeptWhereAskedFor)
{
    typename TestFixture::Problem p(this->two_by_two(1, 1, 1, 1));
    p.factor();
    EXPECT_EQ(p.numeric, nullptr);
    EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
    EXPECT_EQ(p.common.numerical_rank, 1);
    p.common.halt_if_singular = 0;
    p.factor();
    ASSERT_NE(p.numeric, nullptr);
    EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
    EXPECT_EQ(static_cast<typename TypeParam::Scalar*>(p.numeric->Udiag)[1], 0.);
    p.Ax = {2, 1, 1, 3};
    EXPECT_TRUE(p.refactor());
    EXPECT_LE(std::abs(p.solved({3, 4})[0] - 1.), 1e-15);
    EXPECT_EQ(p.numeric->lnz, 3);
}

TYPED_TEST(EveryFailure, NumbersThatOverflowAreKeptWhereAskedFor)
{
    for (const int halt : {0, 1}) {
        typename TestFixture::Problem p(this->two_by_two(1e-308, 1e10, 1, 1));  // u_22 = 1 − 1e308 · 1e10
        p.common.halt_if_singular = halt;
        p.common.scale = 0;
        p.common.tol = 0;
        p.common.ordering = 2;
        p.factor();
        EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
        EXPECT_EQ(p.common.singular_col, 1);
        ASSERT_EQ(p.numeric == nullptr, halt == 1);
        if (halt == 1) continue;
        const auto x = p.solved({3, 4});
        EXPECT_FALSE(is_finite(x[0]) && is_finite(x[1]));
        p.Ax = {2, 1, 1, 3};
        EXPECT_TRUE(p.refactor());
        EXPECT_LE(std::abs(p.solved({3, 4})[0] - 1.), 1e-15);
    }
}

/// What an object that forgets to fill a field would find there.
void leave_rubbish_in_freed_memory()
{
    std::vector<std::vector<char>> blocks;
    for (std::size_t size = 16; size <= 8192; size += 16) blocks.emplace_back(size, '\x5a');
}

TYPED_TEST(EveryFailure, ANumericOfASingularMatrixHasNoRubbishInItsFields)
{
    for (const bool structurally : {false, true}) {
        typename TestFixture::Problem p(
            structurally ? CsrMatrix<typename TypeParam::Scalar>::from_triplets(2, 2, std::vector<Index>{0, 0},
                                                                                std::vector<Index>{0, 1},
                                                                                Numbers<TypeParam>{1, 2})
                         : this->two_by_two(1, 1, 1, 1));
        p.common.halt_if_singular = 0;
        p.symbolic = TypeParam::analyze(p.n, p.Ap.data(), p.Ai.data(), &p.common);
        leave_rubbish_in_freed_memory();
        p.factor();
        ASSERT_NE(p.numeric, nullptr);
        EXPECT_EQ(p.numeric->n, 2);
        EXPECT_EQ(p.numeric->nblocks, p.symbolic->nblocks);
        EXPECT_EQ(p.numeric->nzoff, p.symbolic->nzoff);
        const auto&       f = *p.numeric;
        const auto* const u = static_cast<typename TypeParam::Scalar*>(f.Udiag);
        EXPECT_EQ(f.lnz, f.Llen[0] + f.Llen[1] + 2);
        EXPECT_EQ(f.unz, f.Ulen[0] + f.Ulen[1] + 2);
        EXPECT_EQ(f.Offp[2], f.nzoff);
        EXPECT_EQ(std::count(u, u + 2, 0.), 1);
        EXPECT_TRUE(f.Rs[0] > 0 && f.Rs[1] > 0);
        for (Index k = 0; k < 2; ++k) EXPECT_EQ(p.numeric->Pinv[p.numeric->Pnum[k]], k);
    }
}

TYPED_TEST(EveryFailure, VectorsThatLieBeyondMemoryAreTooLarge)
{
    using Klu = TypeParam;
    using Int = typename Klu::Int;
    constexpr Int                 most = std::numeric_limits<Int>::max();
    typename TestFixture::Problem p(this->two_by_two(2, 1, 1, 3));
    p.factor();
    Numbers<TypeParam> x{3, 4};
    EXPECT_TRUE(Klu::solve(p.symbolic, p.numeric, most, 1, x.data(), &p.common)) << "one vector lies nowhere else";
    EXPECT_LE(std::abs(x[0] - 1.), 1e-15);
    if (sizeof(Int) < sizeof(std::ptrdiff_t)) return;  // 2³¹ · 2³¹ numbers may be somewhere
    const Numbers<TypeParam> before = x;
    for (const bool singular : {false, true}) {
        if (singular) {
            p.Ax = {1, 1, 1, 1};
            EXPECT_FALSE(p.refactor());
        }
        for (const auto& [ldim, nrhs] : {std::pair<Int, Int>{most, 2}, {2, most}, {most / 8, 9}, {most, most}})
            for (const auto solve : {Klu::solve, Klu::tsolve}) {
                EXPECT_FALSE(solve(p.symbolic, p.numeric, ldim, nrhs, x.data(), &p.common));
                EXPECT_EQ(p.common.status, ILUX_KLU_TOO_LARGE) << ldim << " " << nrhs;
                EXPECT_EQ(x, before);
            }
    }
}

TYPED_TEST(EveryFailure, ANumberOfThreadsBeyondReasonIsNoFailure)
{
    for (const int threads : {std::numeric_limits<int>::min(), -1, std::numeric_limits<int>::max()}) {
        const test::Threads           some(threads);
        typename TestFixture::Problem p(this->circuit(2000));
        p.factor();
        ASSERT_NE(p.numeric, nullptr);
        EXPECT_TRUE(p.refactor());
        Numbers<TypeParam> X(32 * p.n, 1.);  // enough for threads
        EXPECT_TRUE(TypeParam::solve(p.symbolic, p.numeric, p.n, 32, X.data(), &p.common));
        EXPECT_EQ(Numbers<TypeParam>(X.begin(), X.begin() + p.n), p.solved(Numbers<TypeParam>(p.n, 1.)));
    }
}

TYPED_TEST(EveryFailure, AStructurallySingularMatrixIsAnalysedAndFailsInFactor)
{
    typename TestFixture::Problem p(CsrMatrix<typename TypeParam::Scalar>::from_triplets(2, 2, std::vector<Index>{0, 0},
                                                                                         std::vector<Index>{0, 1},
                                                                                         Numbers<TypeParam>{1, 2}));
    p.factor();
    EXPECT_EQ(p.common.structural_rank, 1);
    EXPECT_EQ(p.numeric, nullptr);
    EXPECT_EQ(p.common.status, ILUX_KLU_SINGULAR);
}

TYPED_TEST(EveryFailure, NanAndInfAreInvalid)
{
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        typename TestFixture::Problem p(this->two_by_two(2, 1, 1, 3));
        p.factor();
        p.Ax[1] = bad;
        EXPECT_FALSE(p.refactor());
        EXPECT_EQ(p.common.status, ILUX_KLU_INVALID);
        EXPECT_EQ(TypeParam::factor(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, &p.common), nullptr);
        EXPECT_EQ(p.common.status, ILUX_KLU_INVALID);
        EXPECT_TRUE(p.solved({3, 4}).empty());
        p.Ax[1] = 1;
        EXPECT_TRUE(p.refactor());
        EXPECT_LE(std::abs(p.solved({3, 4})[0] - 1.), 1e-15);
    }
}

TYPED_TEST(EveryFailure, ArgumentsThatMakeNoSenseAreInvalid)
{
    using Klu = TypeParam;
    using Int = typename Klu::Int;
    typename TestFixture::Problem p(this->two_by_two(2, 1, 1, 3));
    p.factor();
    auto* const c = &p.common;
    auto *const Ap = p.Ap.data(), *const Ai = p.Ai.data();
    const auto invalid = [&](bool failed) {
        EXPECT_EQ(c->status, ILUX_KLU_INVALID);
        c->status = 99;
        return failed;
    };
    EXPECT_TRUE(invalid(Klu::analyze(0, Ap, Ai, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::analyze(-1, Ap, Ai, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::analyze(2, nullptr, Ai, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::analyze(2, Ap, nullptr, c) == nullptr));
    const std::vector<std::vector<Int>> pointers{{1, 2, 4}, {0, 5, 4}, {0, -1, 4}, {0, 2, -4}},
        rows{{0, 2, 0, 1}, {0, -1, 0, 1}};
    for (auto bad : pointers) EXPECT_TRUE(invalid(Klu::analyze(2, bad.data(), Ai, c) == nullptr));
    for (auto bad : rows) EXPECT_TRUE(invalid(Klu::analyze(2, Ap, bad.data(), c) == nullptr));
    for (std::vector<Int> bad : {std::vector<Int>{0, 100000000, 4}, {0, 5, 4}, {1, 2, 4}, {0, -1, 4}})
        EXPECT_TRUE(invalid(Klu::analyze_given(2, bad.data(), Ai, nullptr, nullptr, c) == nullptr));
    for (std::vector<Int> bad : {std::vector<Int>{0, 0}, {0, 2}, {-1, 0}}) {
        EXPECT_TRUE(invalid(Klu::analyze_given(2, Ap, Ai, bad.data(), nullptr, c) == nullptr));
        EXPECT_TRUE(invalid(Klu::analyze_given(2, Ap, Ai, nullptr, bad.data(), c) == nullptr));
    }
    for (const int bad : {-1, 3, 5}) {  // 3 without a function
        c->ordering = bad;
        EXPECT_TRUE(invalid(Klu::analyze(2, Ap, Ai, c) == nullptr));
    }
    c->ordering = 0;

    std::vector<Int> other{1, 0, 0, 1};  // the same matrix in another order: another pattern
    EXPECT_TRUE(invalid(Klu::factor(Ap, other.data(), p.Ax.data(), p.symbolic, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::factor(Ap, Ai, nullptr, p.symbolic, c) == nullptr));
    c->tol = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(invalid(Klu::factor(Ap, Ai, p.Ax.data(), p.symbolic, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::analyze(2, Ap, Ai, c) == nullptr));
    c->tol = 1e-3;
    EXPECT_TRUE(invalid(Klu::factor(Ap, Ai, p.Ax.data(), nullptr, c) == nullptr));
    EXPECT_TRUE(invalid(Klu::refactor(Ap, Ai, p.Ax.data(), p.symbolic, nullptr, c) == 0));
    Numbers<TypeParam> x{3, 4};
    EXPECT_TRUE(invalid(Klu::solve(p.symbolic, p.numeric, 1, 1, x.data(), c) == 0));
    EXPECT_TRUE(invalid(Klu::solve(p.symbolic, p.numeric, 2, -1, x.data(), c) == 0));
    EXPECT_TRUE(invalid(Klu::solve(p.symbolic, p.numeric, 2, 1, nullptr, c) == 0));
    EXPECT_TRUE(invalid(Klu::solve(nullptr, p.numeric, 2, 1, x.data(), c) == 0));
    EXPECT_TRUE(invalid(Klu::tsolve(p.symbolic, nullptr, 2, 1, x.data(), c) == 0));
    EXPECT_TRUE(invalid(Klu::flops(p.symbolic, nullptr, c) == 0));
    EXPECT_TRUE(invalid(Klu::sort(p.symbolic, nullptr, c) == 0));
    EXPECT_TRUE(invalid(Klu::rcond(nullptr, p.numeric, c) == 0));
    EXPECT_FALSE(Klu::solve(p.symbolic, p.numeric, 2, 1, x.data(), nullptr));
    EXPECT_FALSE(Klu::free_numeric(&p.numeric, nullptr));
    EXPECT_EQ(x, (Numbers<TypeParam>{3, 4}));
    EXPECT_TRUE(Klu::solve(p.symbolic, p.numeric, 2, 1, x.data(), c));
    EXPECT_LE(std::abs(x[0] - 1.), 1e-15);
}

TYPED_TEST(EveryFailure, ARefusedRefactorLeavesNothingToSolveWith)
{
    using Klu = TypeParam;
    using Int = typename Klu::Int;
    typename TestFixture::Problem p(this->two_by_two(2, 1, 1, 3));
    p.factor();
    auto* const      c = &p.common;
    std::vector<Int> other{1, 0, 0, 1};  // the same matrix in another order: another pattern
    const auto       refused = [&](int way) {
        if (way == 0) return Klu::refactor(p.Ap.data(), other.data(), p.Ax.data(), p.symbolic, p.numeric, c) == 0;
        if (way == 1) return Klu::refactor(p.Ap.data(), p.Ai.data(), nullptr, p.symbolic, p.numeric, c) == 0;
        if (way == 2) return Klu::refactor(p.Ap.data(), p.Ai.data(), p.Ax.data(), nullptr, p.numeric, c) == 0;
        return Klu::refactor(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, nullptr) == 0;
    };
    for (const int way : {0, 1, 2, 3}) {
        c->status = ILUX_KLU_INVALID;  // which the last way cannot say
        EXPECT_TRUE(refused(way));
        EXPECT_EQ(c->status, ILUX_KLU_INVALID);
        Numbers<TypeParam> x{3, 4};
        EXPECT_FALSE(Klu::solve(p.symbolic, p.numeric, 2, 1, x.data(), c)) << way;
        EXPECT_EQ(c->status, ILUX_KLU_INVALID);
        EXPECT_TRUE(is_nan(x[0]) && is_nan(x[1]));
        EXPECT_TRUE(p.refactor());
        EXPECT_LE(std::abs(p.solved({3, 4})[0] - 1.), 1e-15);
    }
    EXPECT_FALSE(Klu::refactor(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, nullptr, nullptr));
}

TYPED_TEST(EveryFailure, TheSymbolicOfAnotherPatternIsInvalidEverywhere)
{
    using Klu = TypeParam;
    const auto matrix = [](std::vector<Index> i, std::vector<Index> j) {
        const Index n = i.back() + 1;  // as many entries, whatever the order
        return CsrMatrix<typename TypeParam::Scalar>::from_triplets(n, n, i, j, Numbers<TypeParam>{2, 1, 4});
    };
    typename TestFixture::Problem A(matrix({0, 1, 1}, {0, 0, 1}));  // [2 0; 1 4]
    typename TestFixture::Problem others[] = {typename TestFixture::Problem(
                                                  matrix({0, 0, 1}, {0, 1, 1})),  // [2 1; 0 4]
                                              typename TestFixture::Problem(matrix({0, 1, 2}, {0, 1, 2}))};
    A.factor();
    for (auto& B : others) {
        B.factor();
        auto* const c = &B.common;
        const auto  invalid = [&](bool failed) {
            EXPECT_EQ(c->status, ILUX_KLU_INVALID);
            c->status = 99;
            return failed;
        };
        auto *const Ap = B.Ap.data(), *const Ai = B.Ai.data();
        Numbers<TypeParam> x{3, 4, 5};
        EXPECT_TRUE(invalid(!Klu::solve(B.symbolic, A.numeric, B.n, 1, x.data(), c)));
        EXPECT_TRUE(invalid(!Klu::tsolve(B.symbolic, A.numeric, B.n, 1, x.data(), c)));
        EXPECT_EQ(x, (Numbers<TypeParam>{3, 4, 5}));
        EXPECT_TRUE(invalid(!Klu::rcond(B.symbolic, A.numeric, c)));
        EXPECT_TRUE(invalid(!Klu::rgrowth(Ap, Ai, B.Ax.data(), B.symbolic, A.numeric, c)));
        EXPECT_TRUE(invalid(!Klu::condest(Ap, B.Ax.data(), B.symbolic, A.numeric, c)));
        EXPECT_TRUE(invalid(!Klu::flops(B.symbolic, A.numeric, c)));
        EXPECT_TRUE(invalid(!Klu::sort(B.symbolic, A.numeric, c)));
        test::FactorArrays<typename Klu::Int> nothing;
        EXPECT_TRUE(invalid(!Klu::extract(A.numeric, B.symbolic, nothing, c)));
        EXPECT_LE(std::abs(A.solved({2, 5})[1] - 1.), 1e-15);  // none of these touched it

        EXPECT_TRUE(invalid(!Klu::refactor(Ap, Ai, B.Ax.data(), B.symbolic, A.numeric, c)));
        EXPECT_TRUE(A.solved({2, 5}).empty());
        EXPECT_TRUE(A.refactor());
    }
}

TYPED_TEST(EveryFailure, AnotherSymbolicOfTheSamePatternServes)
{
    using Klu = TypeParam;
    typename TestFixture::Problem p(this->circuit(30)), again(this->circuit(30));
    p.factor();
    again.common.ordering = 2;
    again.symbolic = Klu::analyze(again.n, again.Ap.data(), again.Ai.data(), &again.common);
    for (auto& a : p.Ax) a *= 2;
    EXPECT_TRUE(Klu::refactor(p.Ap.data(), p.Ai.data(), p.Ax.data(), again.symbolic, p.numeric, &p.common));
    const Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>((p.n), 1);
    Numbers<TypeParam>       x = b;
    EXPECT_TRUE(Klu::solve(again.symbolic, p.numeric, p.n, 1, x.data(), &p.common));
    EXPECT_LE(test::componentwise_error(p.view(), x, b), 1e-9);  // not refined
}

TEST(IluxKlu, AnOrderBeyondOurIntegersIsTooLarge)
{
    ilux_klu_l_common common;
    ilux_klu_l_defaults(&common);
    std::int64_t       Ap[] = {0}, Ai[] = {0};  // neither is looked into
    const std::int64_t n = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(ilux_klu_l_analyze(n, Ap, Ai, &common), nullptr);
    EXPECT_EQ(common.status, ILUX_KLU_TOO_LARGE);
}

TYPED_TEST(EveryFailure, SaysOfEveryAllocationThatFailsThatMemoryIsOut)
{
    using Klu = TypeParam;
    typename TestFixture::Problem p(this->circuit(12));
    const auto                    memory = [&](bool succeeded) {
        if (!succeeded && p.common.status == ILUX_KLU_OUT_OF_MEMORY) throw OutOfMemory("as it should");
        ASSERT_TRUE(succeeded) << p.common.status;
    };
    Numbers<TypeParam> b = test::random_values<typename TypeParam::Scalar>(3 * static_cast<Index>(p.n), 1);
    EXPECT_GT(test::fail_each_allocation([&] {
                  Klu::free_numeric(&p.numeric, &p.common);
                  Klu::free_symbolic(&p.symbolic, &p.common);
                  ASSERT_EQ(p.common.memusage, 0);
                  p.symbolic = Klu::analyze(p.n, p.Ap.data(), p.Ai.data(), &p.common);
                  memory(p.symbolic != nullptr);
                  p.numeric = Klu::factor(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, &p.common);
                  memory(p.numeric != nullptr);
                  memory(p.refactor());
                  memory(Klu::solve(p.symbolic, p.numeric, p.n, 3, b.data(), &p.common));
                  memory(Klu::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
              }),
              20);
}

}  // namespace
}  // namespace ilux
