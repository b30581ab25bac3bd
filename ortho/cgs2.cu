// Classical Gram-Schmidt, twice, with the coefficients of both passes left on the device.

#include <algorithm>
#include <cmath>

#include "ilux/base/gpu/cuda_blocks.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int block_size = 256;

template <class Number>
constexpr double epsilon = std::is_same_v<real_of<Number>, float> ? 1.1920928955078125e-07 : 2.220446049250313e-16;

/// Whether ‖·‖ may be taken as √squares: neither over- nor underflow came near.
__host__ __device__ bool trusted(double squares) { return squares > 1e-280 && squares < 1e300; }

/// w ← w / ‖w‖₂ unless what remains is rounding, or the squares cannot say so.
template <class Number>
__global__ void normalize_if_clear(std::size_t n, Number* w, const double* before, const double* after)
{
    if (!trusted(*before) || !trusted(*after) || sqrt(*after) <= epsilon<Number> * sqrt(*before)) return;
    const auto        factor = static_cast<real_of<Number>>(1 / sqrt(*after));
    const std::size_t stride = std::size_t(gridDim.x) * block_size;
    for (std::size_t i = std::size_t(blockIdx.x) * block_size + threadIdx.x; i < n; i += stride) w[i] = factor * w[i];
}

/// Where the numbers of one call stand, in State::coefficients as in State::sums.
struct Places {
    int first, second;  // k coefficients each
    int before, after;  // squared norms
    /// @param parts  doubles of a coefficient
    Places(int k, int parts) : first(0), second(parts * k), before(2 * parts * k), after(before + 1) {}
};

/// All passes, enqueued. With more than vectors_a_pass vectors the update of the first pass and the dots of the second
/// cannot share their reading: a row's k values no longer fit the registers.
template <class Number>
void project_twice(Gpu& be, const Number* V, std::size_t n, int k, Number* w, const Places& at)
{
    using Pass = cuda::BlockPass<Number>;
    constexpr int parts = cuda::parts<Number>, at_once = cuda::vectors_a_pass<Number>;
    double* const device = be.state().coefficients.data();
    double* const host = be.state().sums;
    const auto    part = [&](int first) {
        return Pass{.V = V + first * n, .n = n, .k = std::min(at_once, k - first), .w = w, .scale = -1};
    };
    const auto coefficients = [&](int where, int first) {
        return reinterpret_cast<const working_of<Number>*>(device + where) + first;
    };
    const auto dots = [&](Pass& pass, int where) {
        pass.dots = device + where;
        pass.dots_host = host + where;
    };
    const auto squares = [&](Pass& pass, int where) {
        pass.squares = device + where;
        pass.squares_host = host + where;
    };

    for (int first = 0; first < k; first += at_once) {  // c = Vᴴ w
        auto pass = part(first);
        dots(pass, at.first + parts * first);
        if (first == 0) squares(pass, at.before);
        cuda::block_dots(be, pass);
    }
    if (k <= at_once) {  // w ← w − V c,  d = Vᴴ w
        auto pass = part(0);
        pass.backwards = true;
        pass.coefficients = coefficients(at.first, 0);
        dots(pass, at.second);
        cuda::block_update_dots(be, pass);
    } else {
        for (int first = 0; first < k; first += at_once) {
            auto pass = part(first);
            pass.coefficients = coefficients(at.first, first);
            cuda::block_update(be, pass);
        }
        for (int first = 0; first < k; first += at_once) {
            auto pass = part(first);
            dots(pass, at.second + parts * first);
            cuda::block_dots(be, pass);
        }
    }
    for (int first = 0; first < k; first += at_once) {  // w ← w − V d
        auto pass = part(first);
        pass.coefficients = coefficients(at.second, first);
        if (first + at_once >= k) squares(pass, at.after);
        cuda::block_update(be, pass);
    }
}

}  // namespace

template <class S>
Extension cgs2(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               std::span<NotDeduced<S>> scratch)
{
    const cuda::Range range("cgs2");
    const int         k = static_cast<int>(h.size()) - 1;
    const std::size_t n = w.size();
    const Places      at(k, cuda::parts<cuda::Value<S>>);
    ILUX_ASSERT(V.size() == n * k);
    if (k == 0 || n == 0 || at.after >= cuda::max_results)
        return detail::cgs2_by_primitives<Gpu, S>(be, V, w, h, scratch);

    const auto    stream = cuda::stream(be);
    double* const device = be.state().coefficients.data();
    double* const host = be.state().sums;
    project_twice(be, cuda::as_values(V.data()), n, k, cuda::as_values(w.data()), at);
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((n + block_size - 1) / block_size, 1 << 16));
    normalize_if_clear<<<blocks, block_size, 0, stream>>>(n, cuda::as_values(w.data()), device + at.before,
                                                          device + at.after);
    cuda::check_launch("normalize_if_clear");
    check(cudaStreamSynchronize(stream), "cgs2");

    const auto* const first = reinterpret_cast<const working_of<S>*>(host + at.first);
    const auto* const second = reinterpret_cast<const working_of<S>*>(host + at.second);
    for (int i = 0; i < k; ++i) h[i] = S(first[i] + second[i]);
    double before = std::sqrt(host[at.before]);
    if (trusted(host[at.before]) && trusted(host[at.after])) {
        const double after = std::sqrt(host[at.after]);
        const bool   extended = after > epsilon<S> * before;
        h[k] = static_cast<real_of<S>>(extended ? after : 0);
        return extended ? Extension::extended : Extension::nothing_left;
    }
    before = norm2<S>(be, DeviceSpan<const S>(w));  // ‖w‖² before was Σ h_i² + ‖w‖² now
    for (int i = 0; i < k; ++i) before = std::hypot(before, std::abs(h[i]));
    h[k] = 0;
    if (before == 0) return Extension::nothing_left;
    if (!std::isfinite(before)) return Extension::not_finite;
    return detail::normalize<Gpu, S>(be, static_cast<real_of<S>>(before), w, h[k]);
}

#define ILUX_INSTANTIATE(S) \
    template Extension cgs2<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, std::span<S>);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
