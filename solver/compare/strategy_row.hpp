#pragma once
// One strategy on one system, as a row of a comparison: what it is, what is found out, and whether its x solves the
// system.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A strategy of ours, or a rival's program, and where it runs.
struct Strategy {
    std::string name;     ///< direct, iterative or auto, or that of the rival
    std::string precond;  ///< a rival's own name of its preconditioner; else ""
    std::string device;   ///< cpu or gpu

    /// direct:cpu, cusp:gpu:diagonal.
    std::string step() const { return name + ":" + device + (precond.empty() ? "" : ":" + precond); }
};

/// Takes what is found out, an object of some keys of a row.
using TakeFinding = std::function<void(const nlohmann::ordered_json&)>;

/// {"strategy", "method", "precond", "device"}, and null for all that a run may tell.
nlohmann::ordered_json strategy_row(const Strategy& strategy);

/// Adds what was found out; "seconds" part by part, and setup and total from them.
void add_finding(nlohmann::ordered_json& row, const nlohmann::ordered_json& finding);

/// Whether x solves the system: the same question to every run. Sets relative_residual and backward_error, and outcome
/// converged where ‖b − A x‖₂ ≤ rtol·‖b‖₂; where the run itself said so and it does not hold, stagnated, with a detail.
template <Scalar S>
void judge(nlohmann::ordered_json& row, const CsrView<S>& A, std::span<const NotDeduced<S>> b,
           std::span<const NotDeduced<S>> x, double rtol);

}  // namespace ilux
