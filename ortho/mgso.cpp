#include "ilux/ortho/mgso.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"

namespace ilux {

template <Backend B>
Extension mgso(B& be, ConstSpan<B> V, Span<B> w, std::span<double> h, double threshold)
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

template Extension mgso<Cpu>(Cpu&, ConstSpan<Cpu>, Span<Cpu>, std::span<double>, double);

}  // namespace ilux
