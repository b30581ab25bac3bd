#pragma once
// The C interface for either integer type and either Scalar, and one matrix with everything made from it.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/direct/klu/ilux_klu_z.h"
#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/direct/klu/klu_flavours.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

ILUX_REAL_FLAVOUR(WithInt, ilux_klu, int)
ILUX_REAL_FLAVOUR(WithLong, ilux_klu_l, std::int64_t)
ILUX_RAW_COMPLEX_FLAVOUR(RawComplexInt, ilux_klu_z)
ILUX_RAW_COMPLEX_FLAVOUR(RawComplexLong, ilux_klu_zl)
using WithComplexInt = WithComplex<WithInt, RawComplexInt>;
using WithComplexLong = WithComplex<WithLong, RawComplexLong>;

/// For as long as it lives.
class Threads {
public:
    explicit Threads(int threads) : before_(ilux_klu_set_threads(threads)) {}
    int before() const { return before_; }
    ~Threads() { ilux_klu_set_threads(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

private:
    int before_;
};
class Repivoting {
public:
    Repivoting() : before_(ilux_klu_set_repivot(1)) {}
    ~Repivoting() { ilux_klu_set_repivot(before_); }
    Repivoting(const Repivoting&) = delete;
    Repivoting& operator=(const Repivoting&) = delete;

private:
    int before_;
};
inline int          repivots(const ilux_klu_numeric* numeric) { return ilux_klu_repivots(numeric); }
inline std::int64_t repivots(const ilux_klu_l_numeric* numeric) { return ilux_klu_l_repivots(numeric); }

template <class S>
std::vector<S> random_values(std::int64_t n, std::uint64_t seed)
{
    if constexpr (is_complex<S>) return random_complex_vector(static_cast<Index>(n), seed);
    else return random_vector(static_cast<Index>(n), seed);
}
/// A itself, or with its values turned by random angles.
template <class S>
CsrMatrix<S> with_values_of(const CsrMatrix<double>& A, std::uint64_t seed = 1)
{
    if constexpr (is_complex<S>) return turned(A, seed);
    else return A;
}

/// A as KLU takes it, with everything made from it.
template <class Klu>
struct KluProblem {
    using Int = typename Klu::Int;
    using S = typename Klu::Scalar;

    explicit KluProblem(const CsrMatrix<S>& A)
    {
        const auto At = transpose(A);
        n = A.rows();
        Ap.assign(At.row_ptr().begin(), At.row_ptr().end());
        Ai.reserve(1);  // a matrix without entries has arrays, too
        Ax.reserve(1);
        Ai.assign(At.col().begin(), At.col().end());
        Ax.assign(At.val().begin(), At.val().end());
        ptr.assign(At.row_ptr().begin(), At.row_ptr().end());
        idx.assign(At.col().begin(), At.col().end());
        Klu::defaults(&common);
    }
    ~KluProblem()
    {
        EXPECT_TRUE(Klu::free_numeric(&numeric, &common));
        EXPECT_TRUE(Klu::free_symbolic(&symbolic, &common));
        EXPECT_EQ(numeric, nullptr);
        EXPECT_EQ(symbolic, nullptr);
        EXPECT_TRUE(miscounts || common.memusage == 0) << common.memusage;
    }
    KluProblem(const KluProblem&) = delete;
    KluProblem& operator=(const KluProblem&) = delete;

    void factor()
    {
        if (symbolic == nullptr) symbolic = Klu::analyze(n, Ap.data(), Ai.data(), &common);
        ASSERT_NE(symbolic, nullptr) << common.status;
        numeric = Klu::factor(Ap.data(), Ai.data(), Ax.data(), symbolic, &common);
    }
    Int            refactor() { return Klu::refactor(Ap.data(), Ai.data(), Ax.data(), symbolic, numeric, &common); }
    std::vector<S> solved(std::vector<S> b)
    {
        return Klu::solve(symbolic, numeric, n, 1, b.data(), &common) ? b : std::vector<S>();
    }
    MatrixView<S> view() const { return {static_cast<Index>(n), ptr, idx, Ax, MatrixLayout::columns}; }

    Int                     n;
    std::vector<Int>        Ap, Ai;
    std::vector<S>          Ax;
    std::vector<Offset>     ptr;
    std::vector<Index>      idx;
    typename Klu::Common    common;
    typename Klu::Symbolic* symbolic = nullptr;
    typename Klu::Numeric*  numeric = nullptr;
    bool                    miscounts = false;  ///< memusage; KLU's own does where it goes on after a zero pivot
};

template <class Klu>
class EveryFlavour : public testing::Test {
protected:
    using Int = typename Klu::Int;
    using S = typename Klu::Scalar;

    using Problem = KluProblem<Klu>;
    static CsrMatrix<S> circuit(Index n, std::int64_t seed = 1)
    {
        return with_values_of<S>(gallery::mna_random({.n = n, .decades = 4, .seed = seed}));
    }
    static CsrMatrix<S> two_by_two(double a, double b, double c, double d)
    {
        return CsrMatrix<S>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {a, b, c, d});
    }
};
struct FlavourName {
    template <class Klu>
    static std::string GetName(int)
    {
        const std::string integer = std::is_same_v<typename Klu::Int, int> ? "int" : "long";
        return is_complex<typename Klu::Scalar> ? "complex_" + integer : integer;
    }
};
using Flavours = testing::Types<WithInt, WithLong, WithComplexInt, WithComplexLong>;
}  // namespace ilux::test
