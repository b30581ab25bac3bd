#pragma once
// Where a solve runs, and the rule by which device=auto decides.

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/machine/precond_factors.hpp"

namespace ilux {

namespace device_rule {
constexpr double hop_seconds = 0.26e-6;  // from a row to one that waits for it
}

/// Where a solve ran.
struct Device {
    std::string kind = "cpu", name;
    int         threads = 1;  ///< of the host
};

/// What attempts compute with.
struct Machine {
    Cpu                  cpu = Cpu();
    std::unique_ptr<Gpu> gpu = nullptr;          ///< null: all is done on the host
    bool                 gpu_by_choice = false;  ///< device=auto took it, and an attempt may give it up
    GpuSpTrsvEngine      engine = GpuSpTrsvEngine::automatic;
    Bytes                memory_limit = {};  ///< of the GPU; 0: what is free

    Device device() const;
};

/// @throws DeviceError when a GPU is asked for and there is none
void require_device(DeviceChoice choice);

/// Whether a GPU may be used and there is one. Starts its driver.
bool gpu_is_open(const SolverOptions& options);

/// Starts the driver of a GPU in a thread of its own, where an A of so many entries may go there: who makes a Gpu later
/// waits for what is left of that alone. Nothing where it may not.
[[nodiscard]] std::future<void> start_gpu(const SolverOptions& options, Offset nnz);

/// Whether choose_machine would take a GPU for so many entries, as far as that is known without starting one.
bool gpu_is_likely(const SolverOptions& options, Offset nnz);

/// Decides by least_nnz_for_gpu(); what was decided for the user is noted in `decisions`.
/// @throws DeviceError when a GPU is asked for and cannot be used
template <Scalar S>
Machine choose_machine(const SolverOptions& options, const CsrView<S>& A, std::vector<std::string>& decisions);

/// Once M is factored: why the host had better apply it, or "". A step on a GPU takes launches and a hop for every
/// dependent row, or the bytes read, whichever is more. @param saved  M saves G and F
template <Scalar S>
std::string why_not_gpu(const CsrView<S>& A, const PrecondFactors<S>& factors, bool saved);

}  // namespace ilux
