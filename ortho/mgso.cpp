#include "ilux/ortho/mgso.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Backend B, Scalar S>
Extension mgso_hybrid(B& be, ConstSpan<B, NotDeduced<S>> V, Span<B, NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                      double threshold)
{
    const std::size_t n = w.size(), k = h.size() - 1;
    ILUX_ASSERT(V.size() == n * k);

    const real_of<S> before = norm2<S>(be, ConstSpan<B, S>(w));
    h[k] = 0;
    if (before == 0) return Extension::nothing_left;
    if (!std::isfinite(before)) return Extension::not_finite;

    real_of<S> omega = 1;  // ω in units of ‖w‖², which itself might overflow
    for (std::size_t i = 0; i < k; ++i) {
        const auto v = V.subspan(i * n, n);
        h[i] = dot<S>(be, v, ConstSpan<B, S>(w));
        axpy<S>(be, -h[i], v, w);
        if (abs_squared(h[i] / before) > threshold * omega) {
            const S again = dot<S>(be, v, ConstSpan<B, S>(w));
            axpy<S>(be, -again, v, w);
            h[i] += again;
        }
        omega = std::max(real_of<S>(0), omega - abs_squared(h[i] / before));
    }
    return detail::normalize<B, S>(be, before, w, h[k]);
}

template <class S>
Extension mgso(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               double threshold)
{
    return mgso_hybrid<Cpu, S>(be, V, w, h, threshold);
}

template <class S>
Extension mgso_host(Cpu& be, std::span<const NotDeduced<S>> V, std::span<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                    std::span<NotDeduced<S>>, double threshold)
{
    return mgso<S>(be, V, w, h, threshold);
}

template <class S>
Extension mgso_host(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
                    std::span<NotDeduced<S>> host, double threshold)
{
    const std::size_t n = w.size(), k = h.size() - 1;
    ILUX_ASSERT(V.size() == n * k && host.size() >= n * (k + 1));
    const auto next = host.subspan(n * k, n);
    if (k == 1) download<S>(be, V, host.first(n));  // the vector that no call has made
    download<S>(be, w, next);
    Cpu             cpu;
    const Extension extension = mgso<S>(cpu, host.first(n * k), next, h, threshold);
    upload<S>(be, next, w);
    return extension;
}

#define ILUX_INSTANTIATE(S)                                                                                      \
    template Extension mgso_hybrid<Cpu, S>(Cpu&, std::span<const S>, std::span<S>, std::span<S>, double);        \
    template Extension mgso<S>(Cpu&, std::span<const S>, std::span<S>, std::span<S>, double);                    \
    template Extension mgso_host<S>(Cpu&, std::span<const S>, std::span<S>, std::span<S>, std::span<S>, double); \
    template Extension mgso_hybrid<Gpu, S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, double);      \
    template Extension mgso_host<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, std::span<S>, double);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
