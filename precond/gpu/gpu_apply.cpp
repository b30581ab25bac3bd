#include "ilux/precond/gpu/gpu_apply.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"

namespace ilux {
namespace {

constexpr std::size_t worth_a_graph = 4;  // steps: for fewer, the host is ahead of the device anyway

/// The longest run of steps between the first and the last one that read r or write z.
template <class Step>
std::pair<std::size_t, std::size_t> inner_steps(const std::vector<Step>& steps)
{
    const auto of_work = [](const Step& step) {
        return step.in.of == ApplyPart::Of::work && step.out.of == ApplyPart::Of::work;
    };
    std::size_t first = 0;
    while (first < steps.size() && !of_work(steps[first])) ++first;
    std::size_t last = first;
    while (last < steps.size() && of_work(steps[last])) ++last;
    return {first, last};
}

void refuse_beyond(std::size_t needed, Gpu& gpu, const GpuFactorOptions& options)
{
    const std::size_t free = gpu_memory(gpu.device()).free;
    const std::size_t limit =
        options.memory_limit.value > 0 ? std::min<std::size_t>(options.memory_limit.value, free) : free;
    if (needed > limit)
        throw OutOfMemory(fmt::format("the preconditioner needs about {} bytes of device memory, and {} are {}", needed,
                                      limit, limit == free ? "free" : "allowed"));
}

}  // namespace

template <class T>
std::size_t GpuApply<T>::Workspace::bytes() const
{
    std::size_t sum = (work_.size() + dense_.size()) * sizeof(S);
    for (const auto& plan : plans_) sum += plan.bytes();
    return sum;
}

template <class T>
GpuApply<T>::GpuApply(Gpu& gpu, ApplySystems<T> systems, GpuSpTrsvEngine engine)
    : n_(systems.n), dense_(systems.dense), work_(systems.work)
{
    gpu.make_current();
    W_ = DeviceBuffer<T>(systems.W.size());
    upload<T>(gpu, systems.W, W_);
    steps_.reserve(systems.steps.size());
    bool capturable = true;
    for (auto& step : systems.steps) {
        Step made{step.in, step.out, step.dense, {}};
        if (!step.dense) {
            made.plan = GpuSpTrsvPlan<T>(gpu, step.system, engine);
            capturable = capturable && made.plan.engine() != GpuSpTrsvEngine::cusparse;
        }
        steps_.push_back(std::move(made));
        step.system = {};
    }
    const auto [first, last] = inner_steps(steps_);
    if (capturable && last - first >= worth_a_graph) {
        inner_first_ = first;
        inner_last_ = last;
    }
}

template <class T>
std::size_t GpuApply<T>::bytes() const
{
    std::size_t sum = W_.size() * sizeof(T);
    for (const auto& step : steps_) sum += step.plan.bytes();
    return sum;
}

template <class T>
void GpuApply<T>::add_to(GpuFactorReport& report) const
{
    for (const auto& step : steps_)
        if (!step.dense) report.systems.push_back({step.plan.facts(), step.plan.engine()});
    report.dense = dense_;
    report.bytes += bytes();
}

template <class T>
auto GpuApply<T>::workspace(Gpu& gpu) const -> Workspace
{
    Workspace ws;
    gpu.make_current();
    ws.work_ = DeviceBuffer<S>(work_);
    if (dense_ > detail::dense_in_place) ws.dense_ = DeviceBuffer<S>(dense_);
    for (const auto& step : steps_)
        ws.plans_.push_back(step.dense ? typename GpuSpTrsvPlan<T>::Workspace{} : step.plan.workspace(gpu));
    if (inner_first_ < inner_last_) {
        const auto inner = [&] { solve_steps(gpu, inner_first_, inner_last_, {}, {}, ws); };
        inner();  // on zeros; so that every kernel is loaded when it is captured
        gpu.synchronize();
        ws.graph_ = detail::capture_graph(gpu, inner);
    }
    return ws;
}

template <class T>
void GpuApply<T>::solve_steps(Gpu& be, std::size_t first, std::size_t last, DeviceSpan<const S> r, DeviceSpan<S> z,
                              Workspace& ws) const
{
    const DeviceSpan<S> work = ws.work_;
    const auto          part = [&](const ApplyPart& where) {
        return (where.of == ApplyPart::Of::z ? z : work).subspan(where.begin, where.n);
    };
    for (std::size_t s = first; s < last; ++s) {
        const Step& step = steps_[s];
        if (step.dense) detail::multiply_dense<T>(be, W_, part(step.in), ws.dense_);
        else if (step.in.of == ApplyPart::Of::r) step.plan.solve(be, r, part(step.out), ws.plans_[s]);
        else step.plan.solve(be, part(step.in), part(step.out), ws.plans_[s]);
    }
}

template <class T>
void GpuApply<T>::solve(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z, Workspace& ws) const
{
    require(r.size() == static_cast<std::size_t>(n_) && z.size() == r.size(), [&] {
        return fmt::format("r has {} values and z {}; the preconditioner is of order {}", r.size(), z.size(), n_);
    });
    if (!ws.graph_) return solve_steps(be, 0, steps_.size(), r, z, ws);
    solve_steps(be, 0, inner_first_, r, z, ws);
    detail::launch_graph(be, ws.graph_);
    solve_steps(be, inner_last_, steps_.size(), r, z, ws);
}

template <class T>
template <class Factors>
GpuFactors<T>::GpuFactors(Cpu& cpu, Gpu& gpu, const Factors& factors, const GpuFactorOptions& options)
{
    const std::size_t bytes = apply_size(factors).bytes(sizeof(T), sizeof(working_of<T>), gpu.multiprocessors());
    refuse_beyond((options.adjoinable ? 2 : 1) * bytes, gpu, options);
    const auto made = std::make_shared<Made>();
    made->adjoinable = options.adjoinable;
    const auto put = [&](GpuApply<T>& apply, bool adjoint) {
        WallClock clock;
        auto      systems = apply_systems<T>(cpu, factors, adjoint);
        made->report.seconds_convert += clock.lap();
        apply = GpuApply<T>(gpu, std::move(systems), options.engine);
        made->report.seconds_upload += clock.lap();
        apply.add_to(made->report);
    };
    put(made->apply, false);
    if (options.adjoinable) put(made->apply_adjoint, true);
    made_ = made;
}

template <class T>
GpuFactorPreconditioner<T>::GpuFactorPreconditioner(Gpu& gpu, GpuFactors<T> gpu_factors)
    : gpu_factors_(std::move(gpu_factors)),
      ws_(gpu_factors_.apply().workspace(gpu)),
      ws_t_(gpu_factors_.apply_adjoint().workspace(gpu))
{}

template <class T>
void GpuFactorPreconditioner<T>::apply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    gpu_factors_.apply().solve(be, r, z, ws_);
}

template <class T>
void GpuFactorPreconditioner<T>::apply_adjoint(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    require(gpu_factors_.adjoinable(), [] { return "this preconditioner was put on the GPU without its adjoint"; });
    gpu_factors_.apply_adjoint().solve(be, r, z, ws_t_);
}

#define ILUX_INSTANTIATE(T)                                                                                      \
    template class GpuApply<T>;                                                                                  \
    template class GpuFactors<T>;                                                                                \
    template GpuFactors<T>::GpuFactors(Cpu&, Gpu&, const MlIluFactors<working_of<T>>&, const GpuFactorOptions&); \
    template GpuFactors<T>::GpuFactors(Cpu&, Gpu&, const Ilu0<working_of<T>>&, const GpuFactorOptions&);         \
    template class GpuFactorPreconditioner<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
