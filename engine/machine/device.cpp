#include "ilux/engine/machine/device.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/background.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/engine/machine/machine_rates.hpp"
#include "ilux/sptrsv/level_set.hpp"

namespace ilux {
namespace {

/// Rows on the chains of one M⁻¹, one after another.
template <Scalar S>
Offset chain(const PrecondFactors<S>& factors, bool saved)
{
    if (factors.ilu0)
        return Offset{dependency_depth(factors.ilu0->L(), Triangle::lower)} +
               dependency_depth(factors.ilu0->U(), Triangle::upper);
    Offset rows = 0;
    if (factors.mlilu)
        for (const MlIluLevelReport& level : factors.mlilu->report().levels) rows += level.depth_L + level.depth_U;
    return saved ? 2 * rows : rows;
}

template <Scalar S>
double bytes_of(const PrecondFactors<S>& factors)
{
    return factors.mlilu ? double(factors.mlilu->report().bytes) : factors.ilu0 ? double(factors.ilu0->bytes()) : 0;
}

bool may_go_there(const SolverOptions& options, Offset nnz)
{
    if (options.device == DeviceChoice::cpu || !built_with_cuda()) return false;
    return options.device == DeviceChoice::gpu ||
           nnz >= least_nnz_for_gpu(Cpu(options.threads).threads(), machine_rates());
}

template <Scalar S>
std::string why_no_gpu(const CsrView<S>& A, Offset least_nnz)
{
    if (!built_with_cuda()) return "this build has no CUDA code";
    if (A.nnz() < least_nnz)  // asked first: the driver takes its time to start
        return fmt::format("nnz {}, and a GPU begins to gain at about {}", A.nnz(), least_nnz);
    return gpu_count() == 0 ? "no GPU was found" : "";
}

}  // namespace

Device Machine::device() const
{
    if (gpu) return {.kind = "gpu", .name = gpu_name(gpu->device()), .threads = cpu.threads()};
    return {.kind = "cpu", .name = cpu_name(), .threads = cpu.threads()};
}

void require_device(DeviceChoice choice)
{
    if (choice != DeviceChoice::gpu) return;
    if (!built_with_cuda())
        throw DeviceError("device gpu: this build has no CUDA code; use device=cpu, or build with -DILUX_CUDA=ON");
    if (gpu_count() == 0) throw DeviceError("device gpu: no CUDA device was found; device=cpu does without one");
}

bool gpu_is_open(const SolverOptions& options)
{
    return options.device != DeviceChoice::cpu && built_with_cuda() && gpu_count() > 0;
}

bool gpu_is_likely(const SolverOptions& options, Offset nnz)
{
    return may_go_there(options, nnz) && (options.device == DeviceChoice::gpu || gpu_count() > 0);
}

std::future<void> start_gpu(const SolverOptions& options, Offset nnz)
{
    const bool direct = options.strategy() == SolverMode::direct && options.device != DeviceChoice::gpu;
    if (direct || !may_go_there(options, nnz)) return {};  // an LU starts it where it wins
    return in_background([] {
        if (gpu_count() > 0) try {
                const Gpu started;
            } catch (const Error&) {  // whoever needs it is told
            }
    });
}

template <Scalar S>
Machine choose_machine(const SolverOptions& options, const CsrView<S>& A, std::vector<std::string>& decisions)
{
    Machine machine{.cpu = Cpu(options.threads),
                    .engine = options.sptrsv.engine,
                    .memory_limit = options.device_memory};
    if (options.device == DeviceChoice::cpu) return machine;
    if (options.device == DeviceChoice::gpu) {
        require_device(DeviceChoice::gpu);
        machine.gpu = std::make_unique<Gpu>();
        return machine;
    }
    const Offset least = least_nnz_for_gpu(machine.cpu.threads(), machine_rates());
    std::string  why = why_no_gpu(A, least);
    if (why.empty()) try {
            machine.gpu = std::make_unique<Gpu>();
        } catch (const DeviceError& error) {  // a GPU for which this build has no code, say
            why = error.what();
        }
    machine.gpu_by_choice = machine.gpu != nullptr;
    decisions.push_back(machine.gpu ? fmt::format("device gpu: {} was found, and nnz {} is at least {}",
                                                  gpu_name(machine.gpu->device()), A.nnz(), least)
                                    : fmt::format("device cpu: {}", why));
    return machine;
}

template <Scalar S>
std::string why_not_gpu(const CsrView<S>& A, const PrecondFactors<S>& factors, bool saved)
{
    using namespace device_rule;
    const Rates& rates = machine_rates();
    const double bytes = double(A.bytes()) + bytes_of(factors) + 8.0 * sizeof(S) * A.rows();
    const Offset rows = chain(factors, saved);
    const double gpu = rates.gpu_step + std::max(hop_seconds * double(rows), bytes * rates.gpu_byte),
                 host = bytes * rates.host_byte;
    if (gpu < host) return "";
    return fmt::format("M has chains of {} dependent rows: about {:.2g} ms a step on a GPU, {:.2g} ms on the host",
                       rows, 1e3 * gpu, 1e3 * host);
}

#define ILUX_INSTANTIATE(S)                                                                                  \
    template Machine     choose_machine(const SolverOptions&, const CsrView<S>&, std::vector<std::string>&); \
    template std::string why_not_gpu(const CsrView<S>&, const PrecondFactors<S>&, bool);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
