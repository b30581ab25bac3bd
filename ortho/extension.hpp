#pragma once
// What orthogonalizing one vector against a basis may end in.

#include <limits>

#include "ilux/base/backend.hpp"

namespace ilux {

/// What orthogonalising w against a basis left of it.
enum class Extension {
    extended,      ///< w is the next basis vector
    nothing_left,  ///< w lay in the span of the basis up to rounding: ‖(I − V Vᴴ) w‖ ≤ ε ‖w‖
    not_finite,    ///< w held NaN or Inf, or overflowed
};

namespace detail {

/// w ← w / ‖w‖₂ and norm ← ‖w‖₂, a real number, unless what remains of a vector once of length `before` is rounding:
/// then norm ← 0.
template <Backend B, Scalar S = double>
Extension normalize(B& be, real_of<S> before, Span<B, NotDeduced<S>> w, S& norm)
{
    using Limits = std::numeric_limits<real_of<S>>;
    const real_of<S> left = norm2<S>(be, ConstSpan<B, S>(w));
    norm = left;
    if (!(left <= Limits::max())) return Extension::not_finite;
    if (left <= Limits::epsilon() * before || left < Limits::min()) {
        norm = 0;
        return Extension::nothing_left;
    }
    scale<S>(be, 1 / left, w);
    return Extension::extended;
}

}  // namespace detail
}  // namespace ilux
