#include "ilux/krylov/hessenberg_qr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar S>
HessenbergQr<S>::HessenbergQr(Index m)
    : m_(m), r_((m + std::size_t{1}) * m), cos_(m), sin_(m), g_(m + std::size_t{1}), y_(m)
{}

template <Scalar S>
void HessenbergQr<S>::start(real_of<S> beta)
{
    k_ = 0;
    std::ranges::fill(g_, S(0));
    g_[0] = beta;
}

template <Scalar S>
std::span<S> HessenbergQr<S>::next_column()
{
    ILUX_ASSERT(k_ < m_);
    return {&r(0, k_), static_cast<std::size_t>(k_) + 2};
}

template <Scalar S>
bool HessenbergQr<S>::append()
{
    const auto h = next_column();
    real_of<S> size = 0;
    for (S hi : h) size = std::hypot(size, std::abs(hi));
    for (Index i = 0; i < k_; ++i) {
        const S above = h[i];
        h[i] = conj(cos_[i]) * above + sin_[i] * h[i + 1];
        h[i + 1] = cos_[i] * h[i + 1] - sin_[i] * above;
    }
    const real_of<S> diagonal = std::hypot(std::abs(h[k_]), std::abs(h[k_ + 1]));
    if (!(diagonal > 10 * (k_ + 1) * std::numeric_limits<real_of<S>>::epsilon() * size)) return false;
    cos_[k_] = h[k_] / diagonal;
    sin_[k_] = real_part(h[k_ + 1]) / diagonal;
    h[k_] = diagonal;
    h[k_ + 1] = 0;
    g_[k_ + 1] = -sin_[k_] * g_[k_];
    g_[k_] *= conj(cos_[k_]);
    ++k_;
    return true;
}

template <Scalar S>
real_of<S> HessenbergQr<S>::residual() const
{
    return std::abs(g_[k_]);
}

template <Scalar S>
std::span<const S> HessenbergQr<S>::solve()
{
    for (Index i = k_ - 1; i >= 0; --i) {
        S sum = g_[i];
        for (Index j = i + 1; j < k_; ++j) sum -= r(i, j) * y_[j];
        y_[i] = sum / real_part(r(i, i));
    }
    return std::span(y_).first(k_);
}

#define ILUX_INSTANTIATE(S) template class HessenbergQr<S>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
