// The vector primitives of Backend on the host.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

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

/// Σ term(i), begin ≤ i < end.
template <class S, class Term>
S sum_terms(std::size_t begin, std::size_t end, Term&& term)
{
    S sum = 0;
    if constexpr (is_complex<S>) {
        for (std::size_t i = begin; i < end; ++i) sum += term(i);
    } else {
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = begin; i < end; ++i) sum += term(i);
    }
    return sum;
}

/// Σ term(i): chunks of one size, each summed by one thread, then added in order.
template <class S, class Term>
S reduce(const Cpu& be, std::size_t n, Term&& term)
{
    const std::size_t         chunk = std::max<std::size_t>(threshold / 4, (n + max_chunks - 1) / max_chunks);
    const std::size_t         chunks = (n + chunk - 1) / chunk;
    std::array<S, max_chunks> partial;
#pragma omp parallel for schedule(static) num_threads(be.team(n >= threshold))
    for (std::size_t c = 0; c < chunks; ++c) partial[c] = sum_terms<S>(c * chunk, std::min(n, (c + 1) * chunk), term);
    S sum = 0;
    for (std::size_t c = 0; c < chunks; ++c) sum += partial[c];
    return sum;
}

constexpr double least_squares_kept = 1e-280;  // of Σ|x_i|²: below it squares may have underflowed

/// x̄ y in double.
template <class S>
working_of<S> inner_product(S x, S y)
{
    return conj(working_of<S>(x)) * working_of<S>(y);
}

}  // namespace

template <class S>
S dot(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    return S(reduce<working_of<S>>(be, x.size(), [x, y](std::size_t i) { return inner_product<S>(x[i], y[i]); }));
}

template <class S>
S dotu(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    using Sum = working_of<S>;
    return S(reduce<Sum>(be, x.size(), [x, y](std::size_t i) { return Sum(x[i]) * Sum(y[i]); }));
}

template <class S>
real_of<S> norm2(Cpu& be, std::span<const NotDeduced<S>> x)
{
    using Real = real_of<S>;
    using Sum = working_of<S>;
    const double squares = reduce<double>(be, x.size(), [x](std::size_t i) { return abs_squared(Sum(x[i])); });
    if (squares > least_squares_kept && std::isfinite(squares)) return static_cast<Real>(std::sqrt(squares));
    Real largest = 0;  // squares may have under- or overflowed: once more, scaled
    for (const S& value : x) {
        if (is_nan(value)) return abs1(value);
        largest = std::max(largest, std::abs(value));
    }
    if (largest == 0 || std::isinf(largest)) return largest;
    const double scaled =
        reduce<double>(be, x.size(), [x, largest](std::size_t i) { return abs_squared(Sum(x[i] / largest)); });
    return static_cast<Real>(largest * std::sqrt(scaled));
}

template <class S>
DotNorm<S> dot_norm(Cpu& be, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> y)
{
    return {dot<S>(be, x, y), norm2<S>(be, y)};
}

template <class S>
bool is_finite(Cpu& be, std::span<const NotDeduced<S>> x)
{
    return reduce<double>(be, x.size(), [x](std::size_t i) { return is_finite(x[i]) ? 0. : 1.; }) == 0;
}

template <class S>
void copy(Cpu& be, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [x, y](std::size_t i) { y[i] = x[i]; });
}

template <class S>
void fill(Cpu& be, NotDeduced<S> a, std::span<NotDeduced<S>> y)
{
    parallel_for(be, y.size(), [a, y](std::size_t i) { y[i] = a; });
}

template <class S>
void scale(Cpu& be, NotDeduced<S> a, std::span<NotDeduced<S>> y)
{
    parallel_for(be, y.size(), [a, y](std::size_t i) { y[i] *= a; });
}

template <class S>
void axpy(Cpu& be, NotDeduced<S> a, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [a, x, y](std::size_t i) { y[i] += a * x[i]; });
}

template <class S>
void axpby(Cpu& be, NotDeduced<S> a, std::span<const NotDeduced<S>> x, NotDeduced<S> b, std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [a, b, x, y](std::size_t i) { y[i] = a * x[i] + b * y[i]; });
}

template <class S>
void multiply(Cpu& be, std::span<const NotDeduced<S>> d, std::span<const NotDeduced<S>> x, std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(d.size() == y.size() && x.size() == y.size());
    parallel_for(be, x.size(), [d, x, y](std::size_t i) { y[i] = d[i] * x[i]; });
}

template <class S>
void multi_dot(Cpu& be, std::span<const NotDeduced<S>> block, std::span<const NotDeduced<S>> w,
               std::span<NotDeduced<S>> h)
{
    ILUX_ASSERT(block.size() == w.size() * h.size());
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = dot<S>(be, block.subspan(i * w.size(), w.size()), w);
}

template <class S>
void multi_axpy(Cpu& be, std::span<const NotDeduced<S>> c, std::span<const NotDeduced<S>> block,
                std::span<NotDeduced<S>> y)
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

template <class S>
void narrow(Cpu& be, double a, std::span<const NotDeduced<S>> x, std::span<single_of<NotDeduced<S>>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [a, x, y](std::size_t i) { y[i] = single_of<S>(a * x[i]); });
}

template <class S>
void widen(Cpu& be, std::span<const single_of<NotDeduced<S>>> x, std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    parallel_for(be, x.size(), [x, y](std::size_t i) { y[i] = x[i]; });
}

#define ILUX_INSTANTIATE(S)                                                                       \
    template S          dot<S>(Cpu&, std::span<const S>, std::span<const S>);                     \
    template S          dotu<S>(Cpu&, std::span<const S>, std::span<const S>);                    \
    template real_of<S> norm2<S>(Cpu&, std::span<const S>);                                       \
    template DotNorm<S> dot_norm<S>(Cpu&, std::span<const S>, std::span<const S>);                \
    template bool       is_finite<S>(Cpu&, std::span<const S>);                                   \
    template void       copy<S>(Cpu&, std::span<const S>, std::span<S>);                          \
    template void       fill<S>(Cpu&, S, std::span<S>);                                           \
    template void       scale<S>(Cpu&, S, std::span<S>);                                          \
    template void       axpy<S>(Cpu&, S, std::span<const S>, std::span<S>);                       \
    template void       axpby<S>(Cpu&, S, std::span<const S>, S, std::span<S>);                   \
    template void       multiply<S>(Cpu&, std::span<const S>, std::span<const S>, std::span<S>);  \
    template void       multi_dot<S>(Cpu&, std::span<const S>, std::span<const S>, std::span<S>); \
    template void       multi_axpy<S>(Cpu&, std::span<const S>, std::span<const S>, std::span<S>);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

#define ILUX_INSTANTIATE(S)                                                             \
    template void narrow<S>(Cpu&, double, std::span<const S>, std::span<single_of<S>>); \
    template void widen<S>(Cpu&, std::span<const single_of<S>>, std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
