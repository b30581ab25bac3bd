#include "ilux/direct/batch/gpu_batch_solver.hpp"

#include <algorithm>
#include <utility>

#include "ilux/base/cpu.hpp"

namespace ilux {
namespace {

/// No more than what is to be page-locked for them allows.
Index within_locked(Index members, std::size_t n, std::size_t nnz)
{
    constexpr Index   least = 32, most = 65535;  // a multiple of the lanes; what GpuResidual takes
    const std::size_t each = sizeof(double) * (n + nnz),
                      fit = GpuBatchSolver::most_locked_bytes / std::max(each, std::size_t{1});
    return std::min({members, std::max(least, static_cast<Index>(std::min(fit, std::size_t{most}))), most});
}

BatchMemory memory_for(const GpuResidual<>& residual, std::size_t n, std::size_t nnz, std::size_t most_bytes)
{
    const std::size_t fixed = residual.bytes();
    return {.bytes = most_bytes > fixed ? most_bytes - fixed : 0,
            .beside = sizeof(double) * (nnz + 4 * n) + residual.room_bytes()};
}

}  // namespace

GpuBatchSolver::GpuBatchSolver(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic,
                               std::shared_ptr<const LuPattern> pattern, Index members, std::size_t most_bytes)
    : gpu_(gpu),
      symbolic_(std::move(symbolic)),
      n_(static_cast<std::size_t>(symbolic_->n)),
      nnz_(static_cast<std::size_t>(symbolic_->input_nnz)),
      residual_(gpu, *symbolic_, Transpose::no),
      batch_(gpu, std::move(pattern), within_locked(members, n_, nnz_), {}, memory_for(residual_, n_, nnz_, most_bytes))
{
    const auto together = static_cast<std::size_t>(room());
    gpu_.make_current();
    batch_.prepare(gpu_, Transpose::no);
    residual_.make_room(gpu_, room());
    host_values_ = HostBuffer<double>(together * nnz_);
    host_vectors_ = HostBuffer<double>(together * n_);
    values_ = DeviceBuffer<double>(together * nnz_);
    for (auto* vectors : {&b_, &x_, &r_, &d_}) *vectors = DeviceBuffer<double>(together * n_);
    loop_.reserve(together);
}

void GpuBatchSolver::refactor(std::span<const double> values, std::span<BatchMember> done)
{
    gpu_.make_current();
    detail::copy_in_parallel(host_values_.data(), values.data(), values.size_bytes());
    enqueue_upload(gpu_, host_values_.span().first(values.size()), used(values_, values.size()));
    batch_.refactor(gpu_, values_.data());
    const std::vector<PivotMonitor> seen = batch_.monitors(gpu_);
    for (std::size_t m = 0; m < done.size(); ++m) done[m].monitor = seen[m];
}

void GpuBatchSolver::upload_vectors(std::span<const double> b)
{
    gpu_.make_current();
    detail::copy_in_parallel(host_vectors_.data(), b.data(), b.size_bytes());
    enqueue_upload(gpu_, host_vectors_.span().first(b.size()), used(b_, b.size()));
}

void GpuBatchSolver::download_vectors(std::span<double> x)
{
    enqueue_download<double>(gpu_, used(x_, x.size()), host_vectors_.span().first(x.size()));
    gpu_.synchronize();
    detail::copy_in_parallel(x.data(), host_vectors_.data(), x.size_bytes());
}

/// All members take part in every correction, since a lane costs nothing; those that have ended keep their x.
void GpuBatchSolver::solve(std::span<const double> b, std::span<double> x, std::span<BatchMember> done)
{
    const auto count = static_cast<Index>(done.size());
    const auto of = [this](DeviceBuffer<double>& vectors, std::size_t m) {
        return DeviceSpan<double>(vectors).subspan(m * n_, n_);
    };
    const auto measure = [&](const DeviceBuffer<double>& iterate) {
        residual_.run(gpu_, values_.data(), iterate.data(), b_.data(), r_.data(), count, nnz_);
        return residual_.backward_errors(gpu_, count);
    };
    upload_vectors(b);
    batch_.solve(gpu_, b_.data(), x_.data());
    loop_.clear();
    for (const double error : measure(x_)) loop_.emplace_back(symbolic_->options, error);
    while (std::ranges::any_of(loop_, [](const auto& one) { return one.goes_on(); })) {
        batch_.solve(gpu_, r_.data(), d_.data());
        axpy(gpu_, 1, used(x_, x.size()), used(d_, x.size()));
        const std::span<const double> errors = measure(d_);
        for (std::size_t m = 0; m < loop_.size(); ++m)
            if (loop_[m].goes_on() && loop_[m].take(errors[m])) copy(gpu_, of(d_, m), of(x_, m));
    }
    for (std::size_t m = 0; m < done.size(); ++m) {
        done[m].refine = loop_[m].report();
        if (done[m].monitor.bad_column >= 0) done[m].refine.finite = false;
    }
    download_vectors(x);
}

void GpuBatchSolver::substitute(std::span<const double> b, std::span<double> x)
{
    upload_vectors(b);
    batch_.solve(gpu_, b_.data(), x_.data());
    download_vectors(x);
}

std::size_t GpuBatchSolver::bytes() const
{
    const std::size_t vectors = b_.size() + x_.size() + r_.size() + d_.size();
    return batch_.bytes() + residual_.bytes() + sizeof(double) * (values_.size() + vectors);
}

void GpuBatchSolverDeleter::operator()(GpuBatchSolver* solver) const noexcept { delete solver; }

GpuBatchSolverPtr make_gpu_batch_solver(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic,
                                        std::shared_ptr<const LuPattern> pattern, Index members, std::size_t most_bytes)
{
    return GpuBatchSolverPtr(new GpuBatchSolver(gpu, std::move(symbolic), std::move(pattern), members, most_bytes));
}

}  // namespace ilux
