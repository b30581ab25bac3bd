// Singular matrices with halt_if_singular = 0, call by call beside KLU [davis_palamadai_10] itself; and P A Q = L U + F
// of them.

#include <gtest/gtest.h>
#include <klu.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ilux/tests/direct/klu/ilux_klu_problem.hpp"

namespace ilux::test {
namespace {

ILUX_REAL_FLAVOUR(SuiteInt, klu, int)
ILUX_REAL_FLAVOUR(SuiteLong, klu_l, std::int64_t)
ILUX_RAW_COMPLEX_FLAVOUR(SuiteRawInt, klu_z)
ILUX_RAW_COMPLEX_FLAVOUR(SuiteRawLong, klu_zl)

template <class OurCalls, class TheirCalls>
struct Singular {
    using Ours = OurCalls;
    using Theirs = TheirCalls;
};

/// Values are small powers of two times 1, -1 or, of complex numbers, i and -i: what is eliminated here is eliminated
/// exactly, in any order, and what is singular gives pivots that are 0 and not merely small.
template <class S>
class SingularMatrices {
public:
    explicit SingularMatrices(std::uint64_t seed) : random_(seed) {}

    Index up_to(Index most) { return std::uniform_int_distribution<Index>(0, most)(random_); }
    S     value()
    {
        const double size = std::ldexp(up_to(1) ? 1. : -1., up_to(3) - 1);
        if constexpr (is_complex<S>) return up_to(1) ? S(size) : S(0, size);
        else return size;
    }
    using Dense = std::vector<std::vector<S>>;

    /// L U with unit L and some u_kk = 0: column k has nothing to offer when its turn comes.
    Dense product(Index n)
    {
        Dense L(n, std::vector<S>(n)), U = L, A = L;
        for (Index i = 0; i < n; ++i) {
            L[i][i] = 1;
            U[i][i] = value();
            for (Index j = 0; j < n; ++j) {
                if (up_to(2)) continue;
                if (j < i) L[i][j] = up_to(1) ? 1 : -1;
                if (j > i) U[i][j] = value();
            }
        }
        for (Index some = up_to(1) + 1; some > 0; --some) {
            const Index k = up_to(n - 1);
            U[k][k] = 0;
        }
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j)
                for (Index k = 0; k < n; ++k) A[i][j] += L[i][k] * U[k][j];
        return A;
    }
    /// Its pattern allows no transversal: n − k + 1 columns have entries in n − k rows only.
    Dense narrow(Index n)
    {
        Dense       A(n, std::vector<S>(n));
        const Index rows = up_to(n - 1), columns = std::min<Index>(n, rows + 1);
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j)
                if ((j >= columns || i < rows) && (i == j || up_to(2) == 0)) A[i][j] = value();
        return A;
    }
    Dense empty_row(Index n)
    {
        Dense       A(n, std::vector<S>(n));
        const Index empty = up_to(n - 1);
        for (Index i = 0; i < n; ++i)
            if (i != empty) A[i][i] = value(), A[i][up_to(n - 1)] += value();
        return A;
    }
    /// Blocks on the diagonal, some of them singular, and entries above.
    Dense blocks(Index n)
    {
        Dense A(n, std::vector<S>(n));
        for (Index first = 0; first < n;) {
            const Index size = std::min<Index>(1 + up_to(3), n - first);
            const auto  B = up_to(1) ? product(size) : empty_row(size);
            for (Index i = 0; i < size; ++i) std::copy(B[i].begin(), B[i].end(), A[first + i].begin() + first);
            for (Index i = 0; i < first; ++i)
                if (up_to(3) == 0) A[i][first + up_to(size - 1)] = value();
            first += size;
        }
        return A;
    }
    /// @param zeros  whether some that are 0 are entries, too
    CsrMatrix<S> sparse(const Dense& A, bool zeros)
    {
        const auto          n = static_cast<Index>(A.size());
        std::vector<Offset> ptr{0};
        std::vector<Index>  col;
        std::vector<S>      val;
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < n; ++j)
                if (A[i][j] != S(0) || (zeros && up_to(1))) col.push_back(j), val.push_back(A[i][j]);
            ptr.push_back(std::ssize(col));
        }
        return CsrMatrix<S>::from_arrays(n, n, std::move(ptr), std::move(col), std::move(val));
    }
    CsrMatrix<S> next()
    {
        const Index n = 1 + up_to(7);
        const bool  zeros = up_to(1) != 0;
        switch (up_to(3)) {
            case 0:
                return sparse(product(n), zeros);
            case 1:
                return sparse(narrow(n), zeros);
            case 2:
                return sparse(empty_row(n), zeros);
            default:
                return sparse(blocks(n), zeros);
        }
    }

private:
    std::mt19937_64 random_;
};

template <class S>
bool any_not_finite(const std::vector<S>& x)
{
    return std::ranges::any_of(x, [](S v) { return !std::isfinite(std::abs(v)); });
}

/// Which pivot was the first bad one, and its column of A.
template <class Klu>
std::pair<std::int64_t, std::int64_t> first_bad(const KluProblem<Klu>& p)
{
    return {p.common.numerical_rank, p.common.singular_col};
}

/// One line a call: what it returned, its status, and what it says in common. KLU overlooks zero pivots in factor,
/// unless a column has no entry left for one, and in refactor those of blocks of one row: so these two are told without
/// a status.
template <class Klu>
std::string story(KluProblem<Klu>& p)
{
    using S = typename Klu::Scalar;
    auto* const c = &p.common;
    std::string told;
    const auto  tell = [&](const char* call, auto returned) {
        told += std::string(call) + " " + std::to_string(returned) + " status " + std::to_string(c->status) + "\n";
    };
    for (const bool refactored : {false, true}) {
        if (refactored) told += "refactor " + std::to_string(p.refactor()) + "\n";
        tell("sort", Klu::sort(p.symbolic, p.numeric, c));
        FactorArrays<typename Klu::Int> F(*p.numeric);
        tell("extract", Klu::extract(p.numeric, p.symbolic, F, c));
        for (const bool transposed : {false, true}) {
            std::vector<S> x(3 * (p.n + 1), S(1));
            const auto     solve = transposed ? Klu::tsolve : Klu::solve;
            tell("solve", solve(p.symbolic, p.numeric, p.n + 1, 3, x.data(), c));
            told += any_not_finite(x) ? "not finite\n" : "finite\n";
        }
        tell("rcond", Klu::rcond(p.symbolic, p.numeric, c));
        told += std::to_string(c->rcond) + "\n";
        tell("condest", Klu::condest(p.Ap.data(), p.Ax.data(), p.symbolic, p.numeric, c));
        told += std::to_string(c->condest) + "\n";
        tell("rgrowth", Klu::rgrowth(p.Ap.data(), p.Ai.data(), p.Ax.data(), p.symbolic, p.numeric, c));
        tell("flops", Klu::flops(p.symbolic, p.numeric, c));
    }
    return told;
}

template <class Both>
class SingularKlu : public testing::Test {
protected:
    using S = typename Both::Ours::Scalar;

    /// Calls see(matrix, btf, ordering, scale).
    template <class See>
    static void for_each_matrix(See&& see)
    {
        const std::vector<int> scales = is_complex<S> ? std::vector{0} : std::vector{0, 2};  // a modulus is rounded
        SingularMatrices<S>    matrices(7);
        for (int count = 0; count < 300; ++count) {
            const auto A = matrices.next();
            for (const int btf : {0, 1})
                for (const int ordering : {0, 2})
                    for (const int scale : scales) {
                        SCOPED_TRACE(testing::Message() << "matrix " << count << ", n " << A.rows() << ", btf " << btf
                                                        << ", ordering " << ordering << ", scale " << scale);
                        see(A, btf, ordering, scale);
                        if (testing::Test::HasFailure()) return;
                    }
        }
    }
    template <class Klu>
    static void set(KluProblem<Klu>& p, int btf, int ordering, int scale)
    {
        p.common.btf = btf;
        p.common.ordering = ordering;
        p.common.scale = scale;
        p.common.halt_if_singular = 0;
    }
};
using SingularCalls = testing::Types<Singular<WithInt, SuiteInt>, Singular<WithLong, SuiteLong>,
                                     Singular<WithComplexInt, WithComplex<SuiteInt, SuiteRawInt>>,
                                     Singular<WithComplexLong, WithComplex<SuiteLong, SuiteRawLong>>>;
struct SingularName {
    template <class Both>
    static std::string GetName(int number)
    {
        return FlavourName::GetName<typename Both::Ours>(number);
    }
};
TYPED_TEST_SUITE(SingularKlu, SingularCalls, SingularName);

TYPED_TEST(SingularKlu, EveryCallEndsAsKlusDoes)
{
    this->for_each_matrix([&](const auto& A, int btf, int ordering, int scale) {
        KluProblem<typename TypeParam::Ours>   ours(A);
        KluProblem<typename TypeParam::Theirs> theirs(A);
        this->set(ours, btf, ordering, scale);
        this->set(theirs, btf, ordering, scale);
        theirs.miscounts = true;
        ours.factor();
        theirs.factor();
        ASSERT_TRUE(ours.numeric != nullptr && theirs.numeric != nullptr);
        EXPECT_EQ(ours.common.status, KLU_SINGULAR);
        EXPECT_LT(ours.common.numerical_rank, ours.n);
        EXPECT_EQ(story(ours), story(theirs));
        ours.common.halt_if_singular = 1;
        EXPECT_FALSE(ours.refactor());
        EXPECT_EQ(ours.common.status, KLU_SINGULAR);
    });
}

TYPED_TEST(SingularKlu, WhereItHaltsIsWhereItGoesOn)
{
    this->for_each_matrix([&](const auto& A, int btf, int ordering, int scale) {
        KluProblem<typename TypeParam::Ours>   goes_on(A), halts(A);
        KluProblem<typename TypeParam::Theirs> theirs(A);
        this->set(goes_on, btf, ordering, scale);
        this->set(halts, btf, ordering, scale);
        this->set(theirs, btf, ordering, scale);
        halts.common.halt_if_singular = theirs.common.halt_if_singular = 1;
        goes_on.factor();
        halts.factor();
        theirs.factor();
        EXPECT_TRUE(halts.numeric == nullptr && theirs.numeric == nullptr);
        EXPECT_EQ(halts.common.status, theirs.common.status);
        EXPECT_EQ(first_bad(goes_on), first_bad(halts));
        const bool same_order = btf == 0 && ordering == 2;
        EXPECT_TRUE(!same_order || first_bad(halts) == first_bad(theirs));
    });
}

TYPED_TEST(SingularKlu, FactorsMultiplyToTheMatrix)
{
    using Klu = typename TypeParam::Ours;
    using S = typename Klu::Scalar;
    this->for_each_matrix([&](const auto& A, int btf, int ordering, int scale) {
        KluProblem<Klu> p(A);
        this->set(p, btf, ordering, scale);
        p.factor();
        ASSERT_NE(p.numeric, nullptr);
        FactorArrays<typename Klu::Int> F(*p.numeric);
        ASSERT_TRUE(Klu::extract(p.numeric, p.symbolic, F, &p.common));
        const auto                  n = static_cast<std::size_t>(p.n);
        std::vector<std::vector<S>> rest(n, std::vector<S>(n));
        std::vector<std::size_t>    new_row(n), new_col(n);
        for (std::size_t k = 0; k < n; ++k) new_row[F.P[k]] = new_col[F.Q[k]] = k;
        for (std::size_t j = 0; j < n; ++j)
            for (auto e = p.Ap[j]; e < p.Ap[j + 1]; ++e) rest[new_row[p.Ai[e]]][new_col[j]] += p.Ax[e];
        const auto number = [](double re, double im) {
            if constexpr (is_complex<S>) return S(re, im);
            else return S(re + 0 * im);
        };
        std::vector<S> column(n), pivots(n);
        for (std::size_t k = 0; k < n; ++k) {
            std::fill(column.begin(), column.end(), S(0));
            for (auto e = F.Fp[k]; e < F.Fp[k + 1]; ++e) column[F.Fi[e]] += number(F.Fx[e], F.Fz[e]);
            for (auto u = F.Up[k]; u < F.Up[k + 1]; ++u) {
                const S u_ik = number(F.Ux[u], F.Uz[u]);
                if (static_cast<std::size_t>(F.Ui[u]) == k) pivots[k] = u_ik;
                for (auto l = F.Lp[F.Ui[u]]; l < F.Lp[F.Ui[u] + 1]; ++l)
                    column[F.Li[l]] += number(F.Lx[l], F.Lz[l]) * u_ik;
            }
            for (std::size_t i = 0; i < n; ++i) rest[i][k] -= F.Rs[i] * column[i];
        }
        for (const auto& row : rest)
            for (const S v : row) EXPECT_LE(std::abs(v), 64 * n * eps);
        ASSERT_LT(p.common.numerical_rank, p.n);
        EXPECT_EQ(std::ranges::find(pivots, S(0)) - pivots.begin(), p.common.numerical_rank);
        EXPECT_EQ(F.Q[p.common.numerical_rank], p.common.singular_col);
        EXPECT_TRUE(std::equal(pivots.begin(), pivots.end(), static_cast<const S*>(p.numeric->Udiag)));
    });
}

TYPED_TEST(SingularKlu, ARefactorMendsIt)
{
    using Klu = typename TypeParam::Ours;
    using S = typename Klu::Scalar;
    for (const Index n : {2, 33, 200}) {
        const auto      A = with_values_of<S>(gallery::mna_random({.n = n, .decades = 3, .seed = n}), n);
        KluProblem<Klu> p(A);
        const auto      values = p.Ax;
        p.common.halt_if_singular = 0;
        std::fill(p.Ax.begin(), p.Ax.end(), S(0));  // of programs that have no values yet
        p.factor();
        ASSERT_NE(p.numeric, nullptr);
        EXPECT_EQ(p.common.status, KLU_SINGULAR);
        EXPECT_EQ(p.common.numerical_rank, 0);
        p.Ax = values;
        ASSERT_TRUE(p.refactor());
        EXPECT_EQ(p.common.status, KLU_OK);
        const auto b = random_values<S>(p.n, n);
        const auto x = p.solved(b);
        ASSERT_FALSE(x.empty()) << p.common.status;
        EXPECT_LE(componentwise_error(p.view(), x, b), 1e-9) << "n " << n;
    }
}

TYPED_TEST(SingularKlu, ARefactorThatGoesOnKeepsThePattern)
{
    using Klu = typename TypeParam::Ours;
    using S = typename Klu::Scalar;
    KluProblem<Klu> p(with_values_of<S>(gallery::mna_random({.n = 33, .decades = 3, .seed = 3})));
    p.common.halt_if_singular = 0;
    p.factor();
    ASSERT_NE(p.numeric, nullptr);
    FactorArrays<typename Klu::Int> before(*p.numeric), after(*p.numeric);
    ASSERT_TRUE(Klu::extract(p.numeric, p.symbolic, before, &p.common));
    std::fill(p.Ax.begin() + p.Ap[5], p.Ax.begin() + p.Ap[6], S(0));  // an empty column
    ASSERT_TRUE(p.refactor());
    EXPECT_EQ(p.common.status, KLU_SINGULAR);
    EXPECT_EQ(p.common.singular_col, 5);
    ASSERT_TRUE(Klu::extract(p.numeric, p.symbolic, after, &p.common));
    EXPECT_TRUE(before.Lp == after.Lp && before.Li == after.Li && before.Up == after.Up && before.Ui == after.Ui);
    EXPECT_TRUE(before.P == after.P && before.Q == after.Q && before.Rs == after.Rs);
    EXPECT_EQ(static_cast<const S*>(p.numeric->Udiag)[p.common.numerical_rank], S(0));
    std::vector<S> x(p.n, S(1));
    EXPECT_TRUE(Klu::solve(p.symbolic, p.numeric, p.n, 1, x.data(), &p.common));
    EXPECT_TRUE(any_not_finite(x));
}

/// What malloc and realloc say of counts that an Int cannot hold, and of such as no memory can.
template <class Klu>
std::string refusals_of_memory()
{
    typename Klu::Common c;
    Klu::defaults(&c);
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<typename Klu::Int>::max());
    std::string    told;
    void*          p = Klu::malloc(3, 1, &c);
    for (const auto& [n, size] : {std::pair<std::size_t, std::size_t>{most, 1}, {most + 1, 1}, {SIZE_MAX, 8}}) {
        told += std::to_string(Klu::malloc(n, size, &c) == nullptr) + " " + std::to_string(c.status) + "\n";
        told += std::to_string(Klu::realloc(n, 3, size, p, &c) == p) + " " + std::to_string(c.status) + "\n";
        told +=
            std::to_string(Klu::realloc(n, 3, size, nullptr, &c) == nullptr) + " " + std::to_string(c.status) + "\n";
    }
    Klu::free(p, 3, 1, &c);
    return told + std::to_string(c.memusage);
}

TYPED_TEST(SingularKlu, CountsBeyondTheirIntegersAreRefusedAlike)
{
    EXPECT_EQ(refusals_of_memory<typename TypeParam::Ours>(), refusals_of_memory<typename TypeParam::Theirs>());
}

/// Objects that KLU made, and copies of our own, in our calls.
TYPED_TEST(SingularKlu, ObjectsThatAreNotOursAreInvalid)
{
    using Klu = typename TypeParam::Ours;
    using S = typename Klu::Scalar;
    using Symbolic = typename Klu::Symbolic;
    using Numeric = typename Klu::Numeric;
    for (const Index n : {1, 2, 40}) {
        const auto                             A = with_values_of<S>(random_dominant(n, 3, n));
        KluProblem<typename TypeParam::Theirs> theirs(A);
        KluProblem<Klu>                        ours(A);
        theirs.factor();
        ours.factor();
        Symbolic    symbolic_copy = *ours.symbolic;
        Numeric     numeric_copy = *ours.numeric;
        auto* const foreign_symbolic = reinterpret_cast<Symbolic*>(theirs.symbolic);
        auto* const foreign_numeric = reinterpret_cast<Numeric*>(theirs.numeric);
        auto* const c = &ours.common;
        const auto  invalid = [&](auto failed) {
            EXPECT_TRUE(failed);
            EXPECT_EQ(c->status, ILUX_KLU_INVALID);
            c->status = 99;
        };
        const std::vector<S> before(n, S(1));
        for (auto* const symbolic : {ours.symbolic, foreign_symbolic, &symbolic_copy})
            for (auto* const numeric : {ours.numeric, foreign_numeric, &numeric_copy}) {
                if (symbolic == ours.symbolic && numeric == ours.numeric) continue;
                auto x = before;
                invalid(!Klu::solve(symbolic, numeric, n, 1, x.data(), c));
                EXPECT_EQ(x, before);
                invalid(!Klu::rcond(symbolic, numeric, c));
                invalid(!Klu::flops(symbolic, numeric, c));
                if (numeric == ours.numeric) continue;  // a refused refactor would spoil it
                invalid(!Klu::refactor(ours.Ap.data(), ours.Ai.data(), ours.Ax.data(), symbolic, numeric, c));
                EXPECT_EQ(repivots(numeric), 0);
            }
        for (auto* symbolic : {foreign_symbolic, &symbolic_copy}) {
            invalid(!Klu::factor(ours.Ap.data(), ours.Ai.data(), ours.Ax.data(), symbolic, c));
            invalid(!Klu::free_symbolic(&symbolic, c));
        }
        for (auto* numeric : {foreign_numeric, &numeric_copy}) invalid(!Klu::free_numeric(&numeric, c));
        EXPECT_FALSE(ours.solved(before).empty());
        EXPECT_FALSE(theirs.solved(before).empty());
    }
}

}  // namespace
}  // namespace ilux::test
