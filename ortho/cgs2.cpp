#include "ilux/ortho/cgs2.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Backend B, Scalar S>
Extension detail::cgs2_by_primitives(B& be, ConstSpan<B, NotDeduced<S>> V, Span<B, NotDeduced<S>> w,
                                     std::span<NotDeduced<S>> h, std::span<NotDeduced<S>> scratch)
{
    const std::size_t k = h.size() - 1;
    const auto        c = scratch.first(k);
    ILUX_ASSERT(V.size() == w.size() * k);

    const real_of<S> before = norm2<S>(be, ConstSpan<B, S>(w));
    std::ranges::fill(h, S(0));
    if (before == 0) return Extension::nothing_left;
    if (!std::isfinite(before)) return Extension::not_finite;

    for (int pass = 0; pass < 2; ++pass) {
        multi_dot<S>(be, V, ConstSpan<B, S>(w), c);  // c = Vᴴ w
        for (std::size_t i = 0; i < k; ++i) {
            h[i] += c[i];
            c[i] = -c[i];
        }
        multi_axpy<S>(be, c, V, w);  // w ← w − V c
    }
    return detail::normalize<B, S>(be, before, w, h[k]);
}

template <class S>
Extension cgs2(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               std::span<NotDeduced<S>> scratch)
{
    return detail::cgs2_by_primitives<Cpu, S>(be, V, w, h, scratch);
}

#define ILUX_INSTANTIATE(S)                                                                                       \
    template Extension detail::cgs2_by_primitives<Cpu, S>(Cpu&, std::span<const S>, std::span<S>, std::span<S>,   \
                                                          std::span<S>);                                          \
    template Extension cgs2<S>(Cpu&, std::span<const S>, std::span<S>, std::span<S>, std::span<S>);               \
    template Extension detail::cgs2_by_primitives<Gpu, S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, \
                                                          std::span<S>);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
