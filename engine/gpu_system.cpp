#include "ilux/engine/gpu_system.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/background.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/two_level.hpp"
#include "ilux/engine/gpu_mixed.hpp"

namespace ilux {
namespace {

/// Vectors of the host go there and back.
template <Scalar S>
class FromHost final : public Correction<Cpu, S> {
public:
    FromHost(Gpu& gpu, KrylovSystem<Gpu, S>& system, DeviceSpan<S> b, DeviceSpan<S> x)
        : gpu_(gpu), system_(system), b_(b), x_(x)
    {}

    void apply(std::span<const S> r, std::span<S> z) override
    {
        upload<S>(gpu_, r, b_);
        system_.apply(b_, x_);
        download<S>(gpu_, x_, z);
        gpu_.synchronize();
    }
    /// Lack of memory leaves x as good as it is.
    IterationReport solve(std::span<const S> D, std::span<const S> inverse, std::span<const S> b, std::span<S> x,
                          const KrylovOptions& krylov, const StopToken& stop) override
    {
        try {
            gpu_.make_current();
            DeviceBuffer<S> d(D.size()), d_inverse(D.size());
            upload<S>(gpu_, D, d);
            upload<S>(gpu_, inverse, d_inverse);
            upload<S>(gpu_, b, b_);
            upload<S>(gpu_, x, x_);
            const IterationReport report = system_.solve(d, d_inverse, b_, x_, krylov, stop);
            download<S>(gpu_, x_, x);
            return report;
        } catch (const OutOfMemory&) {
            IterationReport nothing;
            nothing.outcome = Outcome::out_of_memory;
            return nothing;
        }
    }

private:
    Gpu&                  gpu_;
    KrylovSystem<Gpu, S>& system_;
    DeviceSpan<S>         b_, x_;
};

/// Waits for what it enqueues. @param seconds  to which its own are added
template <class Work>
void timed(Gpu& gpu, double& seconds, Work&& work)
{
    WallClock clock;
    work();
    gpu.synchronize();
    seconds += clock.seconds();
}

}  // namespace

template <Scalar S>
GpuMaker<S> GpuSystem<S>::maker()
{
    return {cpu_, gpu_, {options_.precision, options_.engine, options_.memory_limit}, adjoinable_, report_};
}

template <Scalar S>
void GpuSystem<S>::put_preconditioner(const PrecondFactors<S>& factors)
{
    MixedSystem<Gpu, S>* const mixed = system_->mixed();
    if (mixed != nullptr && maker().put_in_single(*mixed, factors, A_->size())) return;
    auto M = maker().in_double(factors, A_->size());
    if (factors.coarse_there) {
        auto both = std::make_unique<TwoLevel<Gpu, S>>(typename TwoLevel<Gpu, S>::Parts{.A = *A_,
                                                                                        .of_adjoint = options_.adjoint,
                                                                                        .M = std::move(M),
                                                                                        .adjoinable = adjoinable_});
        both->set(gpu_, factors.coarse_there);
        report_.factor_bytes += factors.coarse_there->bytes();
        M = std::move(both);
    }
    if (mixed == nullptr) return system_->put(std::move(M));
    std::size_t bytes = 0;
    mixed->set_M(between_rounded<S>(gpu_, std::move(M), mixed->scales(), bytes));
    report_.workspace_bytes += bytes;
}

template <Scalar S>
FoundSpace<Gpu, S> GpuSystem<S>::find_coarse(const PrecondFactors<S>& factors, const CoarseOptions& options,
                                             const StopToken& stop, FoundVectors<Gpu, S> former,
                                             const DeviceCsr<S>* mean)
{
    gpu_.make_current();
    await_values();
    if (!system_) {  // A or the vectors had no room
        refuse_beyond(need_, A_ ? A_->bytes() : 0, gpu_, options_.memory_limit);
        throw OutOfMemory("the GPU has no room for A and the vectors");
    }
    const GpuReport before = report_;
    auto            M = maker().in_double(factors, A_->size());
    report_ = before;
    return found_space<Gpu, S>({cpu_, gpu_, stop},
                               {*host_A_, mean ? *mean : A_->matrix(), *A_, std::move(M), std::move(former)}, options);
}

template <Scalar S>
void GpuSystem<S>::put_matrix_and_vectors(const KrylovOptions& krylov, ComingMatrix<S>* coming)
{
    gpu_.make_current();
    const bool with_adjoint = needs_transpose(method_) && !is_mixed();
    if (coming != nullptr) A_ = coming->arrived();
    if (with_adjoint) A_.reset();
    refuse_beyond(need_, A_ ? A_->bytes() : 0, gpu_, options_.memory_limit);
    const Index n = host_A_->rows();
    if (!A_) A_.emplace(gpu_, *host_A_, with_adjoint);
    if (is_mixed())
        system_.emplace(gpu_, method_, *A_,
                        mixed_on_gpu<S>(gpu_, *host_A_, A_->matrix(), method_, krylov, single_bytes_));
    else system_.emplace(gpu_, method_, *A_, krylov);
    b_ = DeviceBuffer<S>(n);
    x_ = DeviceBuffer<S>(n);
    report_matrix_and_vectors();
    gpu_.synchronize();
}

template <Scalar S>
void GpuSystem<S>::report_matrix_and_vectors()
{
    report_.matrix_bytes = A_->bytes() + single_bytes_;
    report_.workspace_bytes = system_->bytes() + (b_.size() + x_.size()) * sizeof(S);
}

template <Scalar S>
GpuSystem<S>::GpuSystem(Cpu& cpu, Gpu& gpu, const CsrView<S>& A, Method method, const KrylovOptions& krylov,
                        const GpuSystemOptions& options, std::unique_ptr<ComingMatrix<S>> coming)
    : cpu_(cpu),
      gpu_(gpu),
      host_A_(&A),
      method_(method),
      options_(options),
      adjoinable_(options.adjoint || needs_transpose(method)),
      need_(device_need<S>(A, {}, method, krylov, options.precision, options.arithmetic))
{
    if (is_mixed()) options_.precision = Precision::in_single;
    restart_device_peak();
    matrix_and_vectors_ = in_background([this, krylov, on_its_way = std::shared_ptr(std::move(coming))] {
        put_matrix_and_vectors(krylov, on_its_way.get());
    });
}

template <Scalar S>
bool GpuSystem<S>::serves(const CsrView<S>& A, Method method, const GpuSystemOptions& options) const
{
    if (!A_ || is_mixed() || options.arithmetic != KrylovPrecision::in_double) return false;
    return method_ == method && options_.precision == options.precision && matrix().rows() == A.rows() &&
           matrix().nnz() == A.nnz();
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
    timed(gpu_, report_.seconds_transfer, [&] {
        if (matrix_and_vectors_.valid()) matrix_and_vectors_.get();
    });
}

template <Scalar S>
void GpuSystem<S>::drop_factors()
{
    system_->drop_M();
    room_.reset();
    const double seconds = report_.seconds_transfer;
    report_ = {};
    report_.seconds_transfer = seconds;
    report_matrix_and_vectors();
}

template <Scalar S>
GpuRounds<S> GpuSystem<S>::set_up_rounds(const MlIluOptions& options, const GpuRoundsPlan* former,
                                         const ProgressListener& on_progress, const StopToken& stop,
                                         const DeviceCsr<S>* mean)
{
    gpu_.make_current();
    await_values();
    const DeviceCsr<S>& A = mean ? *mean : A_->matrix();
    const bool          in_single = options_.precision == Precision::in_single;
    if (former) return GpuRounds<S>::rebuild(cpu_, gpu_, A, options, in_single, *former, on_progress, stop);
    return GpuRounds<S>::build(cpu_, gpu_, A, options, in_single, on_progress, stop);
}

template <Scalar S>
void GpuSystem<S>::put(const PrecondFactors<S>& factors)
{
    gpu_.make_current();
    timed(gpu_, report_.seconds_transfer, [&] {
        const auto refuse = [&](std::size_t held) {
            need_.factors = device_bytes_of_M(host_A_->rows(), factors, adjoinable_, options_.precision);
            refuse_beyond(need_, held, gpu_, options_.memory_limit);
        };
        try {
            if (matrix_and_vectors_.valid()) matrix_and_vectors_.get();
        } catch (const OutOfMemory&) {
            refuse(A_ ? A_->bytes() : 0);  // in the same words, but with the factors
            throw;
        }
        refuse(report_.matrix_bytes + report_.workspace_bytes + (factors.rounds ? factors.rounds->bytes() : 0) +
               (factors.coarse_there ? factors.coarse_there->bytes() : 0));
        put_preconditioner(factors);
        if (const NullSpace<S>* const N = factors.null_space.get()) {
            DeviceBuffer<S> columns(N->columns().size());
            upload<S>(gpu_, N->columns(), columns);
            report_.workspace_bytes += (columns.size() + N->size()) * sizeof(S);
            system_->project(*N, std::move(columns));
        }
        if (options_.adjoint) system_->apply_adjoint_of_M();
    });
    report_.peak_bytes = device_use().peak_bytes;
}

template <Scalar S>
void GpuSystem<S>::note(Attempt& tried) const
{
    tried.workspace_bytes = report_.workspace_bytes;
    if (!report_.remark.empty()) tried.decisions.push_back(report_.remark);
    tried.gpu = report_;
}

template <Scalar S>
IterationReport GpuSystem<S>::solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                                    const ProgressListener& on_progress, const StopToken& stop)
{
    timed(gpu_, report_.seconds_transfer, [&] {
        upload<S>(gpu_, b, b_);
        upload<S>(gpu_, x, x_);
    });
    const IterationReport report = system_->solve(b_, x_, krylov, on_progress, stop);
    timed(gpu_, report_.seconds_transfer, [&] { download<S>(gpu_, x_, x); });
    report_.peak_bytes = device_use().peak_bytes;
    return report;
}

/// Arrays of the host are brought first; those of the GPU stay there unless x has to be looked at by the host.
template <Scalar S>
void GpuSystem<S>::iterate(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried)
{
    if (given.are_of(gpu_)) given.load(gpu_, b_, x_);
    else {
        const std::span<const S> b = given.b();
        given.read_guess(tried.x);
        timed(gpu_, report_.seconds_transfer, [&] {
            upload<S>(gpu_, b, b_);
            upload<S>(gpu_, tried.x.of<S>(), x_);
        });
    }
    tried.report = system_->solve(b_, x_, how.krylov, how.on_progress, how.stop);
    report_.peak_bytes = device_use().peak_bytes;
    tried.gpu = report_;
}

template <Scalar S>
GpuJudgeWorkspace<S>& GpuSystem<S>::room()
{
    if (room_) return *room_;
    gpu_.make_current();
    const auto        n = static_cast<std::size_t>(host_A_->rows());
    const std::size_t limit = options_.memory_limit.value;
    if (limit > 0 &&
        report_.matrix_bytes + report_.factor_bytes + report_.workspace_bytes + GpuJudgeWorkspace<S>::bytes(n) > limit)
        throw OutOfMemory(fmt::format("device_memory is {}: no room to measure x", bytes_text(double(limit))));
    return room_.emplace(n);
}

template <Scalar S>
void GpuSystem<S>::judge(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried)
{
    bool judged = false;
    if (!how.witness.concerns_x()) try {
            const GpuJudged<S> there{gpu_, A_->matrix(), b_, x_, *system_, room()};
            judged = finish_on_gpu<S>(there, how.krylov, how.standard, how.witness, how.stop, tried);
        } catch (const OutOfMemory&) {  // of the vectors that this takes
        }
    if (judged && given.are_of(gpu_) && tried.converged()) {
        given.deliver(gpu_, x_);
        tried.x = std::vector<S>();
        return;
    }
    fetch(tried);
    if (judged) return;
    how.bring_values();
    FromHost<S> from_host(gpu_, *system_, b_, x_);
    finish_iteration<S>(cpu_, how.A, given.b(), how.krylov, how.standard, from_host, &how.witness, how.stop, tried);
}

template <Scalar S>
void GpuSystem<S>::fetch(Attempt& tried)
{
    timed(gpu_, report_.seconds_transfer, [&] { download<S>(gpu_, x_, std::span<S>(tried.x.of<S>())); });
    tried.gpu = report_;
}

template <Scalar S>
void GpuSystem<S>::apply(SystemVectors<S>& given)
{
    const bool there = given.are_of(gpu_);
    if (there) given.load(gpu_, b_, x_);
    else upload<S>(gpu_, given.b(), b_);
    system_->apply(b_, x_);
    if (there) return given.deliver(gpu_, x_);
    std::vector<S> z(given.b().size());
    download<S>(gpu_, x_, z);
    gpu_.synchronize();
    given.deliver(z);
}

#define ILUX_INSTANTIATE(S) template class GpuSystem<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
