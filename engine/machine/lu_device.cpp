#include "ilux/engine/machine/lu_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/refactor_choice.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/engine/machine/machine_rates.hpp"

namespace ilux {
namespace {

/// What speaks against a GPU, or "".
template <Scalar S>
std::string why_not_gpu(const LuFactors<S>& factors, int threads, double systems, double free_bytes,
                        int multiprocessors = usual_multiprocessors)
{
    return factors.fronts ? why_cpu<S>(*factors.fronts, threads, systems, free_bytes)
                          : why_cpu<S>(*factors.pattern, threads, systems, free_bytes, multiprocessors);
}

}  // namespace

void require_null_space_possible(const SolverOptions& options)
{
    const std::string asked = fmt::format("krylov.null_space={}", options.krylov.null_space);
    if (options.krylov.null_space.empty())
        throw InvalidOption("krylov.null_space is none, constant or the name of a file");
    if (options.strategy() == SolverMode::direct)
        throw InvalidOption(
            asked + " says that A is singular, and an LU does not take it; an iteration does: method=gmres or auto");
    if (options.krylov.precision == KrylovPrecision::mixed)
        throw InvalidOption(asked + " is kept in double: it contradicts krylov.precision=mixed");
    if (!options.plan.empty())
        throw InvalidOption(fmt::format("plan={}: it keeps what an LU prepares, and {} has none", options.plan, asked));
}

void require_coarse_possible(const SolverOptions& options)
{
    const auto contradicts = [](const std::string& other, const char* why) {
        throw InvalidOption(fmt::format("precond.coarse=on contradicts {}: {}", other, why));
    };
    if (options.strategy() == SolverMode::direct) contradicts("an LU", "it is part of a preconditioner");
    if (options.precond.kind != PrecondKind::mlilu)
        contradicts(fmt::format("precond.kind={}", field_text(options.precond.kind)), "it stands beside mlilu");
    if (options.krylov.precision == KrylovPrecision::mixed)
        contradicts("krylov.precision=mixed", "it is applied in double");
    if (options.method == MethodChoice::sqmr || options.method == MethodChoice::cocg)
        contradicts(fmt::format("method={}", field_text(options.method)), "that needs M symmetric");
    if (options.method == MethodChoice::minres)
        contradicts("method=minres", "that needs a positive definite M, and a coarse matrix is as definite as A");
}

void require_consistent(const SolverOptions& options)
{
    const SolverMode strategy = options.strategy();
    if (options.mode != SolverMode::automatic && options.mode != strategy)
        throw InvalidOption(fmt::format("method={} is {}: it contradicts mode={}", field_text(options.method),
                                        field_text(strategy), field_text(options.mode)));
    if (options.krylov.null_space != "none") require_null_space_possible(options);
    if (options.precond.coarse == CoarseChoice::on) require_coarse_possible(options);
    if (strategy == SolverMode::iterative && !options.plan.empty())
        throw InvalidOption(
            fmt::format("plan={}: it keeps what an LU prepares, and an iteration was asked for", options.plan));
    if (strategy == SolverMode::iterative) return;
    const RefactorMethod method = options.lu.refactor;
    if (method == RefactorMethod::cpu && options.device == DeviceChoice::gpu)
        throw InvalidOption("lu.refactor=cpu contradicts device=gpu");
    if (is_of_gpu(method) && options.device == DeviceChoice::cpu)
        throw InvalidOption(fmt::format("lu.refactor={} runs on a GPU: it contradicts device=cpu", name(method)));
    if (options.lu.deterministic && varies_bits(method))
        throw InvalidOption(fmt::format(
            "lu.deterministic=on: the last bits of {} vary, as it adds in no fixed order; auto, left and islu repeat theirs",
            name(method)));
}

void require_device_for_lu(const SolverOptions& options)
{
    if (options.strategy() != SolverMode::iterative && is_of_gpu(options.lu.refactor))
        require_device(DeviceChoice::gpu);
}

template <Scalar S>
Machine machine_for(const SolverOptions& options, const CsrView<S>& A, bool series, std::vector<std::string>& decisions)
{
    if (options.method != MethodChoice::lu) return choose_machine(options, A, decisions);
    Machine machine{.cpu = Cpu(options.threads), .memory_limit = options.device_memory};
    if (options.device == DeviceChoice::gpu || is_of_gpu(options.lu.refactor)) {
        require_device(DeviceChoice::gpu);
        machine.gpu = std::make_unique<Gpu>();
        if (options.device == DeviceChoice::automatic)
            decisions.push_back(fmt::format("device gpu: lu.refactor={} is of a GPU", name(options.lu.refactor)));
    } else if (options.device == DeviceChoice::automatic && !series) {
        if (!built_with_cuda()) decisions.emplace_back("device cpu: this build has no CUDA code");
    }
    return machine;
}

void take_gpu_for_fronts(Machine& machine, const SolverOptions& options, const LuWork& work,
                         std::vector<std::string>& decisions)
{
    const bool open = options.device == DeviceChoice::automatic && options.lu.refactor == RefactorMethod::automatic &&
                      options.lu.supernodes != LuSupernodes::off;
    if (!open || !built_with_cuda() || !gpu_pays_for_fronts(work, machine.cpu.threads(), machine_rates()) ||
        gpu_count() == 0)
        return;
    constexpr double left_room = 1.5;  // what fronts leave one another, and the plan, over the numbers
    try {
        auto         gpu = std::make_unique<Gpu>();
        const double need = left_room * work.nnz * (work.complex ? 2 : 1) * sizeof(double);
        const double limit = double(machine.memory_limit.value), free = double(gpu_memory(gpu->device()).free);
        if (need > (limit > 0 ? std::min(limit, free) : free)) return;
        machine.gpu = std::move(gpu);
        machine.gpu_by_choice = true;
        decisions.push_back(fmt::format("device gpu: {:.2g} flops by fronts", work.flops));
    } catch (const DeviceError&) {  // one for which this build has no code, say
    }
}

template <Scalar S>
Device likely_device(const SolverOptions& options, const CsrView<S>& A)
{
    const bool direct = options.strategy() == SolverMode::direct;
    const bool gpu = direct ? options.device == DeviceChoice::gpu || is_of_gpu(options.lu.refactor)
                            : gpu_is_likely(options, A.nnz());
    const int  threads = Cpu(options.threads).threads();
    return gpu ? Device{.kind = "gpu", .name = gpu_name(0), .threads = threads}
               : Device{.kind = "cpu", .name = cpu_name(), .threads = threads};
}

LuOrderFor order_for(const SolverOptions& options, double systems)
{
    constexpr double many = 200;  // each gains some 0.3 ms where the order matters, which takes 20 to 100 ms
    if (options.lu.order_for != LuOrderFor::automatic) return options.lu.order_for;
    return options.device == DeviceChoice::gpu && systems >= many ? LuOrderFor::gpu : LuOrderFor::host;
}

template <Scalar S>
void choose_refactor(Machine& machine, const SolverOptions& options, Lu<S>& lu, double systems,
                     std::vector<std::string>& decisions)
{
    if (machine.gpu || options.device != DeviceChoice::automatic) return;
    const LuFactors<S>& factors = lu.factors();
    const int           threads = machine.cpu.threads();
    std::string         why;
    if (options.lu.refactor == RefactorMethod::cpu) why = "lu.refactor=cpu";
    else if (!built_with_cuda()) why = "this build has no CUDA code";
    else if (systems == 0) why = "there is a single system";
    else  // before the driver is started, which takes 0.2 s
        why = why_not_gpu(factors, threads, systems, std::numeric_limits<double>::infinity());
    if (why.empty() && gpu_count() == 0) why = "no GPU was found";
    if (why.empty()) try {
            auto         gpu = std::make_unique<Gpu>();
            const double free = double(gpu_memory(gpu->device()).free), limit = double(options.device_memory.value);
            why = why_not_gpu(factors, threads, systems, limit > 0 ? std::min(limit, free) : free,
                              gpu->multiprocessors());
            if (why.empty()) {
                lu.use_gpu(*gpu);
                machine.gpu = std::move(gpu);
                machine.gpu_by_choice = true;
            }
        } catch (const Error& error) {  // a GPU without memory, say, or one for which this build has no code
            why = error.what();
        }
    decisions.push_back(why.empty() ? fmt::format("device gpu: {} systems are still to be refactored", systems)
                                    : "device cpu: " + why);
}

#define ILUX_INSTANTIATE(S)                                                                                 \
    template Machine machine_for(const SolverOptions&, const CsrView<S>&, bool, std::vector<std::string>&); \
    template Device  likely_device(const SolverOptions&, const CsrView<S>&);                                \
    template void    choose_refactor(Machine&, const SolverOptions&, Lu<S>&, double, std::vector<std::string>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
