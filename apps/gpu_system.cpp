#include "ilux/apps/gpu_system.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/apps/progress.hpp"
#include "ilux/apps/units.hpp"
#include "ilux/precond/gpu_ilu0.hpp"
#include "ilux/precond/gpu_jacobi.hpp"
#include "ilux/precond/gpu_mlilu.hpp"

namespace ilux::app {
namespace {

constexpr double estimate_margin = 1.1;  // engines pad their rows, and each plan has small arrays of its own

std::size_t value_bytes(Precision precision)
{
    return precision == Precision::in_single ? sizeof(float) : sizeof(double);
}

void refuse_beyond(const DeviceNeed& need, Gpu& gpu, Bytes limit)
{
    const std::size_t free = gpu_memory(gpu.device()).free;
    const bool        limited = limit.value > 0 && limit.value < free;
    const std::size_t room = limited ? limit.value : free;
    if (need.total() <= room) return;
    throw OutOfMemory(fmt::format(
        "about {} of device memory are needed (matrix {}, factors {}, vectors {}), and {} are {}; a larger "
        "precond.drop_tol, precond.precision=single or a smaller --restart takes less, and --device cpu takes none",
        bytes_text(double(need.total())), bytes_text(double(need.matrix)), bytes_text(double(need.factors)),
        bytes_text(double(need.workspace)), bytes_text(double(room)), limited ? "allowed" : "free"));
}

}  // namespace

DeviceNeed device_need(const CsrMatrix<double>& A, const HostFactors& factors, Method method,
                       const KrylovOptions& krylov, Precision precision)
{
    const auto        n = static_cast<std::size_t>(A.rows());
    const std::size_t copies = needs_transpose(method) ? 2 : 1;
    const std::size_t matrix =
        (n + 1) * sizeof(Offset) + static_cast<std::size_t>(A.nnz()) * (sizeof(Index) + sizeof(double));
    DeviceNeed need{.matrix = copies * matrix,
                    .factors = 0,
                    .workspace = workspace_bytes(method, A.rows(), krylov) + 2 * n * sizeof(double)};
    const auto sweep = [&](const SweepSize& size) {
        return static_cast<std::size_t>(estimate_margin * double(copies * size.bytes(value_bytes(precision))));
    };
    if (factors.mlilu) need.factors = sweep(sweep_size(factors.mlilu->factors()));
    else if (factors.ilu0) need.factors = sweep(sweep_size(*factors.ilu0));
    else if (factors.jacobi) need.factors = n * sizeof(double);
    return need;
}

void GpuSystem::timed(const std::function<void()>& work)
{
    Stopwatch clock;
    work();
    gpu_.synchronize();
    report_.seconds_transfer += clock.seconds();
}

template <class T, class Factors>
void GpuSystem::put_sweeps(Cpu& cpu, const Factors& factors, const GpuSweepOptions& options)
{
    const GpuSweeps<T> sweeps(cpu, gpu_, factors, options);
    auto               M = std::make_unique<GpuSweepPreconditioner<T>>(gpu_, sweeps);
    report_.systems = sweeps.report().systems;
    report_.dense = sweeps.report().dense;
    report_.precision = sizeof(T) == sizeof(float) ? Precision::in_single : Precision::in_double;
    report_.factor_bytes = sweeps.report().bytes;
    report_.workspace_bytes += M->workspace_bytes();
    M_ = std::move(M);
}

void GpuSystem::put_factors(Cpu& cpu, const HostFactors& factors, Method method, const GpuSystemOptions& options)
{
    const GpuSweepOptions sweep{.engine = options.engine,
                                .transposable = needs_transpose(method),
                                .memory_limit = options.memory_limit};
    const auto            put = [&](const auto& source) {
        if (options.precision == Precision::in_single) try {
                return put_sweeps<float>(cpu, source, sweep);
            } catch (const InvalidInput& error) {  // a value that float cannot hold
                report_.remark = fmt::format("precision double, not single: {}", error.what());
            }
        put_sweeps<double>(cpu, source, sweep);
    };
    if (factors.mlilu) put(factors.mlilu->factors());
    else if (factors.ilu0) put(*factors.ilu0);
    else if (factors.jacobi) {
        auto M = std::make_unique<GpuJacobi>(gpu_, *factors.jacobi);
        report_.factor_bytes = M->bytes();
        M_ = std::move(M);
    } else M_ = std::make_unique<Identity<Gpu>>(A_->size());
}

GpuSystem::GpuSystem(Cpu& cpu, Gpu& gpu, const CsrMatrix<double>& A, const HostFactors& factors, Method method,
                     const KrylovOptions& krylov, const GpuSystemOptions& options)
    : gpu_(gpu), method_(method)
{
    refuse_beyond(device_need(A, factors, method, krylov, options.precision), gpu, options.memory_limit);
    gpu.make_current();
    restart_device_peak();
    timed([&] {
        A_.emplace(gpu, A, needs_transpose(method));
        put_factors(cpu, factors, method, options);
        ws_.emplace(method, A.rows(), krylov);
        b_ = DeviceBuffer<double>(A.rows());
        x_ = DeviceBuffer<double>(A.rows());
    });
    report_.matrix_bytes = A_->bytes();
    report_.workspace_bytes += ws_->bytes() + (b_.size() + x_.size()) * sizeof(double);
    report_.peak_bytes = device_use().peak_bytes;
}

SolveReport GpuSystem::solve(std::span<const double> b, std::span<double> x, const KrylovOptions& krylov,
                             const Monitor& monitor)
{
    timed([&] {
        upload<double>(gpu_, b, b_);
        upload<double>(gpu_, x, x_);
    });
    const SolveReport report = ilux::solve<Gpu>(gpu_, method_, *A_, *M_, b_, x_, *ws_, krylov, monitor);
    timed([&] { download<double>(gpu_, x_, x); });
    report_.peak_bytes = device_use().peak_bytes;
    return report;
}

}  // namespace ilux::app
