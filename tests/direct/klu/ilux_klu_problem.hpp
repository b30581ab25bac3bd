#pragma once
// The C interface for either integer type, and one matrix with everything made from it.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

/// The functions of one integer type, under names without it.
struct WithInt {
    using Int = int;
    using Common = ilux_klu_common;
    using Symbolic = ilux_klu_symbolic;
    using Numeric = ilux_klu_numeric;
    static constexpr auto defaults = ilux_klu_defaults;
    static constexpr auto analyze = ilux_klu_analyze;
    static constexpr auto analyze_given = ilux_klu_analyze_given;
    static constexpr auto factor = ilux_klu_factor;
    static constexpr auto refactor = ilux_klu_refactor;
    static constexpr auto solve = ilux_klu_solve;
    static constexpr auto tsolve = ilux_klu_tsolve;
    static constexpr auto rcond = ilux_klu_rcond;
    static constexpr auto rgrowth = ilux_klu_rgrowth;
    static constexpr auto condest = ilux_klu_condest;
    static constexpr auto flops = ilux_klu_flops;
    static constexpr auto sort = ilux_klu_sort;
    static constexpr auto extract = ilux_klu_extract;
    static constexpr auto free_symbolic = ilux_klu_free_symbolic;
    static constexpr auto free_numeric = ilux_klu_free_numeric;
    static constexpr auto malloc = ilux_klu_malloc;
    static constexpr auto free = ilux_klu_free;
    static constexpr auto realloc = ilux_klu_realloc;
};
struct WithLong {
    using Int = std::int64_t;
    using Common = ilux_klu_l_common;
    using Symbolic = ilux_klu_l_symbolic;
    using Numeric = ilux_klu_l_numeric;
    static constexpr auto defaults = ilux_klu_l_defaults;
    static constexpr auto analyze = ilux_klu_l_analyze;
    static constexpr auto analyze_given = ilux_klu_l_analyze_given;
    static constexpr auto factor = ilux_klu_l_factor;
    static constexpr auto refactor = ilux_klu_l_refactor;
    static constexpr auto solve = ilux_klu_l_solve;
    static constexpr auto tsolve = ilux_klu_l_tsolve;
    static constexpr auto rcond = ilux_klu_l_rcond;
    static constexpr auto rgrowth = ilux_klu_l_rgrowth;
    static constexpr auto condest = ilux_klu_l_condest;
    static constexpr auto flops = ilux_klu_l_flops;
    static constexpr auto sort = ilux_klu_l_sort;
    static constexpr auto extract = ilux_klu_l_extract;
    static constexpr auto free_symbolic = ilux_klu_l_free_symbolic;
    static constexpr auto free_numeric = ilux_klu_l_free_numeric;
    static constexpr auto malloc = ilux_klu_l_malloc;
    static constexpr auto free = ilux_klu_l_free;
    static constexpr auto realloc = ilux_klu_l_realloc;
};

template <class Klu>
class EveryInteger : public testing::Test {
protected:
    using Int = typename Klu::Int;

    /// A as KLU takes it, with everything made from it.
    struct Problem {
        explicit Problem(const CsrMatrix<double>& A)
        {
            const auto At = transpose(A);
            n = A.rows();
            Ap.assign(At.row_ptr().begin(), At.row_ptr().end());
            Ai.assign(At.col().begin(), At.col().end());
            Ax.assign(At.val().begin(), At.val().end());
            ptr.assign(At.row_ptr().begin(), At.row_ptr().end());
            idx.assign(At.col().begin(), At.col().end());
            Klu::defaults(&common);
            common.threads = 1;
        }
        ~Problem()
        {
            EXPECT_TRUE(Klu::free_numeric(&numeric, &common));
            EXPECT_TRUE(Klu::free_symbolic(&symbolic, &common));
            EXPECT_EQ(numeric, nullptr);
            EXPECT_EQ(symbolic, nullptr);
            EXPECT_EQ(common.memusage, 0);
        }
        Problem(const Problem&) = delete;
        Problem& operator=(const Problem&) = delete;

        void factor()
        {
            if (symbolic == nullptr) symbolic = Klu::analyze(n, Ap.data(), Ai.data(), &common);
            ASSERT_NE(symbolic, nullptr) << common.status;
            numeric = Klu::factor(Ap.data(), Ai.data(), Ax.data(), symbolic, &common);
        }
        Int refactor() { return Klu::refactor(Ap.data(), Ai.data(), Ax.data(), symbolic, numeric, &common); }
        std::vector<double> solved(std::vector<double> b)
        {
            return Klu::solve(symbolic, numeric, n, 1, b.data(), &common) ? b : std::vector<double>();
        }
        MatrixView<> view() const { return {static_cast<Index>(n), ptr, idx, Ax, MatrixLayout::columns}; }

        Int                     n;
        std::vector<Int>        Ap, Ai;
        std::vector<double>     Ax;
        std::vector<Offset>     ptr;
        std::vector<Index>      idx;
        typename Klu::Common    common;
        typename Klu::Symbolic* symbolic = nullptr;
        typename Klu::Numeric*  numeric = nullptr;
    };
    static CsrMatrix<double> circuit(Index n, std::int64_t seed = 1)
    {
        return gallery::mna_random({.n = n, .decades = 4, .seed = seed});
    }
    static CsrMatrix<double> two_by_two(double a, double b, double c, double d) { return to_csr({2, 2, {a, b, c, d}}); }
};
struct IntegerName {
    template <class Klu>
    static std::string GetName(int)
    {
        return std::is_same_v<Klu, WithInt> ? "int" : "long";
    }
};
using Integers = testing::Types<WithInt, WithLong>;
}  // namespace ilux::test
