#include <cstdint>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

void put(auto* array, auto position, auto value)
{
    using Value = std::remove_pointer_t<decltype(array)>;
    if (array != nullptr) array[position] = static_cast<Value>(value);
}
template <Scalar S>
void put(const Parts& array, auto position, S value)
{
    put(array.re, position, real_part(value));
    put(array.im, position, imaginary_part(value));
}

}  // namespace

template <class Int, Scalar S>
bool extract(Numeric<Int>* numeric, const Symbolic<Int>* symbolic, const Extract<Int>& to)
{
    const auto&               f = behind<Int, S>(symbolic, numeric);
    const LuFactors<S>* const there = f.factors();
    require_arguments(there != nullptr);
    const LuFactors<S>& factors = *there;
    const LuPattern&    P = *factors.pattern;
    Offset              l = 0, u = 0;
    for (Index k = 0; k < P.n; ++k) {
        put(to.Lp, k, l);
        put(to.Up, k, u);
        put(to.Li, l, k);
        put(to.Lx, l++, S(1));
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            const bool upper = p <= P.diag[k];
            put(upper ? to.Ui : to.Li, upper ? u : l, P.row[p]);
            put(upper ? to.Ux : to.Lx, upper ? u : l, factors.val[p]);
            ++(upper ? u : l);
        }
        put(to.P, k, P.row_perm[k]);
        put(to.Q, k, P.col_perm[k]);
        put(to.Rs, k, f.rs.empty() ? 1.0 : f.rs[k]);
    }
    put(to.Lp, P.n, l);
    put(to.Up, P.n, u);
    for (std::size_t k = 0; k < P.f_col_ptr.size(); ++k) put(to.Fp, k, P.f_col_ptr[k]);
    for (std::size_t p = 0; p < P.f_row.size(); ++p) {
        put(to.Fi, p, P.f_row[p]);
        put(to.Fx, p, factors.f_val[p]);
    }
    for (std::size_t b = 0; b < P.block_ptr.size(); ++b) put(to.R, b, P.block_ptr[b]);
    return true;
}

#define ILUX_INSTANTIATE(Int, S) \
    template bool extract<Int, S>(Numeric<Int>*, const Symbolic<Int>*, const Extract<Int>&);
ILUX_KLU_KINDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
