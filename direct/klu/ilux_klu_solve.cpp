#include <algorithm>
#include <cstdint>
#include <limits>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

constexpr Index together = 8;  // right-hand sides of one pass over the factors

template <Scalar S>
constexpr S not_a_number()
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (is_complex<S>) return {nan, nan};
    else return nan;
}

/// Solves with vectors that begin further apart than they are long: through `packed`, some at a time.
template <Scalar S>
void solve_strided(Cpu& be, const LuFactors<S>& factors, S* B, std::size_t stride, std::size_t vectors,
                   Scratch<S>& scratch, Transpose transpose)
{
    const auto n = static_cast<std::size_t>(factors.pattern->n);
    scratch.packed.resize(n * std::min<std::size_t>(vectors, together));
    for (std::size_t first = 0; first < vectors; first += together) {
        const std::size_t some = std::min<std::size_t>(together, vectors - first);
        const auto        packed = std::span(scratch.packed).first(n * some);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(B + (first + c) * stride, n, packed.data() + c * n);
        lu_solve<S>(be, factors, packed, packed, scratch.ws, transpose);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(packed.data() + c * n, n, B + (first + c) * stride);
    }
}

}  // namespace

template <class Int, Scalar S>
bool solve(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Int ldim, Int nrhs, double* B, Transpose transpose,
           Common<Int>& common)
{
    auto& f = behind<Int, S>(symbolic, numeric);
    require_arguments(B != nullptr && nrhs >= 0 && ldim >= f.n);
    S* const   x = numbers<S>(B);
    const auto n = static_cast<std::size_t>(f.n), vectors = static_cast<std::size_t>(nrhs);
    const auto stride = static_cast<std::size_t>(ldim);
    if (vectors > 1 && stride > PTRDIFF_MAX / sizeof(S) / vectors) throw TooLarge{};
    const LuFactors<S>* const factors = f.factors();
    if (factors == nullptr) {
        for (std::size_t c = 0; c < vectors; ++c) std::fill_n(x + c * stride, n, not_a_number<S>());
        set_status(&common, f.status);
        return false;
    }
    Cpu be = host();
    f.workspaces.with(vectors > 1 ? together : 1, [&](Scratch<S>& scratch) {
        const std::span all(x, n * vectors);
        if (stride == n || vectors <= 1) lu_solve<S>(be, *factors, all, all, scratch.ws, transpose);
        else solve_strided<S>(be, *factors, x, stride, vectors, scratch, transpose);
    });
    return true;
}

#define ILUX_INSTANTIATE(Int, S) \
    template bool solve<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Int, Int, double*, Transpose, Common<Int>&);
ILUX_KLU_KINDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
