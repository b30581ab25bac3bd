#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

/// @throws InvalidInput where some column names a row twice. @param W  n, scratch
template <class Int>
void require_no_duplicates(Int n, const Int* Ap, const Int* Ai, Int* W)
{
    std::fill_n(W, n, Int{-1});  // the last column with an entry in that row
    for (Int j = 0; j < n; ++j)
        for (Int p = Ap[j]; p < Ap[j + 1]; ++p) {
            require_arguments(W[Ai[p]] != j);
            W[Ai[p]] = j;
        }
}

}  // namespace

template <class Int, Scalar S>
bool scale(Int scale, Int n, const Int* Ap, const Int* Ai, const double* Ax, double* Rs, Int* W)
{
    if (scale < 0) return true;
    require_arguments(n > 0 && Ap != nullptr && Ai != nullptr && Ax != nullptr && (Rs != nullptr || scale == 0));
    require_arguments(Ap[0] == 0 && std::is_sorted(Ap, Ap + n + 1));
    const Int nz = Ap[n];
    require_arguments(std::all_of(Ai, Ai + nz, [&](Int i) { return i >= 0 && i < n; }));
    if (W != nullptr) require_no_duplicates(n, Ap, Ai, W);
    const S* const a = numbers<S>(Ax);
    require_arguments(all_finite<S>({a, static_cast<std::size_t>(nz)}));
    if (scale == 0) return true;
    row_sizes<Int, S>(scale == 1, {Ai, static_cast<std::size_t>(nz)}, a, {Rs, static_cast<std::size_t>(n)});
    return true;
}

#define ILUX_INSTANTIATE(Int, S) \
    template bool scale<Int, S>(Int, Int, const Int*, const Int*, const double*, double*, Int*);
ILUX_KLU_KINDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
