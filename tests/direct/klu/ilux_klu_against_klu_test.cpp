// The C interface beside KLU [davis_palamadai_10] itself, call by call, for either integer type and either Scalar.

#include <gtest/gtest.h>
#include <klu.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/direct/klu/ilux_klu_problem.hpp"

namespace ilux::test {
namespace {

ILUX_REAL_FLAVOUR(KluInt, klu, int)
ILUX_REAL_FLAVOUR(KluLong, klu_l, std::int64_t)
ILUX_RAW_COMPLEX_FLAVOUR(RawKluInt, klu_z)
ILUX_RAW_COMPLEX_FLAVOUR(RawKluLong, klu_zl)

template <class OurCalls, class TheirCalls>
struct Beside {
    using Ours = OurCalls;
    using Theirs = TheirCalls;
};

template <class Both>
class AgainstKlu : public testing::Test {
protected:
    using Ours = typename Both::Ours;
    using Theirs = typename Both::Theirs;
    using Int = typename Ours::Int;
    using S = typename Ours::Scalar;

    static CsrMatrix<S> dominant(Index n) { return with_values_of<S>(random_dominant(n, 4, n), n); }
    static CsrMatrix<S> circuit(Index n)
    {
        return with_values_of<S>(gallery::mna_random({.n = n, .decades = 3, .seed = n}), n);
    }

    /// Orders nothing, scales nothing and takes every pivot from the diagonal.
    template <class Klu>
    static void factor_as_given(KluProblem<Klu>& p)
    {
        p.common.btf = 0;
        p.common.scale = 0;
        p.common.tol = 0;
        p.symbolic = Klu::analyze_given(p.n, p.Ap.data(), p.Ai.data(), nullptr, nullptr, &p.common);
        p.factor();
    }
};
using AllCalls = testing::Types<Beside<WithInt, KluInt>, Beside<WithLong, KluLong>,
                                Beside<WithComplexInt, WithComplex<KluInt, RawKluInt>>,
                                Beside<WithComplexLong, WithComplex<KluLong, RawKluLong>>>;
struct CallsName {
    template <class Both>
    static std::string GetName(int number)
    {
        return FlavourName::GetName<typename Both::Ours>(number);
    }
};
TYPED_TEST_SUITE(AgainstKlu, AllCalls, CallsName);

/// Solutions of A x = b, Aᵀ x = b and, of complex values, Aᴴ x = b, for three vectors that lie n + 2 apart.
template <class Klu>
std::vector<std::vector<typename Klu::Scalar>> solutions(KluProblem<Klu>& p, const std::vector<typename Klu::Scalar>& B)
{
    std::vector<std::vector<typename Klu::Scalar>> X(is_complex<typename Klu::Scalar> ? 3 : 2, B);
    EXPECT_TRUE(Klu::solve(p.symbolic, p.numeric, p.n + 2, 3, X[0].data(), &p.common));
    EXPECT_TRUE(Klu::tsolve(p.symbolic, p.numeric, p.n + 2, 3, X[1].data(), &p.common));
    if constexpr (is_complex<typename Klu::Scalar>) {
        EXPECT_TRUE(Klu::atsolve(p.symbolic, p.numeric, p.n + 2, 3, X[2].data(), &p.common));
    }
    return X;
}

/// max |x − y| / max |y|
template <class S>
double difference(const std::vector<S>& x, const std::vector<S>& y)
{
    double most = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        most = std::max(most, std::abs(x[i] - y[i]));
        size = std::max(size, std::abs(y[i]));
    }
    return most / size;
}

TYPED_TEST(AgainstKlu, SolutionsAreTheSame)
{
    using Ours = typename TestFixture::Ours;
    using Theirs = typename TestFixture::Theirs;
    using S = typename TestFixture::S;
    for (const Index n : {1, 2, 33, 200})
        for (const auto& A : {this->dominant(n), this->circuit(n)})
            for (const bool refactored : {false, true}) {
                KluProblem<Ours>   ours(A);
                KluProblem<Theirs> theirs(A);
                ours.factor();
                theirs.factor();
                ASSERT_NE(ours.numeric, nullptr);
                ASSERT_NE(theirs.numeric, nullptr);
                if (refactored) {
                    for (std::size_t p = 0; p < ours.Ax.size(); ++p)
                        theirs.Ax[p] = ours.Ax[p] *= 1 + 0.1 * std::sin(static_cast<double>(p));
                    ASSERT_TRUE(ours.refactor() && theirs.refactor());
                }
                const auto B = random_values<S>(3 * (ours.n + 2), n);
                const auto X = solutions(ours, B), Y = solutions(theirs, B);
                for (std::size_t op = 0; op < X.size(); ++op)
                    EXPECT_LE(difference(X[op], Y[op]), 1e-9) << "n " << n << ", system " << op;
                const auto ldim = ours.n + 2;
                for (Index c = 0; c < 3; ++c)
                    for (Index gap = 1; gap <= 2; ++gap) EXPECT_EQ(X[0][(c + 1) * ldim - gap], B[(c + 1) * ldim - gap]);
                if (X.size() < 3) continue;
                EXPECT_GT(difference(X[2], X[1]), 0.01) << "nothing tells transpose and adjoint apart";
            }
}

TYPED_TEST(AgainstKlu, FactorsAndMeasuresOfTheSamePivotsAreTheSame)
{
    using Ours = typename TestFixture::Ours;
    using Theirs = typename TestFixture::Theirs;
    using Int = typename TestFixture::Int;
    for (const Index n : {1, 2, 33, 100}) {
        const auto         A = this->dominant(n);
        KluProblem<Ours>   p(A);
        KluProblem<Theirs> q(A);
        this->factor_as_given(p);
        this->factor_as_given(q);
        ASSERT_TRUE(p.numeric != nullptr && q.numeric != nullptr);
        EXPECT_EQ(p.common.noffdiag, q.common.noffdiag);
        EXPECT_EQ(p.numeric->lnz, q.numeric->lnz);
        EXPECT_EQ(p.numeric->unz, q.numeric->unz);
        EXPECT_TRUE(Ours::sort(p.symbolic, p.numeric, &p.common) && Theirs::sort(q.symbolic, q.numeric, &q.common));
        FactorArrays<Int> F(*p.numeric), G(*q.numeric);
        EXPECT_TRUE(Ours::extract(p.numeric, p.symbolic, F, &p.common));
        EXPECT_TRUE(Theirs::extract(q.numeric, q.symbolic, G, &q.common));
        EXPECT_TRUE(F.Lp == G.Lp && F.Li == G.Li && F.Up == G.Up && F.Ui == G.Ui);
        EXPECT_TRUE(F.P == G.P && F.Q == G.Q && F.R == G.R && F.Rs == G.Rs);
        EXPECT_LE(difference(F.Lx, G.Lx), 1e-13);
        EXPECT_LE(difference(F.Ux, G.Ux), 1e-13);
        if (is_complex<typename TestFixture::S>) {
            for (std::size_t l = 0; l < F.Lz.size(); ++l) EXPECT_NEAR(F.Lz[l], G.Lz[l], 1e-13);
            EXPECT_LE(difference(F.Uz, G.Uz), 1e-13);
        }

        EXPECT_TRUE(Ours::rcond(p.symbolic, p.numeric, &p.common) && Theirs::rcond(q.symbolic, q.numeric, &q.common));
        EXPECT_NEAR(p.common.rcond, q.common.rcond, 1e-12 * q.common.rcond);
        EXPECT_TRUE(Ours::flops(p.symbolic, p.numeric, &p.common) && Theirs::flops(q.symbolic, q.numeric, &q.common));
        EXPECT_EQ(p.common.flops, q.common.flops);
        EXPECT_TRUE(Ours::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
        EXPECT_TRUE(Theirs::rgrowth(q.Ap.data(), q.Ai.data(), q.Ax.data(), q.symbolic, q.numeric, &q.common));
        EXPECT_NEAR(p.common.rgrowth, q.common.rgrowth, 1e-12 * q.common.rgrowth);
        EXPECT_TRUE(Ours::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, &p.common));
        EXPECT_TRUE(Theirs::condest(q.Ap.data(), q.Ax.data(), q.symbolic, q.numeric, &q.common));
        EXPECT_GE(p.common.condest, q.common.condest / 3) << "n " << n;
        EXPECT_LE(p.common.condest, q.common.condest * 3) << "n " << n;
    }
}

/// rcond, rgrowth and condest of what is factored, and what the last factor or refactor left in common.
template <class Klu>
std::vector<double> measures(KluProblem<Klu>& p)
{
    auto* const c = &p.common;
    EXPECT_TRUE(Klu::rcond(p.symbolic, p.numeric, c));
    EXPECT_TRUE(Klu::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, c));
    EXPECT_TRUE(Klu::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, c));
    return {c->rcond, c->rgrowth, c->condest, double(c->numerical_rank), double(c->singular_col)};
}

TYPED_TEST(AgainstKlu, MeasuresAreTheSameAfterRowsOfOtherUnitsWereRefactored)
{
    using Ours = typename TestFixture::Ours;
    using Theirs = typename TestFixture::Theirs;
    for (const int scale : {1, 2})
        for (const Index n : {2, 33, 100}) {
            const auto         A = this->dominant(n);
            KluProblem<Ours>   p(A);
            KluProblem<Theirs> q(A);
            this->factor_as_given(p);  // the symbolic objects
            this->factor_as_given(q);
            Ours::free_numeric(&p.numeric, &p.common);
            Theirs::free_numeric(&q.numeric, &q.common);
            p.common.scale = q.common.scale = scale;
            p.factor();
            q.factor();
            for (std::size_t e = 0; e < p.Ax.size(); ++e)
                q.Ax[e] = p.Ax[e] *= std::pow(10., static_cast<double>(p.Ai[e] * 7 % 25) - 12);
            ASSERT_TRUE(p.refactor() && q.refactor());
            const auto ours = measures(p), theirs = measures(q);
            EXPECT_NEAR(ours[0], theirs[0], 1e-10 * theirs[0]) << "rcond, n " << n << ", scale " << scale;
            EXPECT_NEAR(ours[1], theirs[1], 1e-10 * theirs[1]) << "rgrowth, n " << n << ", scale " << scale;
            EXPECT_GE(ours[2], theirs[2] / 3) << "condest, n " << n;
            EXPECT_LE(ours[2], theirs[2] * 3) << "condest, n " << n;
            EXPECT_EQ(ours[3], theirs[3]);
            EXPECT_EQ(ours[4], theirs[4]);
        }
}

/// Offsets of fields that a program compiled with KLU's own header reads; those between them follow.
#define ILUX_SAME_PLACE(ours, theirs, field) static_assert(offsetof(ours, field) == offsetof(theirs, field))
#define ILUX_SAME_LAYOUT(klu)                                                \
    static_assert(sizeof(ilux_##klu##_common) == sizeof(klu##_common));      \
    static_assert(sizeof(ilux_##klu##_symbolic) == sizeof(klu##_symbolic));  \
    static_assert(sizeof(ilux_##klu##_numeric) == sizeof(klu##_numeric));    \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, scale);               \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, user_order);          \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, halt_if_singular);    \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, status);              \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, nrealloc);            \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, structural_rank);     \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, noffdiag);            \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, rcond);               \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, condest);             \
    ILUX_SAME_PLACE(ilux_##klu##_common, klu##_common, mempeak);             \
    ILUX_SAME_PLACE(ilux_##klu##_symbolic, klu##_symbolic, Lnz);             \
    ILUX_SAME_PLACE(ilux_##klu##_symbolic, klu##_symbolic, P);               \
    ILUX_SAME_PLACE(ilux_##klu##_symbolic, klu##_symbolic, R);               \
    ILUX_SAME_PLACE(ilux_##klu##_symbolic, klu##_symbolic, structural_rank); \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, max_unz_block);     \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Pinv);              \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Ulen);              \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Udiag);             \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Rs);                \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Iwork);             \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, Offx);              \
    ILUX_SAME_PLACE(ilux_##klu##_numeric, klu##_numeric, nzoff)
ILUX_SAME_LAYOUT(klu);
#if KLU_MAIN_VERSION < 2
ILUX_SAME_LAYOUT(klu_l);
#endif

TYPED_TEST(AgainstKlu, WhatAProgramMayReadInANumericIsThere)
{
    using S = typename TestFixture::S;
    using Ours = typename TestFixture::Ours;
    const auto       A = CsrMatrix<S>::from_arrays(3, 3, {0, 3, 5, 7}, {0, 1, 2, 1, 2, 1, 2}, {2, 5, 7, 4, 1, 1, 3});
    KluProblem<Ours> ours(A);
    KluProblem<typename TestFixture::Theirs> theirs(A);
    ours.common.scale = theirs.common.scale = 0;
    ours.factor();
    theirs.factor();
    for (const bool refactored : {false, true}) {
        if (refactored) {
            for (auto& v : ours.Ax) v *= 3.;
            theirs.Ax = ours.Ax;
            ASSERT_TRUE(ours.refactor() && theirs.refactor());
        }
        const auto& p = *ours.numeric;
        const auto& q = *theirs.numeric;
        ASSERT_EQ(p.nblocks, 2);
        ASSERT_EQ(p.nzoff, 2);
        const auto equal = [](const auto* a, const auto* b, std::size_t count) { return std::equal(a, a + count, b); };
        EXPECT_TRUE(equal(p.Pnum, q.Pnum, 3) && equal(p.Pinv, q.Pinv, 3));
        for (int k = 0; k < 3; ++k)
            if (ours.symbolic->R[1] == 1 ? k > 0 : k < 2) {  // KLU leaves blocks of one row out
                EXPECT_EQ(p.Llen[k], q.Llen[k]);
                EXPECT_EQ(p.Ulen[k], q.Ulen[k]);
            }
        EXPECT_TRUE(equal(p.Offp, q.Offp, 4));
        const auto* const u = static_cast<const S*>(p.Udiag);
        EXPECT_TRUE(equal(u, static_cast<const S*>(q.Udiag), 3)) << u[0] << u[1] << u[2];
        S sum = 0, other = 0;
        for (int e = 0; e < 2; ++e) {
            sum += static_cast<const S*>(p.Offx)[e];
            other += static_cast<const S*>(q.Offx)[e];
        }
        EXPECT_EQ(sum, other);
    }
}

TYPED_TEST(AgainstKlu, SingularMatricesAreToldAlike)
{
    using Ours = typename TestFixture::Ours;
    using Theirs = typename TestFixture::Theirs;
    using S = typename TestFixture::S;
    const auto matrix = [](const std::vector<double>& dense) {
        return with_values_of<S>(CsrMatrix<double>::from_arrays(3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, dense),
                                 0);
    };
    const auto unturned = [](const std::vector<double>& dense) {
        return CsrMatrix<S>::from_arrays(3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {dense.begin(), dense.end()});
    };
    for (const auto& A : {unturned({1, 2, 3, 1, 2, 4, 1, 2, 6}), unturned({1, 2, 4, 2, 5, 8, 3, 7, 12}),
                          matrix({0, 1, 2, 0, 3, 4, 0, 5, 6}), matrix({1, 0, 2, 3, 0, 4, 5, 0, 6})}) {
        KluProblem<Ours>   p(A);
        KluProblem<Theirs> q(A);
        p.common.btf = q.common.btf = 0;
        p.common.ordering = q.common.ordering = 2;
        p.factor();
        q.factor();
        EXPECT_EQ(p.numeric, nullptr);
        EXPECT_EQ(q.numeric, nullptr);
        EXPECT_EQ(p.common.status, q.common.status);
        EXPECT_EQ(p.common.numerical_rank, q.common.numerical_rank);
        EXPECT_EQ(p.common.singular_col, q.common.singular_col);
    }
    const auto         A = CsrMatrix<S>::from_arrays(2, 2, {0, 2, 2}, {0, 1}, {1, 2});  // an empty row
    KluProblem<Ours>   p(A);
    KluProblem<Theirs> q(A);
    p.factor();
    q.factor();
    EXPECT_EQ(p.common.structural_rank, q.common.structural_rank);
    EXPECT_EQ(p.common.status, q.common.status);
    EXPECT_EQ(p.numeric, nullptr);
    EXPECT_EQ(q.numeric, nullptr);
}

/// Whether each of these calls, of which none makes sense, is refused as INVALID.
template <class Klu>
std::vector<bool> refusals()
{
    using S = typename Klu::Scalar;
    KluProblem<Klu> p(CsrMatrix<S>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3}));
    p.factor();
    auto* const c = &p.common;
    auto *const Ap = p.Ap.data(), *const Ai = p.Ai.data();
    S* const          Ax = p.Ax.data();
    std::vector<S>    x(4, S(1));
    std::vector<bool> all;
    const auto        refused = [&](bool failed) { all.push_back(failed && c->status == KLU_INVALID); };
    refused(Klu::factor(nullptr, Ai, Ax, p.symbolic, c) == nullptr);
    refused(Klu::factor(Ap, nullptr, Ax, p.symbolic, c) == nullptr);
    refused(Klu::factor(Ap, Ai, nullptr, p.symbolic, c) == nullptr);
    refused(Klu::factor(Ap, Ai, Ax, nullptr, c) == nullptr);
    refused(!Klu::solve(nullptr, p.numeric, 2, 1, x.data(), c));
    refused(!Klu::solve(p.symbolic, nullptr, 2, 1, x.data(), c));
    refused(!Klu::solve(p.symbolic, p.numeric, 1, 1, x.data(), c));
    refused(!Klu::solve(p.symbolic, p.numeric, 2, -1, x.data(), c));
    refused(!Klu::solve(p.symbolic, p.numeric, 2, 1, nullptr, c));
    refused(!Klu::tsolve(nullptr, p.numeric, 2, 1, x.data(), c));
    refused(!Klu::tsolve(p.symbolic, nullptr, 2, 1, x.data(), c));
    refused(!Klu::tsolve(p.symbolic, p.numeric, 1, 1, x.data(), c));
    refused(!Klu::tsolve(p.symbolic, p.numeric, 2, -1, x.data(), c));
    refused(!Klu::tsolve(p.symbolic, p.numeric, 2, 1, nullptr, c));
    refused(!Klu::rcond(nullptr, p.numeric, c));
    refused(!Klu::rgrowth(nullptr, Ai, Ax, p.symbolic, p.numeric, c));
    refused(!Klu::rgrowth(Ap, Ai, Ax, nullptr, p.numeric, c));
    refused(!Klu::condest(nullptr, Ax, p.symbolic, p.numeric, c));
    refused(!Klu::condest(Ap, Ax, nullptr, p.numeric, c));
    refused(!Klu::refactor(Ap, Ai, nullptr, p.symbolic, p.numeric, c));
    refused(!Klu::refactor(Ap, Ai, Ax, p.symbolic, nullptr, c));
    EXPECT_EQ(x, std::vector<S>(4, S(1)));
    return all;
}

TYPED_TEST(AgainstKlu, SenselessArgumentsAreRefusedAlike)
{
    const auto ours = refusals<typename TestFixture::Ours>(), theirs = refusals<typename TestFixture::Theirs>();
    EXPECT_EQ(ours, theirs);
    EXPECT_EQ(ours, std::vector<bool>(ours.size(), true));
}

TYPED_TEST(AgainstKlu, AMissingNumericIsSingularToTheMeasures)
{
    using S = typename TestFixture::S;
    const auto found = []<class Klu>(KluProblem<Klu>&& p) {
        p.symbolic = Klu::analyze(p.n, p.Ap.data(), p.Ai.data(), &p.common);
        std::vector<double> all;
        all.push_back(Klu::rcond(p.symbolic, nullptr, &p.common));
        all.insert(all.end(), {p.common.rcond, double(p.common.status)});
        all.push_back(Klu::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, nullptr, &p.common));
        all.insert(all.end(), {p.common.rgrowth, double(p.common.status)});
        all.push_back(Klu::condest(p.Ap.data(), p.Ax.data(), p.symbolic, nullptr, &p.common));
        all.insert(all.end(), {p.common.condest, double(p.common.status)});
        return all;
    };
    const auto A = CsrMatrix<S>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3});
    EXPECT_EQ(found(KluProblem<typename TestFixture::Ours>(A)), found(KluProblem<typename TestFixture::Theirs>(A)));
}

/// What scale says of a 3×3 matrix with values 1, −2, 3, 4 turned by right angles, in columns of 2, 1, 1.
template <class Klu>
std::vector<double> scaled(typename Klu::Int how, std::vector<typename Klu::Int> Ap, std::vector<typename Klu::Int> Ai,
                           bool with_work)
{
    using S = typename Klu::Scalar;
    using Int = typename Klu::Int;
    typename Klu::Common common;
    Klu::defaults(&common);
    std::vector<S> Ax{1, -2, 3, 4};
    if constexpr (is_complex<S>) Ax = {{3, 4}, {0, -2}, {1, 1}, {-5, 12}};
    std::vector<Int>    W(3, 7);
    std::vector<double> Rs(3, -9);
    const double        done =
        Klu::scale(how, 3, Ap.data(), Ai.data(), Ax.data(), Rs.data(), with_work ? W.data() : nullptr, &common);
    if (done == 0) Rs.clear();  // KLU leaves half of the work there, we what was there
    Rs.insert(Rs.end(), {done, double(common.status)});
    return Rs;
}

TYPED_TEST(AgainstKlu, ScalesAreTheSame)
{
    using Int = typename TestFixture::Int;
    const std::vector<std::vector<Int>> pointers{{0, 2, 3, 4}, {0, 4, 4, 4}, {0, 2, 1, 4}, {1, 2, 3, 4}},
        rows{{0, 1, 0, 1}, {2, 1, 0, 2}, {0, 0, 0, 1}, {0, 3, 0, 1}, {0, -1, 0, 1}};
    for (const Int how : {-1, 0, 1, 2, 3})
        for (const auto& Ap : pointers)
            for (const auto& Ai : rows)
                for (const bool work : {false, true}) {
                    const auto ours = scaled<typename TestFixture::Ours>(how, Ap, Ai, work),
                               theirs = scaled<typename TestFixture::Theirs>(how, Ap, Ai, work);
                    ASSERT_EQ(ours.size(), theirs.size());
                    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_DOUBLE_EQ(ours[i], theirs[i]) << how;
                }
}

}  // namespace
}  // namespace ilux::test
