#pragma once
// Progress of a long call, told to whoever asked. The library itself never prints.

#include <complex>
#include <functional>
#include <span>

#include "ilux/base/types.hpp"

namespace ilux {

/// Where a factorization or an iteration stands.
struct Progress {
    enum class Phase { setup, solve } phase;
    Index  level = 0;      ///< setup: level of the multilevel factorization, from 1
    Index  done = 0;       ///< setup: columns worked through; solve: steps
    Index  total = 0;      ///< setup: columns of this level; solve: the step limit
    double residual = 0;   ///< solve: relative residual; an estimate unless `exact`
    bool   exact = false;  ///< solve: recomputed from A, b and x
    /// solve: x as it stands, of real or of complex numbers, as long as the call lasts; GMRES renews it at the end of a
    /// cycle. Empty where the host has none: on a GPU, and within a correction in single precision.
    std::span<const double>               real_x = {};
    std::span<const std::complex<double>> complex_x = {};
};

/// Called on the calling thread, at intervals that are short against a second but for very large or dense steps. It
/// must not throw; to end the work it asks a StopSource to. Empty: nobody listens.
using ProgressListener = std::function<void(const Progress&)>;

}  // namespace ilux
