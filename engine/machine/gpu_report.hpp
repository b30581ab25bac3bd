#pragma once
// What an iteration has put on a GPU.

#include <cstddef>
#include <string>
#include <vector>

#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux {

/// What was put on the device, and what that took.
struct GpuReport {
    std::vector<GpuFactorReport::System> systems;    ///< triangular, of M⁻¹ in their order, then of M⁻ᵀ
    Index                                dense = 0;  ///< order of the dense level
    Precision                            precision = Precision::in_double;  ///< as stored, not as asked for
    std::string                          remark;                            ///< why that differs, or ""
    std::size_t                          matrix_bytes = 0, factor_bytes = 0, workspace_bytes = 0;
    std::size_t                          peak_bytes = 0;  ///< of all that ilux held on devices since this was made
    /// What was waited for: factors to systems, and all that crossed to or fro, but for what went on while M was
    /// factored.
    double seconds_transfer = 0;
};

}  // namespace ilux
