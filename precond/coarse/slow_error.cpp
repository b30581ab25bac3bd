#include "ilux/precond/coarse/slow_error.hpp"

#include <cmath>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr Index  first_look = 12, last_look = 20, most_steps = 32, plain_steps = 12;
constexpr double fast = 2e-5;  // ‖M⁻½ A x‖₂ over that before the steps: as many again, or somewhat more, solve
constexpr double slow_alone = 0.03;  // share of x that one more step takes: x is slow errors alone
constexpr double slow_by_steps = 0.94;
constexpr double rounding = 1e-8;  // of dᴴ A d beside ‖d‖ ‖A d‖: singular A have directions of no curvature

/// x ← x / ‖x‖₂. @return ‖x‖₂ before
template <Backend B, Scalar T>
double normalize(B& be, Span<B, T> x)
{
    const double norm = norm2<T>(be, x);
    if (norm > 0) scale<T>(be, 1 / norm, x);
    return norm;
}

}  // namespace

template <Backend B, Scalar T>
SlowError left_by_cg(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x, double step)
{
    Buffer<B, T> r(x.size()), z(x.size()), d(x.size()), q(x.size());
    normalize<B, T>(be, x);
    A.apply(be, x, r);
    M.apply(be, r, z);
    copy<T>(be, z, d);
    double       size = real_part(dot<T>(be, r, z));
    const double enough = fast * fast * size;
    SlowError    told;
    const auto   goes_on = [&] {
        if (!(size > 0) || told.steps == most_steps) return false;
        if (told.steps < last_look) return told.steps != first_look || size > enough;
        return size > enough && norm2<T>(be, z) / norm2<T>(be, x) > slow_alone * step;
    };
    while (goes_on()) {
        A.apply(be, d, q);
        const double curvature = real_part(dot<T>(be, d, q));
        told.indefinite = curvature < -rounding * norm2<T>(be, d) * norm2<T>(be, q);
        if (!(curvature > 0)) break;
        const double length = size / curvature;
        axpy<T>(be, -length, d, x);
        axpy<T>(be, -length, q, r);
        M.apply(be, r, z);
        const double next = real_part(dot<T>(be, r, z));
        axpby<T>(be, 1, z, next / size, d);
        size = next;
        ++told.steps;
    }
    const double norm = normalize<B, T>(be, x);
    told.left = norm > 0 ? 1 - norm2<T>(be, z) / norm : 0;
    told.indefinite |= size < 0;
    told.rest = norm;
    told.found = size > enough && !told.indefinite && 1 - told.left < slow_alone * step;
    return told;
}

template <Backend B, Scalar T>
SlowError left_by_steps(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x)
{
    Buffer<B, T> r(x.size()), z(x.size());
    SlowError    told{.left = normalize<B, T>(be, x)};
    for (; told.steps < plain_steps && told.left > 0; ++told.steps) {
        A.apply(be, x, r);
        M.apply(be, r, z);
        axpy<T>(be, -1, z, x);
        told.left = normalize<B, T>(be, x);
        told.rest *= told.left;
    }
    told.found = told.left > slow_by_steps && std::isfinite(told.left);
    return told;
}

#define ILUX_INSTANTIATE(B, T)                                                                                       \
    template SlowError left_by_cg<B, T>(B&, const LinearOperator<B, T>&, Preconditioner<B, T>&, Span<B, T>, double); \
    template SlowError left_by_steps<B, T>(B&, const LinearOperator<B, T>&, Preconditioner<B, T>&, Span<B, T>);
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
