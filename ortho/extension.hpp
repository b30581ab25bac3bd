#pragma once
// What orthogonalizing one vector against a basis may end in.

#include <limits>

#include "ilux/base/backend.hpp"

namespace ilux {

/// What orthogonalising w against a basis left of it.
enum class Extension {
    extended,      ///< w is the next basis vector
    nothing_left,  ///< w lay in the span of the basis up to rounding: ‖(I − V Vᵀ) w‖ ≤ ε ‖w‖
    not_finite,    ///< w held NaN or Inf, or overflowed
};

namespace detail {

/// w ← w / ‖w‖₂ and norm ← ‖w‖₂, unless what remains of a vector once of length `before` is rounding: then norm ← 0.
template <Backend B>
Extension normalize(B& be, double before, Span<B> w, double& norm)
{
    constexpr double eps = std::numeric_limits<double>::epsilon(), least = std::numeric_limits<double>::min();
    norm = norm2(be, ConstSpan<B>(w));
    if (!(norm <= std::numeric_limits<double>::max())) return Extension::not_finite;
    if (norm <= eps * before || norm < least) {
        norm = 0;
        return Extension::nothing_left;
    }
    scale(be, 1 / norm, w);
    return Extension::extended;
}

}  // namespace detail
}  // namespace ilux
