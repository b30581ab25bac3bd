#pragma once
// A level on its way from a device to a matching by the host. Internal to gpu_rounds/.

#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"

namespace ilux::rounds {

/// What is left of S, its rows and columns by their place in `active`.
template <Scalar S>
struct LevelOnHost {
    CsrMatrix<S>        A;  ///< as it was before it was scaled
    std::vector<Index>  active;
    std::vector<double> row_scale, col_scale;  ///< n, of all rows and columns
};
template <Scalar S>
LevelOnHost<S> level_on_host(const Cpu& cpu, Gpu& gpu, const RoundsState<S>& state);

}  // namespace ilux::rounds
