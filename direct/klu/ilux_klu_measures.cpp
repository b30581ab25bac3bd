#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

/// Whether there are factors of a matrix that is not singular. Where not, `result` says so, and that is no error.
template <class Int, Scalar S>
bool usable(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, double& result, double without, Common<Int>& common)
{
    require_arguments(symbolic != nullptr);
    if (numeric != nullptr && behind<Int, S>(symbolic, numeric).status == ILUX_KLU_OK) return true;
    result = without;
    set_status(&common, ILUX_KLU_SINGULAR);
    return false;
}

/// By new row number, what U is to be multiplied by to be that of KLU, which scales by the values of now: the scales
/// kept are those of the values whose pivots were chosen, and a row that has grown or shrunk since would look like a
/// bad pivot.
template <class Int, Scalar S>
std::vector<double> scales_of_now(const Factorization<Int, S>& f, const LuPattern& P)
{
    const MatrixView<S> A = f.lu.matrix();
    std::vector<double> size(P.n, 1.0), scale(P.n);
    if (f.scale > 0) row_sizes<Index, S>(f.scale == 1, A.idx, A.val.data(), size);
    for (Index k = 0; k < P.n; ++k) {
        const Index i = P.row_perm[k];
        scale[k] = 1 / (P.row_scale.empty() ? size[i] : P.row_scale[i] * size[i]);
    }
    return scale;
}

/// min_k max|B(:,k)| / max|U(:,k)| in blocks of more than one row, of rows as KLU scales them; 1 where no column grows.
template <class Int, Scalar S>
double rgrowth_now(const Factorization<Int, S>& f, const LuFactors<S>& factors)
{
    const LuPattern& P = *factors.pattern;
    const auto       values = f.lu.matrix().val;
    const auto       scale = scales_of_now(f, P);
    std::vector<S>   x(P.n, S(0));
    double           least = 1;
    for (Index k = 0; k < P.n; ++k) {
        double b = 0, u = 0;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) x[P.in_row[e]] += values[P.in_source[e]] * P.in_scale[e];
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) {
            b = std::max(b, std::abs(x[P.in_row[e]]) * scale[P.in_row[e]]);
            x[P.in_row[e]] = 0;
        }
        for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) u = std::max(u, std::abs(factors.val[p]) * scale[P.row[p]]);
        if (b < least * u) least = b / u;
    }
    return least;
}

}  // namespace

template <class Int, Scalar S>
bool rcond(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common)
{
    if (usable<Int, S>(symbolic, numeric, common.rcond, 0, common)) {
        const auto& f = behind<Int, S>(symbolic, numeric);
        const auto& val = f.lu.factors().val;
        const auto& diag = f.lu.factors().pattern->diag;
        const auto  scale = scales_of_now(f, *f.lu.factors().pattern);
        double      least = std::numeric_limits<double>::infinity(), largest = 0;
        for (Index k = 0; k < static_cast<Index>(scale.size()); ++k) {
            const double u = std::abs(val[diag[k]]) * scale[k];
            least = std::min(least, u);
            largest = std::max(largest, u);
        }
        common.rcond = least / largest;
    }
    return true;
}

template <class Int, Scalar S>
bool rgrowth(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
             Common<Int>& common)
{
    require_arguments(symbolic != nullptr && Ap != nullptr && Ai != nullptr && Ax != nullptr);
    const auto* const         f = numeric == nullptr ? nullptr : &behind<Int, S>(symbolic, numeric);
    const LuFactors<S>* const factors = f == nullptr ? nullptr : f->factors();
    common.rgrowth = factors == nullptr ? 0 : rgrowth_now(*f, *factors);
    if (factors == nullptr) set_status(&common, ILUX_KLU_SINGULAR);
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
    Cpu be = host();
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

#define ILUX_INSTANTIATE(Int, S)                                                                                 \
    template bool rcond<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);                              \
    template bool rgrowth<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*,    \
                                  Common<Int>&);                                                                 \
    template bool condest<Int, S>(const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*, Common<Int>&); \
    template bool flops<Int, S>(const Symbolic<Int>*, Numeric<Int>*, Common<Int>&);
ILUX_KLU_KINDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
