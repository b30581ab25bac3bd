#include "ilux/solver/machine/gpu_system.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/background.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"

namespace ilux {
namespace {

constexpr double estimate_margin = 1.1;  // engines pad their rows, and each plan has small arrays of its own

template <Scalar S>
std::size_t value_bytes(Precision precision)
{
    return precision == Precision::in_single ? sizeof(single_of<S>) : sizeof(S);
}

std::size_t copies(bool adjoinable) { return adjoinable ? 2 : 1; }

/// Device memory of M.
template <Scalar S>
std::size_t factor_bytes(Index n, const PrecondFactors<S>& factors, bool adjoinable, Precision precision)
{
    const auto of_systems = [&](const ApplySize& size) {
        return static_cast<std::size_t>(estimate_margin *
                                        double(copies(adjoinable) * size.bytes(value_bytes<S>(precision), sizeof(S))));
    };
    const auto        rows = static_cast<std::size_t>(n);
    const std::size_t of_N = factors.null_space ? (factors.null_space->count() + 1) * rows * sizeof(S) : 0;
    if (factors.rounds) return of_N + factors.rounds->most_bytes(adjoinable);
    if (factors.mlilu) return of_N + of_systems(apply_size(factors.mlilu->factors()));
    if (factors.ilu0) return of_N + of_systems(apply_size(*factors.ilu0));
    return of_N + (factors.jacobi ? rows * sizeof(S) : 0);
}

/// @param held  bytes of `need` that are allocated already
void refuse_beyond(const DeviceNeed& need, std::size_t held, Gpu& gpu, Bytes limit)
{
    const std::size_t free = gpu_memory(gpu.device()).free + held;
    const bool        limited = limit.value > 0 && limit.value < free;
    const std::size_t room = limited ? limit.value : free;
    if (need.total() <= room) return;
    const std::string factors = need.factors > 0 ? fmt::format("factors {}, ", bytes_text(double(need.factors))) : "";
    throw OutOfMemory(fmt::format(
        "about {} of device memory are needed (matrix {}, {}vectors {}), and {} are {}; a larger "
        "precond.drop_tol, precond.precision=single or a smaller --restart takes less, and --device cpu takes none",
        bytes_text(double(need.total())), bytes_text(double(need.matrix)), factors, bytes_text(double(need.workspace)),
        bytes_text(double(room)), limited ? "allowed" : "free"));
}

}  // namespace

template <Scalar S>
DeviceNeed device_need(const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                       const KrylovOptions& krylov, Precision precision, KrylovPrecision arithmetic)
{
    const auto        n = static_cast<std::size_t>(A.rows());
    const std::size_t matrix =
        (n + 1) * sizeof(Offset) + static_cast<std::size_t>(A.nnz()) * (sizeof(Index) + sizeof(S));
    if (arithmetic == KrylovPrecision::mixed)
        return {.matrix = matrix,
                .factors = factor_bytes(A.rows(), factors, needs_transpose(method), Precision::in_single),
                .workspace = mixed_bytes<S>(A.rows(), A.nnz(), method, krylov) + 2 * n * sizeof(S)};
    return {.matrix = copies(needs_transpose(method)) * matrix,
            .factors = factor_bytes(A.rows(), factors, needs_transpose(method), precision),
            .workspace = workspace_bytes<S>(method, A.rows(), krylov) + 2 * n * sizeof(S)};
}

template <Scalar S>
void GpuSystem<S>::timed(const std::function<void()>& work)
{
    WallClock clock;
    work();
    gpu_.synchronize();
    report_.seconds_transfer += clock.seconds();
}

template <Scalar S>
template <class T, class Factors>
void GpuSystem<S>::put_factors(Cpu& cpu, const Factors& factors, const GpuFactorOptions& options)
{
    const GpuFactors<T> gpu_factors(cpu, gpu_, factors, options);
    auto                M = std::make_unique<GpuFactorPreconditioner<T>>(gpu_, gpu_factors);
    report_.systems = gpu_factors.report().systems;
    report_.dense = gpu_factors.report().dense;
    report_.precision = sizeof(T) < sizeof(S) ? Precision::in_single : Precision::in_double;
    report_.factor_bytes = gpu_factors.report().bytes;
    report_.workspace_bytes += M->workspace_bytes();
    if (mixed_) mixed_->put(gpu_, std::move(M));
    else M_ = std::move(M);
}

/// The launches of a solve are those of engine level_graph: one for each round, and one graph of all.
template <Scalar S>
void GpuSystem<S>::put_rounds(const GpuRounds<S>& rounds)
{
    if (mixed_) mixed_->put(gpu_, rounds);
    else M_ = rounds.preconditioner(gpu_, adjoinable_);
    report_.systems = rounds.systems(adjoinable_);
    report_.dense = rounds.dense_order();
    report_.precision = rounds.in_single() ? Precision::in_single : Precision::in_double;
    report_.remark = rounds.remark();
    report_.factor_bytes = copies(adjoinable_) * rounds.bytes();
    report_.workspace_bytes += copies(adjoinable_) * rounds.workspace_bytes();
}

template <Scalar S>
void GpuSystem<S>::put_preconditioner(Cpu& cpu, const PrecondFactors<S>& factors)
{
    const GpuFactorOptions how{.engine = options_.engine,
                               .adjoinable = adjoinable_,
                               .memory_limit = options_.memory_limit};
    const auto             put = [&](const auto& source) {
        if (options_.precision == Precision::in_single) try {
                return put_factors<single_of<S>>(cpu, source, how);
            } catch (const InvalidInput& error) {  // a value that single precision cannot hold
                report_.remark = fmt::format("precision double, not single: {}", error.what());
            }
        put_factors<S>(cpu, source, how);
    };
    if (factors.rounds) return put_rounds(*factors.rounds);
    if (mixed_ && !factors.mlilu && !factors.ilu0) {
        mixed_->put(gpu_, factors.jacobi.get());
        report_.factor_bytes = factors.jacobi ? static_cast<std::size_t>(A_->size()) * sizeof(single_of<S>) : 0;
    } else if (factors.mlilu) put(factors.mlilu->factors());
    else if (factors.ilu0) put(*factors.ilu0);
    else if (factors.jacobi) {
        auto M = std::make_unique<GpuJacobi<S>>(gpu_, *factors.jacobi);
        report_.factor_bytes = M->bytes();
        M_ = std::move(M);
    } else M_ = std::make_unique<Identity<Gpu, S>>(A_->size());
}

template <Scalar S>
void GpuSystem<S>::put_matrix_and_vectors(const KrylovOptions& krylov)
{
    refuse_beyond(need_, 0, gpu_, options_.memory_limit);
    gpu_.make_current();
    const Index n = host_A_->rows();
    A_.emplace(gpu_, *host_A_, needs_transpose(method_) && !is_mixed_);
    if (is_mixed_) mixed_.emplace(gpu_, *host_A_, A_->matrix(), method_, krylov);
    else ws_.emplace(method_, n, krylov);
    b_ = DeviceBuffer<S>(n);
    x_ = DeviceBuffer<S>(n);
    report_matrix_and_vectors();
    gpu_.synchronize();
}

template <Scalar S>
void GpuSystem<S>::report_matrix_and_vectors()
{
    report_.matrix_bytes = A_->bytes() + (mixed_ ? mixed_->matrix_bytes() : 0);
    report_.workspace_bytes = (mixed_ ? mixed_->workspace_bytes() : ws_->bytes()) + (b_.size() + x_.size()) * sizeof(S);
}

template <Scalar S>
GpuSystem<S>::GpuSystem(Gpu& gpu, const CsrView<S>& A, Method method, const KrylovOptions& krylov,
                        const GpuSystemOptions& options)
    : gpu_(gpu),
      host_A_(&A),
      method_(method),
      options_(options),
      is_mixed_(options.arithmetic == KrylovPrecision::mixed),
      adjoinable_(options.turned || needs_transpose(method)),
      need_(device_need<S>(A, {}, method, krylov, options.precision, options.arithmetic))
{
    if (is_mixed_) options_.precision = Precision::in_single;
    restart_device_peak();
    matrix_and_vectors_ = in_background([this, krylov] { put_matrix_and_vectors(krylov); });
}

template <Scalar S>
GpuSystem<S>::GpuSystem(Cpu& cpu, Gpu& gpu, const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                        const KrylovOptions& krylov, const GpuSystemOptions& options)
    : GpuSystem(gpu, A, method, krylov, options)
{
    put_factors(cpu, factors);
}

template <Scalar S>
void GpuSystem<S>::await_matrix_and_vectors()
{
    if (matrix_and_vectors_.valid()) matrix_and_vectors_.get();
}

template <Scalar S>
bool GpuSystem<S>::serves(Method method, const GpuSystemOptions& options) const
{
    const bool in_double = !is_mixed_ && options.arithmetic == KrylovPrecision::in_double;
    return in_double && method_ == method && options_.precision == options.precision;
}

template <Scalar S>
void GpuSystem<S>::renew(const CsrView<S>& A)
{
    host_A_ = &A;
    report_.seconds_transfer = 0;
    restart_device_peak();
    matrix_and_vectors_ = in_background([this] {
        gpu_.make_current();
        A_->upload_values(gpu_, *host_A_);
        gpu_.synchronize();
    });
}

template <Scalar S>
void GpuSystem<S>::renew(Gpu& caller, DeviceSpan<const S> values)
{
    report_.seconds_transfer = 0;
    restart_device_peak();
    run_after(gpu_, caller);
    A_->copy_values(gpu_, values);
    run_after(caller, gpu_);
}

template <Scalar S>
void GpuSystem<S>::await_values()
{
    timed([&] { await_matrix_and_vectors(); });
}

template <Scalar S>
void GpuSystem<S>::drop_factors()
{
    M_.reset();
    projected_.reset();
    of_factors_.reset();
    room_.reset();
    const double seconds = report_.seconds_transfer;
    report_ = {};
    report_.seconds_transfer = seconds;
    report_matrix_and_vectors();
}

template <Scalar S>
GpuRounds<S> GpuSystem<S>::set_up_rounds(Cpu& cpu, const MlIluOptions& options, const GpuRoundsPlan* former,
                                         const ProgressListener& on_progress, const StopToken& stop)
{
    gpu_.make_current();
    await_values();
    const bool in_single = options_.precision == Precision::in_single;
    if (former) return GpuRounds<S>::rebuild(cpu, gpu_, A_->matrix(), options, in_single, *former, on_progress, stop);
    return GpuRounds<S>::build(cpu, gpu_, A_->matrix(), options, in_single, on_progress, stop);
}

template <Scalar S>
void GpuSystem<S>::project(const NullSpace<S>& null_space)
{
    DeviceBuffer<S> columns(null_space.columns().size());
    upload<S>(gpu_, null_space.columns(), columns);
    report_.workspace_bytes += (columns.size() + null_space.size()) * sizeof(S);
    of_factors_ = std::move(M_);
    M_ = std::make_unique<ProjectedPreconditioner<Gpu, S>>(*of_factors_, std::move(columns), null_space.count(),
                                                           null_space.left());
}

template <Scalar S>
void GpuSystem<S>::turn()
{
    auto& inner = of_factors_ ? projected_ : of_factors_;
    inner = std::move(M_);
    M_ = std::make_unique<AdjointPreconditioner<Gpu, S>>(*inner);
}

template <Scalar S>
void GpuSystem<S>::put_factors(Cpu& cpu, const PrecondFactors<S>& factors)
{
    gpu_.make_current();
    timed([&] {
        const auto refuse = [&](std::size_t held) {
            need_.factors = factor_bytes(host_A_->rows(), factors, adjoinable_, options_.precision);
            refuse_beyond(need_, held, gpu_, options_.memory_limit);
        };
        try {
            await_matrix_and_vectors();
        } catch (const OutOfMemory&) {
            refuse(0);  // in the same words, but with the factors
            throw;
        }
        refuse(report_.matrix_bytes + report_.workspace_bytes + (factors.rounds ? factors.rounds->bytes() : 0));
        put_preconditioner(cpu, factors);
        if (factors.null_space) project(*factors.null_space);
        if (options_.turned) turn();
    });
    report_.peak_bytes = device_use().peak_bytes;
}

template <Scalar S>
template <class Solve>
IterationReport GpuSystem<S>::iterate(std::span<const S> b, std::span<S> x, Solve&& solve)
{
    load(b, x);
    const IterationReport report = solve();
    unload(x);
    return report;
}

template <Scalar S>
void GpuSystem<S>::load(std::span<const S> b, std::span<const S> x)
{
    timed([&] {
        upload<S>(gpu_, b, b_);
        upload<S>(gpu_, x, x_);
    });
}

template <Scalar S>
void GpuSystem<S>::unload(std::span<S> x)
{
    timed([&] { download<S>(gpu_, x_, x); });
    report_.peak_bytes = device_use().peak_bytes;
}

template <Scalar S>
IterationReport GpuSystem<S>::solve(const KrylovOptions& krylov, const ProgressListener& on_progress,
                                    const StopToken& stop)
{
    const IterationReport report =
        mixed_ ? mixed_->solve(gpu_, *A_, {}, b_, x_, krylov, on_progress, stop)
               : ilux::solve<Gpu, S>(gpu_, method_, *A_, *M_, b_, x_, *ws_, krylov, on_progress, stop);
    report_.peak_bytes = device_use().peak_bytes;
    return report;
}

template <Scalar S>
IterationReport GpuSystem<S>::solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                                    const ProgressListener& on_progress, const StopToken& stop)
{
    return iterate(b, x, [&] { return solve(krylov, on_progress, stop); });
}

template <Scalar S>
IterationReport GpuSystem<S>::solve_rows_scaled(std::span<const double> D, std::span<const S> b, std::span<S> x,
                                                const KrylovOptions& krylov, const ProgressListener& on_progress,
                                                const StopToken& stop)
{
    gpu_.make_current();
    const std::vector<double> of_D = inverses_of(D);
    const std::vector<S>      diagonal(D.begin(), D.end()), inverse(of_D.begin(), of_D.end());
    DeviceBuffer<S>           d(D.size()), d_inverse(D.size());
    timed([&] {
        upload<S>(gpu_, diagonal, d);
        upload<S>(gpu_, inverse, d_inverse);
    });
    const RowScaledOperator<Gpu, S> DA(*A_, d);
    if (mixed_)
        return iterate(b, x, [&] { return mixed_->solve(gpu_, DA, d_inverse, b_, x_, krylov, on_progress, stop); });
    RowScaledPreconditioner<Gpu, S> DM(*M_, d_inverse);
    return iterate(b, x,
                   [&] { return ilux::solve<Gpu, S>(gpu_, method_, DA, DM, b_, x_, *ws_, krylov, on_progress, stop); });
}

template <Scalar S>
IterationReport GpuSystem<S>::solve_rows_scaled(DeviceSpan<const S> D, DeviceSpan<const S> inverse,
                                                DeviceSpan<const S> b, DeviceSpan<S> x, const KrylovOptions& krylov,
                                                const ProgressListener& on_progress, const StopToken& stop)
{
    const RowScaledOperator<Gpu, S> DA(*A_, D);
    if (mixed_) return mixed_->solve(gpu_, DA, inverse, b, x, krylov, on_progress, stop);
    RowScaledPreconditioner<Gpu, S> DM(*M_, inverse);
    return ilux::solve<Gpu, S>(gpu_, method_, DA, DM, b, x, *ws_, krylov, on_progress, stop);
}

template <Scalar S>
typename GpuSystem<S>::Room& GpuSystem<S>::room()
{
    if (room_) return *room_;
    gpu_.make_current();
    const auto        n = static_cast<std::size_t>(host_A_->rows());
    const std::size_t bytes = n * (6 * sizeof(S) + 2 * sizeof(double));
    const std::size_t limit = options_.memory_limit.value;
    if (limit > 0 && report_.matrix_bytes + report_.factor_bytes + report_.workspace_bytes + bytes > limit)
        throw OutOfMemory(fmt::format("device_memory is {}: no room to measure x", bytes_text(double(limit))));
    return room_.emplace(n);
}

template <Scalar S>
void GpuSystem<S>::precondition(DeviceSpan<const S> r, DeviceSpan<S> z)
{
    if (mixed_) mixed_->precondition(gpu_, r, z);
    else M_->apply(gpu_, r, z);
}

template <Scalar S>
void GpuSystem<S>::precondition(std::span<const S> r, std::span<S> z)
{
    upload<S>(gpu_, r, b_);
    precondition(DeviceSpan<const S>(b_), x_);
    download<S>(gpu_, x_, z);
    gpu_.synchronize();
}

#define ILUX_INSTANTIATE(S)                                                                                    \
    template DeviceNeed device_need(const CsrView<S>&, const PrecondFactors<S>&, Method, const KrylovOptions&, \
                                    Precision, KrylovPrecision);                                               \
    template class GpuSystem<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
