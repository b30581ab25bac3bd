#include "ilux/ortho/mgso.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"

namespace ilux {

template <Backend B>
Extension mgso_hybrid(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, double threshold)
{
    const std::size_t n = w.size(), k = h.size() - 1;
    ILUX_ASSERT(V.size() == n * k);

    const double before = norm2(be, ConstSpan<B>(w));
    h[k] = 0;
    if (before == 0) return Extension::nothing_left;
    if (!std::isfinite(before)) return Extension::not_finite;

    double omega = 1;  // ω in units of ‖w‖², which itself might overflow
    for (std::size_t i = 0; i < k; ++i) {
        const auto v = V.subspan(i * n, n);
        h[i] = dot(be, v, ConstSpan<B>(w));
        axpy(be, -h[i], v, w);
        const double cosine = h[i] / before;
        if (cosine * cosine > threshold * omega) {
            const double again = dot(be, v, ConstSpan<B>(w));
            axpy(be, -again, v, w);
            h[i] += again;
        }
        omega = std::max(0., omega - (h[i] / before) * (h[i] / before));
    }
    return detail::normalize(be, before, w, h[k]);
}

template Extension mgso_hybrid<Cpu>(Cpu&, ConstSpan<Cpu>, Span<Cpu>, std::span<double>, double);
template Extension mgso_hybrid<Gpu>(Gpu&, ConstSpan<Gpu>, Span<Gpu>, std::span<double>, double);

Extension mgso(Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h, double threshold)
{
    return mgso_hybrid<Cpu>(be, V, w, h, threshold);
}

Extension mgso_host(Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h, std::span<double>,
                    double threshold)
{
    return mgso(be, V, w, h, threshold);
}

Extension mgso_host(Gpu& be, DeviceSpan<const double> V, DeviceSpan<double> w, std::span<double> h,
                    std::span<double> host, double threshold)
{
    const std::size_t n = w.size(), k = h.size() - 1;
    ILUX_ASSERT(V.size() == n * k && host.size() >= n * (k + 1));
    const auto next = host.subspan(n * k, n);
    if (k == 1) download<double>(be, V, host.first(n));  // the vector that no call has made
    download<double>(be, w, next);
    Cpu             cpu;
    const Extension extension = mgso(cpu, host.first(n * k), next, h, threshold);
    upload<double>(be, next, w);
    return extension;
}

}  // namespace ilux
