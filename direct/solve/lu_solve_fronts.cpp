#include "ilux/direct/solve/lu_solve_fronts.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/direct/supernodal/front_solve.hpp"

namespace ilux::detail {
namespace {

blas::Op op_of(Transpose transpose)
{
    switch (transpose) {
        case Transpose::no:
            break;
        case Transpose::yes:
            return blas::Op::transposed;
        case Transpose::adjoint:
            return blas::Op::adjoint;
    }
    return blas::Op::none;
}

}  // namespace

template <class S>
void lu_solve_fronts(Cpu& be, const LuFactors<S>& factors, std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
                     LuWorkspace<NotDeduced<S>>& ws, Transpose transpose)
{
    const LuPattern&  P = *factors.pattern;
    const bool        transposed = transpose != Transpose::no;
    const auto&       from = transposed ? P.col_perm : P.row_perm;
    const auto&       to = transposed ? P.row_perm : P.col_perm;
    const auto&       from_scale = transposed ? P.col_scale : P.row_scale;
    const auto&       to_scale = transposed ? P.row_scale : P.col_scale;
    const std::size_t n = P.n;
    const auto        scaled = [](S value, const std::vector<double>& scale, Index i) {
        return scale.empty() ? value : S(value * scale[i]);
    };
    const std::size_t scratch = front_solve_scratch(*factors.fronts, ws.rhs());
    if (ws.fronts.size() < scratch) ws.fronts.resize(scratch);
    for (std::size_t first = 0; first < b.size(); first += n * ws.rhs()) {
        const std::size_t count = std::min<std::size_t>(ws.rhs(), (b.size() - first) / n);
        for (std::size_t v = 0; v < count; ++v)
            for (std::size_t k = 0; k < n; ++k)
                ws.y[k + v * n] = scaled(b[first + v * n + from[k]], from_scale, from[k]);
        front_solve<S>(be, factors, op_of(transpose), static_cast<Index>(count), ws.y.data(), ws.fronts.data());
        for (std::size_t v = 0; v < count; ++v)
            for (std::size_t k = 0; k < n; ++k) x[first + v * n + to[k]] = scaled(ws.y[k + v * n], to_scale, to[k]);
    }
}

#define ILUX_INSTANTIATE(S)                                                                                        \
    template void lu_solve_fronts(Cpu& be, const LuFactors<S>&, std::span<const S>, std::span<S>, LuWorkspace<S>&, \
                                  Transpose);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
