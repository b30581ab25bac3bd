#include "ilux/ortho/cgs2.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"

namespace ilux {

template <Backend B>
Extension detail::cgs2_by_primitives(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, std::span<double> scratch)
{
    const std::size_t k = h.size() - 1;
    const auto        c = scratch.first(k);
    ILUX_ASSERT(V.size() == w.size() * k);

    const double before = norm2(be, ConstSpan<B>(w));
    std::ranges::fill(h, 0.);
    if (before == 0) return Extension::nothing_left;
    if (!std::isfinite(before)) return Extension::not_finite;

    for (int pass = 0; pass < 2; ++pass) {
        multi_dot(be, V, ConstSpan<B>(w), c);  // c = Vᵀ w
        for (std::size_t i = 0; i < k; ++i) {
            h[i] += c[i];
            c[i] = -c[i];
        }
        multi_axpy(be, c, V, w);  // w ← w − V c
    }
    return detail::normalize(be, before, w, h[k]);
}

template Extension detail::cgs2_by_primitives<Cpu>(Cpu&, ConstSpan<Cpu>, Span<Cpu>, std::span<double>,
                                                   std::span<double>);
template Extension detail::cgs2_by_primitives<Gpu>(Gpu&, ConstSpan<Gpu>, Span<Gpu>, std::span<double>,
                                                   std::span<double>);

Extension cgs2(Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h, std::span<double> scratch)
{
    return detail::cgs2_by_primitives<Cpu>(be, V, w, h, scratch);
}

}  // namespace ilux
