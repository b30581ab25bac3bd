#include "ilux/direct/klu/ilux_klu.h"

#include <cstdint>
#include <cstdlib>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

template <class Int>
bool defaults(Common<Int>& common)
{
    common = {};
    common.tol = 1e-3;
    common.memgrow = common.initmem_amd = 1.2;
    common.initmem = 10;
    common.btf = 1;
    common.scale = 2;
    common.halt_if_singular = 1;
    common.structural_rank = common.numerical_rank = common.singular_col = common.noffdiag = -1;
    common.flops = common.rcond = common.condest = common.rgrowth = -1;
    return true;
}

std::size_t product(std::size_t n, std::size_t size)
{
    require_arguments(size > 0);
    const std::size_t items = std::max<std::size_t>(n, 1);
    if (items > static_cast<std::size_t>(PTRDIFF_MAX) / size) throw TooLarge{};
    return items * size;
}

void* allocate(std::size_t n, std::size_t size, auto& common)
{
    const std::size_t bytes = product(n, size);
    void* const       p = std::malloc(bytes);
    if (p == nullptr) throw std::bad_alloc{};
    std::size_t none = 0;
    count(common, none, bytes);
    return p;
}

void* deallocate(void* p, std::size_t n, std::size_t size, auto& common)
{
    if (p == nullptr) return nullptr;
    std::free(p);
    std::size_t bytes = product(n, size);
    count(common, bytes, 0);
    return nullptr;
}

/// A failure leaves p as it was: the caller finds OUT_OF_MEMORY or TOO_LARGE in the status.
void* reallocate(std::size_t n_new, std::size_t n_old, std::size_t size, void* p, auto& common)
{
    if (p == nullptr) return allocate(n_new, size, common);
    std::size_t       was = product(n_old, size);
    const std::size_t bytes = product(n_new, size);
    void* const       moved = std::realloc(p, bytes);
    if (moved == nullptr) throw std::bad_alloc{};
    count(common, was, bytes);
    return moved;
}

}  // namespace
}  // namespace ilux::klu

using ilux::Transpose;
using namespace ilux::klu;

// Every function twice: `klu` is the prefix, Int its integer.
// NOLINTBEGIN(bugprone-macro-parentheses): they are types and names
#define ILUX_KLU_FUNCTIONS(klu, Int)                                                                                  \
    Int klu##_defaults(klu##_common* common)                                                                          \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return defaults<Int>(*common); });                                       \
    }                                                                                                                 \
    klu##_symbolic* klu##_analyze(Int n, Int Ap[], Int Ai[], klu##_common* common)                                    \
    {                                                                                                                 \
        return guarded<klu##_symbolic*>(common, nullptr, [&] { return analyze<Int>(n, Ap, Ai, *common); });           \
    }                                                                                                                 \
    klu##_symbolic* klu##_analyze_given(Int n, Int Ap[], Int Ai[], Int P[], Int Q[], klu##_common* common)            \
    {                                                                                                                 \
        return guarded<klu##_symbolic*>(common, nullptr,                                                              \
                                        [&] { return analyze_given<Int>(n, Ap, Ai, P, Q, *common); });                \
    }                                                                                                                 \
    klu##_numeric* klu##_factor(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_common* common)      \
    {                                                                                                                 \
        return guarded<klu##_numeric*>(common, nullptr, [&] { return factor<Int>(Ap, Ai, Ax, symbolic, *common); });  \
    }                                                                                                                 \
    Int klu##_refactor(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric,             \
                       klu##_common* common)                                                                          \
    {                                                                                                                 \
        if (common == nullptr) spoil<Int>(numeric);                                                                   \
        return guarded<Int>(common, 0, [&] { return refactor<Int>(Ap, Ai, Ax, symbolic, numeric, *common); });        \
    }                                                                                                                 \
    Int klu##_solve(klu##_symbolic* symbolic, klu##_numeric* numeric, Int ldim, Int nrhs, double B[],                 \
                    klu##_common* common)                                                                             \
    {                                                                                                                 \
        return guarded<Int>(common, 0,                                                                                \
                            [&] { return solve<Int>(symbolic, numeric, ldim, nrhs, B, Transpose::no, *common); });    \
    }                                                                                                                 \
    Int klu##_tsolve(klu##_symbolic* symbolic, klu##_numeric* numeric, Int ldim, Int nrhs, double B[],                \
                     klu##_common* common)                                                                            \
    {                                                                                                                 \
        return guarded<Int>(common, 0,                                                                                \
                            [&] { return solve<Int>(symbolic, numeric, ldim, nrhs, B, Transpose::yes, *common); });   \
    }                                                                                                                 \
    Int klu##_rcond(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                           \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return rcond<Int>(symbolic, numeric, *common); });                       \
    }                                                                                                                 \
    Int klu##_rgrowth(Int Ap[], Int Ai[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric,              \
                      klu##_common* common)                                                                           \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return rgrowth<Int>(Ap, Ai, Ax, symbolic, numeric, *common); });         \
    }                                                                                                                 \
    Int klu##_condest(Int Ap[], double Ax[], klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)  \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return condest<Int>(Ap, Ax, symbolic, numeric, *common); });             \
    }                                                                                                                 \
    Int klu##_flops(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                           \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return flops<Int>(symbolic, numeric, *common); });                       \
    }                                                                                                                 \
    Int klu##_sort(klu##_symbolic* symbolic, klu##_numeric* numeric, klu##_common* common)                            \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] {                                                                          \
            behind<Int>(symbolic, numeric);                                                                           \
            return true;                                                                                              \
        });                                                                                                           \
    }                                                                                                                 \
    Int klu##_extract(klu##_numeric* numeric, klu##_symbolic* symbolic, Int Lp[], Int Li[], double Lx[], Int Up[],    \
                      Int Ui[], double Ux[], Int Fp[], Int Fi[], double Fx[], Int P[], Int Q[], double Rs[], Int R[], \
                      klu##_common* common)                                                                           \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] {                                                                          \
            return extract<Int>(numeric, symbolic, {Lp, Li, Lx, Up, Ui, Ux, Fp, Fi, Fx, P, Q, Rs, R});                \
        });                                                                                                           \
    }                                                                                                                 \
    Int klu##_free_symbolic(klu##_symbolic** symbolic, klu##_common* common)                                          \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return release<Analysis<Int>>(symbolic, *common); });                    \
    }                                                                                                                 \
    Int klu##_free_numeric(klu##_numeric** numeric, klu##_common* common)                                             \
    {                                                                                                                 \
        return guarded<Int>(common, 0, [&] { return release<Factorization<Int>>(numeric, *common); });                \
    }                                                                                                                 \
    void* klu##_malloc(size_t n, size_t size, klu##_common* common)                                                   \
    {                                                                                                                 \
        return guarded<void*>(common, nullptr, [&] { return allocate(n, size, *common); });                           \
    }                                                                                                                 \
    void* klu##_free(void* p, size_t n, size_t size, klu##_common* common)                                            \
    {                                                                                                                 \
        return guarded<void*>(common, nullptr, [&] { return deallocate(p, n, size, *common); });                      \
    }                                                                                                                 \
    void* klu##_realloc(size_t n_new, size_t n_old, size_t size, void* p, klu##_common* common)                       \
    {                                                                                                                 \
        return guarded<void*>(common, p, [&] { return reallocate(n_new, n_old, size, p, *common); });                 \
    }

ILUX_KLU_FUNCTIONS(ilux_klu, int)
ILUX_KLU_FUNCTIONS(ilux_klu_l, std::int64_t)
// NOLINTEND(bugprone-macro-parentheses)
