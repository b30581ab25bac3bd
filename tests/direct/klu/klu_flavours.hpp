#pragma once
// The calls of the C interface, and of KLU itself, under names that tell neither integer nor Scalar: what a test is
// written to.

#include <cstdint>
#include <vector>

#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

/// What extract fills; arrays without room are not asked for. Imaginary parts are Lz, Uz, Fz.
template <class Int>
struct FactorArrays {
    std::vector<Int>    Lp, Li, Up, Ui, Fp, Fi, P, Q, R;
    std::vector<double> Lx, Lz, Ux, Uz, Fx, Fz, Rs;

    FactorArrays() = default;
    /// Room for all of them.
    explicit FactorArrays(const auto& numeric)
        : Lp(numeric.n + 1),
          Li(numeric.lnz),
          Up(numeric.n + 1),
          Ui(numeric.unz),
          Fp(numeric.n + 1),
          Fi(numeric.nzoff),
          P(numeric.n),
          Q(numeric.n),
          R(numeric.nblocks + 1),
          Lx(Li.size()),
          Lz(Li.size()),
          Ux(Ui.size()),
          Uz(Ui.size()),
          Fx(Fi.size()),
          Fz(Fi.size()),
          Rs(numeric.n)
    {}
};

/// The functions for real values; `klu` is their prefix, Integer their integer.
#define ILUX_REAL_FLAVOUR(Name, klu, Integer)                                                                       \
    struct Name {                                                                                                   \
        using Scalar = double;                                                                                      \
        using Int = Integer;                                                                                        \
        using Common = klu##_common;                                                                                \
        using Symbolic = klu##_symbolic;                                                                            \
        using Numeric = klu##_numeric;                                                                              \
        static constexpr auto defaults = klu##_defaults;                                                            \
        static constexpr auto analyze = klu##_analyze;                                                              \
        static constexpr auto analyze_given = klu##_analyze_given;                                                  \
        static constexpr auto free_symbolic = klu##_free_symbolic;                                                  \
        static constexpr auto malloc = klu##_malloc;                                                                \
        static constexpr auto free = klu##_free;                                                                    \
        static constexpr auto realloc = klu##_realloc;                                                              \
        ILUX_FLAVOUR_OF_VALUES(klu)                                                                                 \
        static Int extract(Numeric* numeric, Symbolic* symbolic, FactorArrays<Int>& to, Common* common)             \
        {                                                                                                           \
            return klu##_extract(numeric, symbolic, to.Lp.data(), to.Li.data(), to.Lx.data(), to.Up.data(),         \
                                 to.Ui.data(), to.Ux.data(), to.Fp.data(), to.Fi.data(), to.Fx.data(), to.P.data(), \
                                 to.Q.data(), to.Rs.data(), to.R.data(), common);                                   \
        }                                                                                                           \
    };
/// The functions for complex values as they are; `z` is their prefix.
#define ILUX_RAW_COMPLEX_FLAVOUR(Name, z)            \
    struct Name {                                    \
        ILUX_FLAVOUR_OF_VALUES(z)                    \
        static constexpr auto extract = z##_extract; \
    };
#define ILUX_FLAVOUR_OF_VALUES(klu)                  \
    static constexpr auto factor = klu##_factor;     \
    static constexpr auto refactor = klu##_refactor; \
    static constexpr auto solve = klu##_solve;       \
    static constexpr auto tsolve = klu##_tsolve;     \
    static constexpr auto rcond = klu##_rcond;       \
    static constexpr auto rgrowth = klu##_rgrowth;   \
    static constexpr auto condest = klu##_condest;   \
    static constexpr auto flops = klu##_flops;       \
    static constexpr auto scale = klu##_scale;       \
    static constexpr auto sort = klu##_sort;         \
    static constexpr auto free_numeric = klu##_free_numeric;

inline double* doubles(Complex* z) { return reinterpret_cast<double*>(z); }

/// The same functions as of real values, taking arrays of complex numbers; tsolve is of Aᵀ, atsolve of Aᴴ.
template <class Real, class Raw>
struct WithComplex : Real {
    using Scalar = Complex;
    using Int = typename Real::Int;
    using Common = typename Real::Common;
    using Symbolic = typename Real::Symbolic;
    using Numeric = typename Real::Numeric;
    static constexpr auto rcond = Raw::rcond;
    static constexpr auto flops = Raw::flops;
    static constexpr auto sort = Raw::sort;
    static constexpr auto free_numeric = Raw::free_numeric;

    static Numeric* factor(Int* Ap, Int* Ai, Complex* Ax, Symbolic* symbolic, Common* common)
    {
        return Raw::factor(Ap, Ai, doubles(Ax), symbolic, common);
    }
    static Int refactor(Int* Ap, Int* Ai, Complex* Ax, Symbolic* symbolic, Numeric* numeric, Common* common)
    {
        return Raw::refactor(Ap, Ai, doubles(Ax), symbolic, numeric, common);
    }
    static Int solve(Symbolic* symbolic, Numeric* numeric, Int ldim, Int nrhs, Complex* B, Common* common)
    {
        return Raw::solve(symbolic, numeric, ldim, nrhs, doubles(B), common);
    }
    static Int tsolve(Symbolic* symbolic, Numeric* numeric, Int ldim, Int nrhs, Complex* B, Common* common)
    {
        return Raw::tsolve(symbolic, numeric, ldim, nrhs, doubles(B), 0, common);
    }
    static Int atsolve(Symbolic* symbolic, Numeric* numeric, Int ldim, Int nrhs, Complex* B, Common* common)
    {
        return Raw::tsolve(symbolic, numeric, ldim, nrhs, doubles(B), 1, common);
    }
    static Int rgrowth(Int* Ap, Int* Ai, Complex* Ax, Symbolic* symbolic, Numeric* numeric, Common* common)
    {
        return Raw::rgrowth(Ap, Ai, doubles(Ax), symbolic, numeric, common);
    }
    static Int condest(Int* Ap, Complex* Ax, Symbolic* symbolic, Numeric* numeric, Common* common)
    {
        return Raw::condest(Ap, doubles(Ax), symbolic, numeric, common);
    }
    static Int scale(Int how, Int n, Int* Ap, Int* Ai, Complex* Ax, double* Rs, Int* W, Common* common)
    {
        return Raw::scale(how, n, Ap, Ai, doubles(Ax), Rs, W, common);
    }
    static Int extract(Numeric* numeric, Symbolic* symbolic, FactorArrays<Int>& to, Common* common)
    {
        return Raw::extract(numeric, symbolic, to.Lp.data(), to.Li.data(), to.Lx.data(), to.Lz.data(), to.Up.data(),
                            to.Ui.data(), to.Ux.data(), to.Uz.data(), to.Fp.data(), to.Fi.data(), to.Fx.data(),
                            to.Fz.data(), to.P.data(), to.Q.data(), to.Rs.data(), to.R.data(), common);
    }
};

}  // namespace ilux::test
