#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/row_scaling.hpp"
#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

constexpr Index together = 8;  // right-hand sides of one pass over the factors

/// Whether there are factors to speak of. Where not, `result` says so, and that is no error.
template <class Int, Scalar S>
bool usable(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, double& result, double without, Common<Int>& common)
{
    require_arguments(symbolic != nullptr);
    if (numeric != nullptr && behind<Int, S>(symbolic, numeric).status == ILUX_KLU_OK) return true;
    result = without;
    set_status(&common, ILUX_KLU_SINGULAR);
    return false;
}

template <Scalar S>
constexpr S not_a_number()
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (is_complex<S>) return {nan, nan};
    else return nan;
}

/// Solves with vectors that lie further apart than they are long: through `packed`, some at a time.
template <Scalar S>
void solve_apart(Cpu& be, const LuFactors<S>& factors, S* B, std::size_t apart, std::size_t vectors,
                 Scratch<S>& scratch, Transpose transpose)
{
    const auto n = static_cast<std::size_t>(factors.pattern->n);
    scratch.packed.resize(n * std::min<std::size_t>(vectors, together));
    for (std::size_t first = 0; first < vectors; first += together) {
        const std::size_t some = std::min<std::size_t>(together, vectors - first);
        const auto        packed = std::span(scratch.packed).first(n * some);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(B + (first + c) * apart, n, packed.data() + c * n);
        lu_solve<S>(be, factors, packed, packed, scratch.ws, transpose);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(packed.data() + c * n, n, B + (first + c) * apart);
    }
}

/// Smallest |u_kk| / largest, each row scaled by the values of now: the scales kept are those of the values whose pivots were
/// chosen, and a row that has grown or shrunk since would look like a bad pivot.
template <Scalar S>
double rcond_now(const LuFactors<S>& factors, const MatrixView<S>& A)
{
    const LuPattern& P = *factors.pattern;
    if (P.row_scale.empty()) return factors.monitor.rcond();
    const auto now = power_of_two_row_scales<S>(A, P.col_scale);
    double     least = std::numeric_limits<double>::infinity(), largest = 0;
    for (Index k = 0; k < P.n; ++k) {
        const Index  i = P.row_perm[k];
        const double u = std::abs(factors.val[P.diag[k]]) / P.row_scale[i] * now[i];
        least = std::min(least, u);
        largest = std::max(largest, u);
    }
    return least / largest;
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
    const auto apart = static_cast<std::size_t>(ldim);
    if (vectors > 1 && apart > PTRDIFF_MAX / sizeof(S) / vectors) throw TooLarge{};
    if (f.status != ILUX_KLU_OK) {
        for (std::size_t c = 0; c < vectors; ++c) std::fill_n(x + c * apart, n, not_a_number<S>());
        set_status(&common, f.status);
        return false;
    }
    Cpu be = host(common);
    f.workspaces.with(vectors > 1 ? together : 1, [&](Scratch<S>& scratch) {
        const std::span all(x, n * vectors);
        if (apart == n || vectors <= 1) lu_solve<S>(be, f.lu.factors(), all, all, scratch.ws, transpose);
        else solve_apart<S>(be, f.lu.factors(), x, apart, vectors, scratch, transpose);
    });
    return true;
}

template <class Int, Scalar S>
bool rcond(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    if (usable<Int, S>(symbolic, numeric, common.rcond, 0, common)) {
        const Lu<S>& lu = behind<Int, S>(symbolic, numeric).lu;
        common.rcond = rcond_now<S>(lu.factors(), lu.matrix());
    }
    return true;
}

template <class Int, Scalar S>
bool rgrowth(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
             Common<Int>& common)
{
    require_arguments(Ap != nullptr && Ai != nullptr && Ax != nullptr);
    if (usable<Int, S>(symbolic, numeric, common.rgrowth, 0, common))
        common.rgrowth = behind<Int, S>(symbolic, numeric).lu.factors().monitor.rgrowth;
    return true;
}

template <class Int, Scalar S>
bool condest(const Int* Ap, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    require_arguments(Ap != nullptr && Ax != nullptr);
    if (!usable<Int, S>(symbolic, numeric, common.condest, std::numeric_limits<double>::infinity(), common))
        return true;
    auto&         f = behind<Int, S>(symbolic, numeric);
    MatrixView<S> A = f.lu.matrix();
    A.val = {numbers<S>(Ax), A.idx.size()};
    Cpu be = host(common);
    f.workspaces.with(1, [&](Scratch<S>& scratch) {
        common.condest = condition_estimate<S>(be, f.lu.factors(), A, scratch.ws);
    });
    return true;
}

template <class Int, Scalar S>
bool flops(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    common.flops = behind<Int, S>(symbolic, numeric).flops;
    return true;
}

#define ILUX_INSTANTIATE_FOR(Int, S)                                                                              \
    template bool solve<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Int, Int, double*, Transpose, Common<Int>&); \
    template bool rcond<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);                               \
    template bool rgrowth<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*,     \
                                  Common<Int>&);                                                                  \
    template bool condest<Int, S>(const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);  \
    template bool flops<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);
#define ILUX_INSTANTIATE(S)      \
    ILUX_INSTANTIATE_FOR(int, S) \
    ILUX_INSTANTIATE_FOR(std::int64_t, S)
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#undef ILUX_INSTANTIATE_FOR

}  // namespace ilux::klu
