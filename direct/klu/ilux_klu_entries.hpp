#pragma once
// KLU's functions under any prefix, over the calls of ilux_klu_calls.hpp. For one source of a library, which then has
// them.

#include <complex>
#include <cstdint>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
using Complex = std::complex<double>;
}

// `klu` is the prefix of the types, `call` that of the functions (`z` for complex values), Int their integer, S their
// values.

// NOLINTBEGIN(bugprone-macro-parentheses): they are types and names
#define ILUX_KLU_WITHOUT_VALUES(klu, call, Int)                                                             \
    Int call##_defaults(klu##_common* common)                                                               \
    {                                                                                                       \
        return guarded<Int>(common, 0, [&] { return defaults<Int>(*common); });                             \
    }                                                                                                       \
    klu##_symbolic* call##_analyze(Int n, Int Ap[], Int Ai[], klu##_common* common)                         \
    {                                                                                                       \
        return guarded<klu##_symbolic*>(common, nullptr, [&] { return analyze<Int>(n, Ap, Ai, *common); }); \
    }                                                                                                       \
    klu##_symbolic* call##_analyze_given(Int n, Int Ap[], Int Ai[], Int P[], Int Q[], klu##_common* common) \
    {                                                                                                       \
        return guarded<klu##_symbolic*>(common, nullptr,                                                    \
                                        [&] { return analyze_given<Int>(n, Ap, Ai, P, Q, *common); });      \
    }                                                                                                       \
    Int call##_free_symbolic(klu##_symbolic** symbolic, klu##_common* common)                               \
    {                                                                                                       \
        return guarded<Int>(common, 0, [&] { return release<Analysis<Int>>(symbolic, *common); });          \
    }                                                                                                       \
    void* call##_malloc(size_t n, size_t size, klu##_common* common)                                        \
    {                                                                                                       \
        return guarded<void*>(common, nullptr, [&] { return allocate<Int>(n, size, *common); });            \
    }                                                                                                       \
    void* call##_free(void* p, size_t n, size_t size, klu##_common* common)                                 \
    {                                                                                                       \
        return guarded<void*>(common, nullptr, [&] { return deallocate<Int>(p, n, size, *common); });       \
    }                                                                                                       \
    void* call##_realloc(size_t n_new, size_t n_old, size_t size, void* p, klu##_common* common)            \
    {                                                                                                       \
        return guarded<void*>(common, p, [&] { return reallocate<Int>(n_new, n_old, size, p, *common); });  \
    }

#define ILUX_KLU_OF_VALUES(klu, call, Int, S)                                                                         \
    klu##_numeric* call##_factor(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_common* common)     \
    {                                                                                                                 \
        return guarded<klu##_numeric*>(common, nullptr,                                                               \
                                       [&] { return factor<Int, S>(Ap, Ai, Ax, symbolic, *common); });                \
    }                                                                                                                 \
    Int call##_refactor(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric,            \
                        klu##_common* common)                                                                         \
    {                                                                                                                 \
        if (common == nullptr) spoil<Int>(numeric);                                                                   \
        return guarded<Int>(common, 0, [&] { return refactor<Int, S>(Ap, Ai, Ax, symbolic, numeric, *common); });     \
    }                                                                                                                 \
    Int call##_solve(klu##_symbolic* symbolic, klu##_numeric* numeric, Int ldim, Int nrhs, double B[],                \
                     klu##_common* common)                                                                            \
    {                                                                                                                 \
        return guarded<Int>(common, 0,                                                                                \
                            [&] { return solve<Int, S>(symbolic, numeric, ldim, nrhs, B, Transpose::no, *common); }); \
    }                                                                                                                 \
    Int call##_rcond(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                          \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return rcond<Int, S>(symbolic, numeric, *common); });                    \
    }                                                                                                                 \
    Int call##_rgrowth(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric,             \
                       klu##_common* common)                                                                          \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return rgrowth<Int, S>(Ap, Ai, Ax, symbolic, numeric, *common); });      \
    }                                                                                                                 \
    Int call##_condest(Int Ap[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common) \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return condest<Int, S>(Ap, Ax, symbolic, numeric, *common); });          \
    }                                                                                                                 \
    Int call##_flops(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                          \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return flops<Int, S>(symbolic, numeric, *common); });                    \
    }                                                                                                                 \
    Int call##_scale(Int how, Int n, Int Ap[], Int Ai[], double Ax[], double Rs[], Int W[], klu##_common* common)     \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return scale<Int, S>(how, n, Ap, Ai, Ax, Rs, W); });                     \
    }                                                                                                                 \
    Int call##_sort(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                           \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] {                                                                          \
            behind<Int, S>(symbolic, numeric);                                                                        \
            return true;                                                                                              \
        });                                                                                                           \
    }                                                                                                                 \
    Int call##_free_numeric(klu##_numeric** numeric, klu##_common* common)                                            \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return release<AnyFactorization<Int>>(numeric, *common); });             \
    }

// The two calls whose arguments differ.
#define ILUX_KLU_OF_REAL_VALUES(klu, call, Int)                                                                        \
    Int call##_tsolve(klu##_symbolic* symbolic, klu##_numeric* numeric, Int ldim, Int nrhs, double B[],                \
                      klu##_common* common)                                                                            \
    {                                                                                                                  \
        return guarded<Int>(common, 0, [&] {                                                                           \
            return solve<Int, double>(symbolic, numeric, ldim, nrhs, B, Transpose::yes, *common);                      \
        });                                                                                                            \
    }                                                                                                                  \
    Int call##_extract(klu##_numeric* numeric, klu##_symbolic* symbolic, Int Lp[], Int Li[], double Lx[], Int Up[],    \
                       Int Ui[], double Ux[], Int Fp[], Int Fi[], double Fx[], Int P[], Int Q[], double Rs[], Int R[], \
                       klu##_common* common)                                                                           \
    {                                                                                                                  \
        return guarded<Int>(common, 0, [&] {                                                                           \
            return extract<Int, double>(numeric, symbolic, {Lp, Li, {Lx}, Up, Ui, {Ux}, Fp, Fi, {Fx}, P, Q, Rs, R});   \
        });                                                                                                            \
    }

#define ILUX_KLU_OF_COMPLEX_VALUES(klu, call, Int)                                                                     \
    Int call##_tsolve(klu##_symbolic* symbolic, klu##_numeric* numeric, Int ldim, Int nrhs, double B[],                \
                      Int conj_solve, klu##_common* common)                                                            \
    {                                                                                                                  \
        return guarded<Int>(common, 0, [&] {                                                                           \
            return solve<Int, Complex>(symbolic, numeric, ldim, nrhs, B,                                               \
                                       conj_solve ? Transpose::adjoint : Transpose::yes, *common);                     \
        });                                                                                                            \
    }                                                                                                                  \
    Int call##_extract(klu##_numeric* numeric, klu##_symbolic* symbolic, Int Lp[], Int Li[], double Lx[], double Lz[], \
                       Int Up[], Int Ui[], double Ux[], double Uz[], Int Fp[], Int Fi[], double Fx[], double Fz[],     \
                       Int P[], Int Q[], double Rs[], Int R[], klu##_common* common)                                   \
    {                                                                                                                  \
        return guarded<Int>(common, 0, [&] {                                                                           \
            return extract<Int, Complex>(numeric, symbolic,                                                            \
                                         {Lp, Li, {Lx, Lz}, Up, Ui, {Ux, Uz}, Fp, Fi, {Fx, Fz}, P, Q, Rs, R});         \
        });                                                                                                            \
    }

#define ILUX_KLU_FUNCTIONS(klu, call, z, Int)  \
    ILUX_KLU_WITHOUT_VALUES(klu, call, Int)    \
    ILUX_KLU_OF_VALUES(klu, call, Int, double) \
    ILUX_KLU_OF_REAL_VALUES(klu, call, Int)    \
    ILUX_KLU_OF_VALUES(klu, z, Int, Complex)   \
    ILUX_KLU_OF_COMPLEX_VALUES(klu, z, Int)
// NOLINTEND(bugprone-macro-parentheses)
