#pragma once
// Where a direct solution computes.

#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/machine/forecast.hpp"

namespace ilux {

/// @throws InvalidOption where lu.refactor, lu.deterministic and the device contradict one another, or plan an
/// iteration
void require_consistent(const SolverOptions& options);
/// The part of it about a null space, whoever gives that.
void require_null_space_possible(const SolverOptions& options);

/// @throws DeviceError where a method of a GPU's LU is asked for, and there is none
void require_device_for_lu(const SolverOptions& options);

/// Chooses a machine as choose_machine() does. Method lu gets a GPU only where it, or one of its methods, was asked
/// for: take_gpu_for_fronts decides when there is an analysis, and of a series choose_refactor when there are pivots.
template <Scalar S>
Machine machine_for(const SolverOptions& options, const CsrView<S>& A, bool series,
                    std::vector<std::string>& decisions);

/// A GPU for the first factors by fronts, where device=auto leaves that to us and they are made faster there; what
/// was decided is noted.
void take_gpu_for_fronts(Machine& machine, const SolverOptions& options, const LuWork& work,
                         std::vector<std::string>& decisions);

/// The one that a series will begin on, as far as that is known without starting a GPU.
template <Scalar S>
Device likely_device(const SolverOptions& options, const CsrView<S>& A);

/// Whose time the analysis's order is to save: what options.lu.order_for says, and where that is automatic a GPU's that
/// was asked for, if it is to refactor so many systems that they pay for the ordering; else the host's.
LuOrderFor order_for(const SolverOptions& options, double systems);

/// After the first factorization: moves to a GPU what that would make faster, preparation included, unless the caller
/// has chosen; says why. @param systems  that are still to be refactored
template <Scalar S>
void choose_refactor(Machine& machine, const SolverOptions& options, Lu<S>& lu, double systems,
                     std::vector<std::string>& decisions);

}  // namespace ilux
