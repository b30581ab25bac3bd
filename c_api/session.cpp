#include "ilux/c_api/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "ilux/base/gpu/device_pointer.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

using namespace ilux;

Gpu& ilux_solver::gpu()
{
    if (!gpu_) gpu_.emplace(device_, static_cast<CUstream_st*>(stream_));
    return *gpu_;
}

void ilux_solver::use_stream(int device, void* stream)
{
    if (device == device_ && stream == stream_) return;
    gpu_.reset();
    device_ = device;
    stream_ = stream;
}

AttemptListener ilux_solver::listener()
{
    if (!progress) return {};
    return {.on_progress = [this, call = progress, whom = user](const Progress& now) {
        const int phase = now.phase == Progress::Phase::solve;
        told_ = &now;
        if (call(whom, phase, now.done, now.total, now.residual) != 0) cancelled = true;
        told_ = nullptr;
    }};
}

void ilux_solver::copy_iterate(void* x) const
{
    require(x != nullptr, [] { return "x is NULL"; });
    require(told_ != nullptr, [] { return "there is an iterate while the listener is called, and no other time"; });
    const auto from = is_complex() ? std::as_bytes(told_->complex_x) : std::as_bytes(told_->real_x);
    require(!from.empty(), [] { return "the host has no iterate: not in the setup, on a GPU, or in mixed precision"; });
    std::ranges::copy(from, static_cast<std::byte*>(x));
}

/// LU tells no progress, but asks whether to stop: then the caller is called, on its own thread, every 50 ms.
StopToken ilux_solver::stop()
{
    const auto question = [this, call = progress, whom = user, mine = std::this_thread::get_id(),
                           last = std::make_shared<WallClock>()] {
        if (call && std::this_thread::get_id() == mine && last->seconds() > 0.05) {
            *last = WallClock();
            if (call(whom, 2, 0, 0, 0) != 0) cancelled = true;
        }
        return cancelled.load(std::memory_order_relaxed);
    };
    return StopToken().asking(question);
}

void ilux_solver::set_near_null(std::int64_t n, std::int64_t count, const double* columns)
{
    constexpr auto most = std::int64_t{std::numeric_limits<Index>::max()};
    require(n >= 0 && n < most && count >= 0 && count <= most_test_vectors && (count == 0 || n > 0), [&] {
        return fmt::format("near_null: {} vectors of {} numbers; {} vectors are the limit", count, n,
                           most_test_vectors);
    });
    require(columns || count == 0, [] { return "near_null: columns is NULL"; });
    std::vector<double> by_rows(static_cast<std::size_t>(n * count));
    for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t i = 0; i < n; ++i) by_rows[i * count + c] = columns[c * n + i];
    MlIluOptions with;
    if (count > 0) {
        with.near_null = std::make_shared<const std::vector<double>>(std::move(by_rows));
        (void)test_vectors(with, static_cast<Index>(n));
    }
    options.precond.mlilu.near_null = std::move(with.near_null);
    near_null_rows = n;
}

namespace ilux::c_api {
namespace {

/// Numbers from the first of column 0 to the last of column count − 1.
std::size_t reach(std::int64_t count, std::int64_t n, std::int64_t ld, const char* name)
{
    require(ld >= n, [&] { return fmt::format("{} is {}, less than n = {}", name, ld, n); });
    if (count == 0 || n == 0) return 0;
    require(count - 1 <= (PTRDIFF_MAX / 16 - n) / std::max<std::int64_t>(ld, 1), [&] {
        return fmt::format("{} columns of {} = {} numbers are more than memory can hold", count, name, ld);
    });
    return static_cast<std::size_t>((count - 1) * ld + n);
}

/// @throws InvalidInput unless a forecast can count with it
void require_count(double count, const char* name)
{
    require(std::isfinite(count) && count >= 1,
            [&] { return fmt::format("{} is {}, not a finite number from 1 on", name, count); });
}

}  // namespace

SolverReport without_x(SolverReport report)
{
    for (Attempt& tried : report.attempts) tried.x = {};
    return report;
}

template <class S>
void Session<S>::set_null_space(std::int64_t n, std::int64_t count, const void* columns)
{
    constexpr auto most = std::int64_t{std::numeric_limits<Index>::max()};
    require(n >= 0 && n < most && count >= 0 && count <= n,
            [&] { return fmt::format("a null space of {} vectors of {} numbers", count, n); });
    require(columns || count == 0, [] { return "columns is NULL"; });
    const auto* const from = static_cast<const S*>(columns);
    null_space_.assign(from, from + n * count);
    null_vectors_ = static_cast<Index>(count);
}

template <class S>
void Session<S>::require_no_null_space(const char* call) const
{
    require(null_vectors_ == 0, [&] {
        return fmt::format("{} takes no vectors of ilux_set_null_space; a count of 0 takes them away", call);
    });
}

template <class S>
void Session<S>::analyse(const ilux_csr& A, const Ahead& ahead)
{
    solver_.reset();  // whether or not this works, the former arrays may go
    matrix_ = {};
    reports.clear();
    renewed_ = false;
    require_count(ahead.systems, "systems");
    require_count(ahead.columns, "columns");
    CallerCsr<S> matrix(A, gpu_of_caller());
    require(!options.precond.mlilu.near_null || near_null_rows == matrix.view().rows(), [&] {
        return fmt::format("near_null has vectors of {} numbers, and A {} rows", near_null_rows, matrix.view().rows());
    });
    auto fresh = std::make_unique<LinearSolver<S>>(options);
    if (null_vectors_ > 0) fresh->set_null_space(null_space_, null_vectors_);
    fresh->listen(listener());
    fresh->stop_by(stop());
    fresh->analyse(matrix.view(), ahead);
    solver_ = std::move(fresh);
    matrix_ = std::move(matrix);
}

template <class S>
LinearSolver<S>& Session<S>::ready()
{
    require(solver_ != nullptr, [] { return "ilux_analyse comes first"; });
    solver_->listen(listener());
    solver_->stop_by(stop());
    return *solver_;
}

template <class S>
FactorReport Session<S>::factor(const void* values, bool again)
{
    LinearSolver<S>& solver = ready();
    require(values || !again, [] { return "values is NULL"; });
    if (!values) return std::exchange(renewed_, false) ? solver.factor(matrix_.view().val()) : solver.factor();
    require(!matrix_.on_device() || is_for_kernels(values), [] { return "values is of the host, and A of a GPU"; });
    renewed_ = true;
    if (matrix_.on_device() && matrix_.keeps_order()) {
        const Array<const S> there(gpu(), {static_cast<const S*>(values), matrix_.entries()});
        return again ? solver.refactor(there) : solver.factor(there);
    }
    const auto ordered = matrix_.in_order(values, gpu_of_caller());
    return again ? solver.refactor(ordered) : solver.factor(ordered);
}

template <class S>
template <class Work>
void Session<S>::with_arrays(std::int64_t count, const void* b, std::int64_t ldb, void* x, std::int64_t ldx,
                             Work&& work)
{
    require(count >= 0, [&] { return fmt::format("columns is {}", count); });
    const std::size_t of_b = reach(count, matrix_.view().rows(), ldb, "ldb"),
                      of_x = reach(count, matrix_.view().rows(), ldx, "ldx");
    require((b || of_b == 0) && (x || of_x == 0), [] { return "an array is NULL"; });
    const auto* const from = static_cast<const S*>(b);
    auto* const       to = static_cast<S*>(x);
    if (matrix_.on_device())
        for (const void* array : {b, static_cast<const void*>(x)})
            require(!array || is_for_kernels(array), [] { return "an array is of the host, and A of a GPU"; });
    if (matrix_.on_device()) work(Array<const S>(gpu(), {from, of_b}), Array<S>(gpu(), {to, of_x}));
    else work(std::span(from, of_b), std::span(to, of_x));
}

template <class S>
void Session<S>::solve(Transpose op, std::int64_t count, const void* b, std::int64_t ldb, void* x, std::int64_t ldx)
{
    LinearSolver<S>&          solver = ready();
    std::vector<SolverReport> solved;
    const auto                k = static_cast<std::size_t>(std::max<std::int64_t>(count, 0)),
               stride_b = static_cast<std::size_t>(std::max<std::int64_t>(ldb, 0)),
               stride_x = static_cast<std::size_t>(std::max<std::int64_t>(ldx, 0));
    with_arrays(count, b, ldb, x, ldx, [&](const Array<const S>& B, const Array<S>& X) {
        solved = solver.solve_columns(k, B, stride_b, X, stride_x, op);
    });
    reports = std::move(solved);
}

template <class S>
void Session<S>::precondition(Transpose op, std::int64_t count, const void* r, std::int64_t ldr, void* z,
                              std::int64_t ldz)
{
    require(solver_ != nullptr, [] { return "ilux_analyse comes first"; });
    const auto n = static_cast<std::size_t>(matrix_.view().rows());
    with_arrays(count, r, ldr, z, ldz, [&](const Array<const S>& R, const Array<S>& Z) {
        for (std::int64_t k = 0; k < count; ++k)
            solver_->precondition(R.subspan(n == 0 ? 0 : static_cast<std::size_t>(k * ldr), n),
                                  Z.subspan(n == 0 ? 0 : static_cast<std::size_t>(k * ldz), n), op);
    });
}

template <class S>
ilux_factors Session<S>::factors() const
{
    require(solver_ != nullptr, [] { return "ilux_analyse comes first"; });
    require(solver_->state() == SolverState::factored, [] { return "the last values have no factors"; });
    const Attempt&           made = solver_->factored_by();
    ilux_factors             facts{.size = sizeof(ilux_factors),
                                   .direct = made.plan.direct(),
                                   .reused = made.action == SolverAction::refactor || made.action == SolverAction::lagged ||
                                 made.action == SolverAction::stale || (made.mlilu && made.mlilu->replayed),
                                   .levels = 0,
                                   .deficiency = 0,
                                   .bytes = static_cast<std::int64_t>(made.factor_bytes),
                                   .fill = made.fill,
                                   .seconds = made.seconds_analyse + made.seconds_factor};
    const PrecondFactors<S>* M = solver_->preconditioner();
    const MlIluReport*       mlilu = !M          ? nullptr
                                     : M->mlilu  ? &M->mlilu->report()
                                     : M->rounds ? &M->rounds->report()
                                                 : nullptr;
    if (mlilu) {  // a kept one is not among the facts of the last try
        facts.levels = static_cast<std::int64_t>(mlilu->levels.size());
        facts.deficiency = mlilu->deficiency;
        facts.bytes = static_cast<std::int64_t>(mlilu->bytes);
        facts.fill = mlilu->fill;
    }
    return facts;
}

template <class S>
ilux_lu Session<S>::lu()
{
    require(solver_ != nullptr, [] { return "ilux_analyse comes first"; });
    const Lu<S>* const lu = solver_->state() == SolverState::factored ? solver_->lu() : nullptr;
    require(lu != nullptr, [] { return "the last values have no LU"; });
    LuOptions whole =
        lu->pivots().options;  // those of the factors at hand, which may be by diagonal blocks, and by fronts
    whole.blocks = false;
    whole.supernodes = LuSupernodes::off;
    const MatrixView<S> A = lu->matrix();
    const LuFactors<S>  factors = gilbert_peierls<S>(ilux::analyse<S>(A, whole, stop()), whole, A.val, stop());
    require(factors.monitor.bad_column < 0, [] { return "the whole of A has no LU with the pivots within reach"; });
    triangles_ = triangles_of(factors);
    lu_pattern_ = factors.pattern;
    return {.n = lu_pattern_->n,
            .row_perm = lu_pattern_->row_perm.data(),
            .col_perm = lu_pattern_->col_perm.data(),
            .l_col_ptr = triangles_.l_ptr.data(),
            .u_col_ptr = triangles_.u_ptr.data(),
            .l_row = triangles_.l_row.data(),
            .u_row = triangles_.u_row.data(),
            .l_values = triangles_.l_val.data(),
            .u_values = triangles_.u_val.data()};
}

template <class S>
std::int64_t Session<S>::near_null(const void*& columns)
{
    const PrecondFactors<S>* M = ready().preconditioner();
    columns = nullptr;
    if (!M || !(M->coarse || M->coarse_there)) return 0;
    const auto& [here, there] = M->coarse_vectors;
    if (M->coarse_there) {
        near_null_.resize(there.all.values.size());
        download<S>(gpu(), there.all.values, std::span(near_null_));
    }
    columns = M->coarse ? here.all.values.data() : near_null_.data();
    return M->coarse ? here.all.count : there.all.count;
}

template <class S>
void Session<S>::solve_batch(std::int64_t members, const void* values, const void* b, void* x)
{
    LinearSolver<S>& solver = ready();
    require(members >= 0 && members < std::numeric_limits<Index>::max(),
            [&] { return fmt::format("members is {}", members); });
    require(!matrix_.on_device(), [] { return "a batch takes arrays of the host"; });
    renewed_ = true;
    const auto n = static_cast<std::size_t>(matrix_.view().rows());
    const auto k = static_cast<std::size_t>(members);
    require((values || matrix_.entries() == 0 || k == 0) && ((b && x) || n * k == 0),
            [] { return "an array is NULL"; });
    const auto ordered =
        matrix_.in_order(std::span(static_cast<const S*>(values), k * matrix_.entries()), static_cast<Index>(members));
    reports = solver
                  .solve_batch(static_cast<Index>(members), ordered, std::span(static_cast<const S*>(b), n * k),
                               std::span(static_cast<S*>(x), n * k))
                  .members;
}

#define ILUX_INSTANTIATE(S)                                                                                           \
    template void         Session<S>::set_null_space(std::int64_t, std::int64_t, const void*);                        \
    template void         Session<S>::require_no_null_space(const char*) const;                                       \
    template void         Session<S>::analyse(const ilux_csr&, const Ahead&);                                         \
    template FactorReport Session<S>::factor(const void*, bool);                                                      \
    template void         Session<S>::solve(Transpose, std::int64_t, const void*, std::int64_t, void*, std::int64_t); \
    template void Session<S>::precondition(Transpose, std::int64_t, const void*, std::int64_t, void*, std::int64_t);  \
    template ilux_factors Session<S>::factors() const;                                                                \
    template ilux_lu      Session<S>::lu();                                                                           \
    template std::int64_t Session<S>::near_null(const void*&);                                                        \
    template void         Session<S>::solve_batch(std::int64_t, const void*, const void*, void*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::c_api
