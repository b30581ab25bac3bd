#include "ilux/krylov/hessenberg_qr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"

namespace ilux {

HessenbergQr::HessenbergQr(Index m)
    : m_(m), r_((m + std::size_t{1}) * m), cos_(m), sin_(m), g_(m + std::size_t{1}), y_(m)
{}

void HessenbergQr::start(double beta)
{
    k_ = 0;
    std::ranges::fill(g_, 0.);
    g_[0] = beta;
}

std::span<double> HessenbergQr::next_column()
{
    ILUX_ASSERT(k_ < m_);
    return {&r(0, k_), static_cast<std::size_t>(k_) + 2};
}

bool HessenbergQr::append()
{
    const auto h = next_column();
    double     size = 0;
    for (double hi : h) size = std::hypot(size, hi);
    for (Index i = 0; i < k_; ++i) {
        const double above = h[i];
        h[i] = cos_[i] * above + sin_[i] * h[i + 1];
        h[i + 1] = cos_[i] * h[i + 1] - sin_[i] * above;
    }
    const double diagonal = std::hypot(h[k_], h[k_ + 1]);
    if (!(diagonal > 10 * (k_ + 1) * std::numeric_limits<double>::epsilon() * size)) return false;
    cos_[k_] = h[k_] / diagonal;
    sin_[k_] = h[k_ + 1] / diagonal;
    h[k_] = diagonal;
    h[k_ + 1] = 0;
    g_[k_ + 1] = -sin_[k_] * g_[k_];
    g_[k_] *= cos_[k_];
    ++k_;
    return true;
}

double HessenbergQr::residual() const { return std::abs(g_[k_]); }

std::span<const double> HessenbergQr::solve()
{
    for (Index i = k_ - 1; i >= 0; --i) {
        double sum = g_[i];
        for (Index j = i + 1; j < k_; ++j) sum -= r(i, j) * y_[j];
        y_[i] = sum / r(i, i);
    }
    return std::span(y_).first(k_);
}

}  // namespace ilux
