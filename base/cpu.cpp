#include "ilux/base/cpu.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ilux/base/error.hpp"
#include "ilux/base/granted_threads.hpp"

namespace ilux {
namespace {

constexpr std::size_t threshold = 16384;  // shorter vectors: forking costs more than it saves
constexpr std::size_t max_chunks = 128;   // of a reduction: fixed by n alone, hence repeatable

template <class Body>
void parallel_for(const Cpu& be, std::size_t n, Body&& body)
{
    const auto count = static_cast<std::ptrdiff_t>(n);
#pragma omp parallel for simd schedule(static) num_threads(be.team(n >= threshold))
    for (std::ptrdiff_t i = 0; i < count; ++i) body(static_cast<std::size_t>(i));
}

/// Σ term(i): chunks of one size, each summed by one thread, then added in order.
template <class Term>
double reduce(const Cpu& be, std::size_t n, Term&& term)
{
    const std::size_t              chunk = std::max<std::size_t>(threshold / 4, (n + max_chunks - 1) / max_chunks);
    const std::size_t              chunks = (n + chunk - 1) / chunk;
    std::array<double, max_chunks> partial;
#pragma omp parallel for schedule(static) num_threads(be.team(n >= threshold))
    for (std::size_t c = 0; c < chunks; ++c) {
        const std::size_t end = std::min(n, (c + 1) * chunk);
        double            sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = c * chunk; i < end; ++i) sum += term(i);
        partial[c] = sum;
    }
    double sum = 0;
    for (std::size_t c = 0; c < chunks; ++c) sum += partial[c];
    return sum;
}

}  // namespace

Cpu::Cpu(int threads) : threads_(threads > 0 ? threads : omp_get_max_threads()) {}

int Cpu::team(bool worth) const { return worth && threads_ > 1 ? detail::granted_threads(threads_) : 1; }

double dot(Cpu& be, std::span<const double> x, std::span<const double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    return reduce(be, x.size(), [x, y](std::size_t i) { return x[i] * y[i]; });
}

double norm2(Cpu& be, std::span<const double> x)
{
    const double squares = reduce(be, x.size(), [x](std::size_t i) { return x[i] * x[i]; });
    if (squares > 1e-280 && std::isfinite(squares)) return std::sqrt(squares);
    double largest = 0;  // squares may have under- or overflowed: once more, scaled
    for (double value : x) {
        if (std::isnan(value)) return value;
        largest = std::max(largest, std::abs(value));
    }
    if (largest == 0 || std::isinf(largest)) return largest;
    const double scaled =
        reduce(be, x.size(), [x, largest](std::size_t i) { return (x[i] / largest) * (x[i] / largest); });
    return largest * std::sqrt(scaled);
}

DotNorm dot_norm(Cpu& be, std::span<const double> x, std::span<const double> y)
{
    return {dot(be, x, y), norm2(be, y)};
}

bool is_finite(Cpu& be, std::span<const double> x)
{
    return reduce(be, x.size(), [x](std::size_t i) { return std::isfinite(x[i]) ? 0. : 1.; }) == 0;
}

void copy(Cpu& be, std::span<const double> x, std::span<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [x, y](std::size_t i) { y[i] = x[i]; });
}

void fill(Cpu& be, double a, std::span<double> y)
{
    parallel_for(be, y.size(), [a, y](std::size_t i) { y[i] = a; });
}

void scale(Cpu& be, double a, std::span<double> y)
{
    parallel_for(be, y.size(), [a, y](std::size_t i) { y[i] *= a; });
}

void axpy(Cpu& be, double a, std::span<const double> x, std::span<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [a, x, y](std::size_t i) { y[i] += a * x[i]; });
}

void axpby(Cpu& be, double a, std::span<const double> x, double b, std::span<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [a, b, x, y](std::size_t i) { y[i] = a * x[i] + b * y[i]; });
}

void multiply(Cpu& be, std::span<const double> d, std::span<const double> x, std::span<double> y)
{
    ILUX_ASSERT(d.size() == y.size() && x.size() == y.size());
    parallel_for(be, x.size(), [d, x, y](std::size_t i) { y[i] = d[i] * x[i]; });
}

void multi_dot(Cpu& be, std::span<const double> block, std::span<const double> w, std::span<double> h)
{
    ILUX_ASSERT(block.size() == w.size() * h.size());
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = dot(be, block.subspan(i * w.size(), w.size()), w);
}

void multi_axpy(Cpu& be, std::span<const double> c, std::span<const double> block, std::span<double> y)
{
    ILUX_ASSERT(block.size() == y.size() * c.size());
    const std::size_t     n = y.size();
    constexpr std::size_t tile = 2048;  // y stays in the first-level cache while the block streams past
    const std::size_t     tiles = (n + tile - 1) / tile;
#pragma omp parallel for schedule(static) num_threads(be.team(n >= threshold))
    for (std::size_t t = 0; t < tiles; ++t) {
        const std::size_t end = std::min(n, (t + 1) * tile);
        for (std::size_t k = 0; k < c.size(); ++k)
#pragma omp simd
            for (std::size_t i = t * tile; i < end; ++i) y[i] += c[k] * block[k * n + i];
    }
}

namespace detail {

void copy_in_parallel(void* to, const void* from, std::size_t bytes)
{
    constexpr std::size_t piece = std::size_t{256} << 10;
    const std::size_t     pieces = (bytes + piece - 1) / piece;
    const Cpu             be(std::min(8, omp_get_max_threads()));
#pragma omp parallel for schedule(static) num_threads(be.team(pieces > 1))
    for (std::size_t p = 0; p < pieces; ++p)
        std::memcpy(static_cast<char*>(to) + p * piece, static_cast<const char*>(from) + p * piece,
                    std::min(piece, bytes - p * piece));
}

}  // namespace detail
}  // namespace ilux
