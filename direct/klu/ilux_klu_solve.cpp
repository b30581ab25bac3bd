#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ilux/direct/factor/row_scaling.hpp"
#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

constexpr Index together = 8;  // right-hand sides of one pass over the factors

/// Whether there are factors to speak of. Where not, `result` says so, and that is no error.
template <class Int>
bool usable(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, double& result, double without, Common<Int>& common)
{
    require_arguments(symbolic != nullptr);
    if (numeric != nullptr && behind<Int>(symbolic, numeric).status == ILUX_KLU_OK) return true;
    result = without;
    set_status(&common, ILUX_KLU_SINGULAR);
    return false;
}

/// Solves with vectors that lie further apart than they are long: through `packed`, some at a time.
void solve_apart(Cpu& be, const LuFactors<>& factors, double* B, std::size_t apart, std::size_t vectors,
                 Scratch& scratch, Transpose transpose)
{
    const auto n = static_cast<std::size_t>(factors.pattern->n);
    scratch.packed.resize(n * std::min<std::size_t>(vectors, together));
    for (std::size_t first = 0; first < vectors; first += together) {
        const std::size_t some = std::min<std::size_t>(together, vectors - first);
        const auto        packed = std::span(scratch.packed).first(n * some);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(B + (first + c) * apart, n, packed.data() + c * n);
        lu_solve(be, factors, packed, packed, scratch.ws, transpose);
        for (std::size_t c = 0; c < some; ++c) std::copy_n(packed.data() + c * n, n, B + (first + c) * apart);
    }
}

/// Smallest |u_kk| / largest, each row scaled by the values of now: the scales kept are those of the values whose pivots were
/// chosen, and a row that has grown or shrunk since would look like a bad pivot.
double rcond_now(const LuFactors<>& factors, const MatrixView<>& A)
{
    const LuPattern& S = *factors.pattern;
    if (S.row_scale.empty()) return factors.monitor.rcond();
    const auto now = power_of_two_row_scales(A, S.col_scale);
    double     least = std::numeric_limits<double>::infinity(), largest = 0;
    for (Index k = 0; k < S.n; ++k) {
        const Index  i = S.row_perm[k];
        const double u = std::abs(factors.val[S.diag[k]]) / S.row_scale[i] * now[i];
        least = std::min(least, u);
        largest = std::max(largest, u);
    }
    return least / largest;
}

}  // namespace

template <class Int>
bool solve(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Int ldim, Int nrhs, double* B, Transpose transpose,
           Common<Int>& common)
{
    auto& f = behind<Int>(symbolic, numeric);
    require_arguments(B != nullptr && nrhs >= 0 && ldim >= f.n);
    const auto n = static_cast<std::size_t>(f.n), vectors = static_cast<std::size_t>(nrhs);
    const auto apart = static_cast<std::size_t>(ldim);
    if (vectors > 1 && apart > PTRDIFF_MAX / sizeof(double) / vectors) throw TooLarge{};
    if (f.status != ILUX_KLU_OK) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t c = 0; c < vectors; ++c) std::fill_n(B + c * apart, n, nan);
        set_status(&common, f.status);
        return false;
    }
    Cpu be = host(common);
    f.workspaces.with(vectors > 1 ? together : 1, [&](Scratch& scratch) {
        const std::span all(B, n * vectors);
        if (apart == n || vectors <= 1) lu_solve(be, f.lu.factors(), all, all, scratch.ws, transpose);
        else solve_apart(be, f.lu.factors(), B, apart, vectors, scratch, transpose);
    });
    return true;
}

template <class Int>
bool rcond(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    if (usable<Int>(symbolic, numeric, common.rcond, 0, common)) {
        const Lu& lu = behind<Int>(numeric).lu;
        common.rcond = rcond_now(lu.factors(), lu.matrix());
    }
    return true;
}

template <class Int>
bool rgrowth(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
             Common<Int>& common)
{
    require_arguments(Ap != nullptr && Ai != nullptr && Ax != nullptr);
    if (usable<Int>(symbolic, numeric, common.rgrowth, 0, common))
        common.rgrowth = behind<Int>(numeric).lu.factors().monitor.rgrowth;
    return true;
}

template <class Int>
bool condest(const Int* Ap, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    require_arguments(Ap != nullptr && Ax != nullptr);
    if (!usable<Int>(symbolic, numeric, common.condest, std::numeric_limits<double>::infinity(), common)) return true;
    auto&        f = behind<Int>(numeric);
    MatrixView<> A = f.lu.matrix();
    A.val = {Ax, A.idx.size()};
    Cpu be = host(common);
    f.workspaces.with(1, [&](Scratch& scratch) {
        common.condest = condition_estimate(be, f.lu.factors(), A, scratch.ws);
    });
    return true;
}

template <class Int>
bool flops(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    common.flops = behind<Int>(symbolic, numeric).flops;
    return true;
}

template <class Int>
bool extract(Numeric<Int>* numeric, const Symbolic<Int>* symbolic, const Extract<Int>& to)
{
    const auto& f = behind<Int>(symbolic, numeric);
    require_arguments(f.status == ILUX_KLU_OK);
    const LuFactors<>& factors = f.lu.factors();
    const LuPattern&   S = *factors.pattern;
    const auto         put = []<class Value>(Value* array, auto position, auto value) {
        if (array != nullptr) array[position] = static_cast<Value>(value);
    };
    Offset l = 0, u = 0;
    for (Index k = 0; k < S.n; ++k) {
        put(to.Lp, k, l);
        put(to.Up, k, u);
        put(to.Li, l, k);
        put(to.Lx, l++, 1.0);
        for (Offset p = S.col_ptr[k]; p < S.col_ptr[k + 1]; ++p) {
            const bool upper = p <= S.diag[k];
            put(upper ? to.Ui : to.Li, upper ? u : l, S.row[p]);
            put(upper ? to.Ux : to.Lx, upper ? u : l, factors.val[p]);
            ++(upper ? u : l);
        }
        put(to.P, k, S.row_perm[k]);
        put(to.Q, k, S.col_perm[k]);
        put(to.Rs, k, f.rs.empty() ? 1.0 : f.rs[k]);
    }
    put(to.Lp, S.n, l);
    put(to.Up, S.n, u);
    for (std::size_t k = 0; k < S.f_col_ptr.size(); ++k) put(to.Fp, k, S.f_col_ptr[k]);
    for (std::size_t p = 0; p < S.f_row.size(); ++p) {
        put(to.Fi, p, S.f_row[p]);
        put(to.Fx, p, factors.f_val[p]);
    }
    for (std::size_t b = 0; b < S.block_ptr.size(); ++b) put(to.R, b, S.block_ptr[b]);
    return true;
}

#define ILUX_INSTANTIATE(Int)                                                                                  \
    template bool solve<Int>(const Symbolic<Int>*, Numeric<Int>*, Int, Int, double*, Transpose, Common<Int>&); \
    template bool rcond<Int>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);                               \
    template bool rgrowth<Int>(const Int*, const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*,     \
                               Common<Int>&);                                                                  \
    template bool condest<Int>(const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);  \
    template bool flops<Int>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);                               \
    template bool extract<Int>(Numeric<Int>*, const Symbolic<Int>*, const Extract<Int>&);
ILUX_INSTANTIATE(int)
ILUX_INSTANTIATE(std::int64_t)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
