#pragma once
// How long one strategy of ours takes on one system, by its phases, and what its x is worth.

#include <span>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/solver/compare/strategy_row.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux {

inline constexpr Index default_repeats = 3;

/// A x = b, and how it is measured.
template <Scalar S>
struct SystemToMeasure {
    CsrView<S>         A;
    std::span<const S> b;
    SolverOptions      options = {};
    Index              repeats = default_repeats;  ///< of what takes at most a second; the median is given
    StopToken          stop = {};
};

/// Measures, and hands out, as it comes, objects of which later ones add to earlier ones: {"begin": step} once the
/// device is warm, {"seconds": {...}}, {"outcome", "relative_residual", ...}. The strategy goes before mode, method and
/// device of the options.
/// @param strategy  direct, iterative or auto, on cpu or gpu
/// @throws InvalidOption, InvalidInput, DeviceError, Stopped
template <Scalar S>
void measure_strategy(const Strategy& strategy, const SystemToMeasure<S>& system, const TakeFinding& take);

}  // namespace ilux
