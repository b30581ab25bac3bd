#pragma once
// Where a solve runs, and the rule by which --device auto decides.

#include <memory>
#include <string>
#include <vector>

#include "ilux/solver/machine/gpu_system.hpp"
#include "ilux/solver/machine/options.hpp"

namespace ilux {

/// All numbers of --device auto. The GPU is taken for matrices from `least_nnz` on, unless a step there would take
/// longer than on the host: a launch and a hop for every dependent row, or the bytes read, whichever is more, against
/// the bytes that a host reads.
namespace device_rule {
constexpr Offset least_nnz = 500'000;    // of A; below, the host is done before a GPU has started
constexpr double hop_seconds = 0.26e-6;  // from a row to one that waits for it
constexpr double launch_seconds = 1e-4;  // of all launches and waits of a step
constexpr double gpu_rate = 2e12;        // bytes a second
constexpr double host_rate = 5e9;
}  // namespace device_rule

/// Where a solve ran.
struct Device {
    std::string kind = "cpu", name;
    int         threads = 1;  ///< of the host
};

/// What attempts compute with.
struct Machine {
    Cpu                  cpu = Cpu();
    std::unique_ptr<Gpu> gpu = nullptr;          ///< null: all is done on the host
    bool                 gpu_by_choice = false;  ///< --device auto took it, and an attempt may give it up
    GpuSpTrsvEngine      engine = GpuSpTrsvEngine::automatic;
    Bytes                memory_limit = {};  ///< of the GPU; 0: what is free

    Device device() const;
};

/// @throws DeviceError when a GPU is asked for and there is none
void require_device(DeviceChoice choice);

/// Whether choose_machine would take a GPU, as far as that is known without starting one.
template <Scalar S>
bool gpu_is_likely(const SolverOptions& options, const CsrView<S>& A);

/// Decides by the size of A; what was decided for the user is noted in `decisions`.
/// @throws DeviceError when a GPU is asked for and cannot be used
template <Scalar S>
Machine choose_machine(const SolverOptions& options, const CsrView<S>& A, std::vector<std::string>& decisions);

/// Once M is factored: why the host had better apply it, or "". @param saved  M saves G and F
template <Scalar S>
std::string why_not_gpu(const CsrView<S>& A, const PrecondFactors<S>& factors, bool saved);

}  // namespace ilux
