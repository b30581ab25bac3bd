#include "ilux/precond/coarse/coarse_space.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse_steps/products.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {
namespace {

/// Rows of a matrix that takes less time densely than by an M and a coarse space of its own.
constexpr Index  most_dense(const Cpu&) { return 1500; }
constexpr Index  most_dense(const Gpu&) { return 3000; }
constexpr double drop_of_scalars = 0.25, drop_of_nodes = 0.05;  // τ_S of a coarse matrix over that of A
constexpr double more_dropped = 4;                              // where rounds are to be few

/// Nothing is dropped, as far as the memory limit allows that.
MlIluOptions exact(MlIluOptions options, Index most_dense)
{
    options.setup = MlIluSetup::rounds;
    options.compensation = Compensation::off;
    options.drop_tol = 0;
    options.schur_drop_tol = 0;
    options.weak_coupling = 0;
    options.dense_order = most_dense;
    options.near_null = {};
    options.beside_coarse = false;
    options.definite = options.absolute =
        false;  // an indefinite A may have a coarse matrix without a positive diagonal
    return options;
}

/// An M beside a coarse space of its own: no Krylov method stands around it, so that it must not enlarge any error.
/// What is lumped does not; elsewhere few entries may go.
MlIluOptions of_coarse(const CoarseOptions& coarse, bool alone)
{
    MlIluOptions options = coarse.M;
    options.setup = MlIluSetup::rounds;
    options.compensation = coarse.positive ? Compensation::lumped : Compensation::off;
    options.schur_drop_tol = coarse.M.tau_S() * (alone && !coarse.positive ? drop_of_scalars : drop_of_nodes);
    if (options.beside_coarse) options.schur_drop_tol = more_dropped * options.tau_S();
    options.near_null = {};
    options.definite = options.absolute = false;  // likewise
    return options;
}

/// A ← (A + Aᴴ) / 2: what rounding has made of a Hermitian matrix is one again.
template <Backend B, Scalar T>
void make_hermitian(B& be, Sparse<B, T>& A)
{
    const Sparse<B, T> Ah = adjoint(be, A);
    axpby<T>(be, 0.5, Ah.val(), 0.5, A.val());
}

template <Scalar T>
MakerOfM<Cpu, T> factored(const CoarsePlace<Cpu>& at, const CsrMatrix<T>& A, const MlIluOptions& options)
{
    const auto mlilu = std::make_shared<const MlIlu<T>>(MlIlu<T>::build(at.host, A, options, {}, at.stop));
    const auto make = [mlilu](Cpu&, bool) { return std::make_unique<MlIluPreconditioner<T>>(*mlilu); };
    return {.make = make,
            .lumped = is_lumped(mlilu->report()),
            .stored = mlilu->report().stored,
            .bytes = mlilu->report().bytes};
}

/// The device makes M in rounds; where it has no answer, the host does.
template <Scalar T>
MakerOfM<Gpu, T> factored(const CoarsePlace<Gpu>& at, const DeviceCsr<T>& A, const MlIluOptions& options)
{
    const auto rounds =
        std::make_shared<const GpuRounds<T>>(GpuRounds<T>::build(at.host, at.be, A, options, false, {}, at.stop));
    if (rounds->made()) {
        const auto make = [rounds](Gpu& gpu, bool adjoinable) { return rounds->preconditioner(gpu, adjoinable); };
        return {.make = make,
                .lumped = is_lumped(rounds->report()),
                .stored = rounds->report().stored,
                .bytes = rounds->report().bytes};
    }
    const auto mlilu =
        std::make_shared<const MlIlu<T>>(MlIlu<T>::build(at.host, brought(at.be, A), for_gpu(options), {}, at.stop));
    const auto make = [mlilu, &host = at.host](Gpu& gpu, bool adjoinable) {
        const GpuMlIlu<T> there = gpu_mlilu<T>(host, gpu, *mlilu, {.adjoinable = adjoinable});
        return std::make_unique<GpuMlIluPreconditioner<T>>(gpu, there);
    };
    return {.make = make,
            .by_host = rounds->why_not(),
            .lumped = is_lumped(mlilu->report()),
            .stored = mlilu->report().stored,
            .bytes = mlilu->report().bytes};
}

}  // namespace

template <Backend B, Scalar T>
Offset CoarseLevel<B, T>::stored() const
{
    return P.nnz() + A.nnz() + M.stored + (next ? next->stored() : 0);
}

template <Backend B, Scalar T>
std::size_t CoarseLevel<B, T>::bytes() const
{
    return P.bytes() + Ph.bytes() + A.bytes() + M.bytes + (next ? next->bytes() : 0);
}

template <Backend B, Scalar T>
std::shared_ptr<const CoarseLevel<B, T>> coarse_level(const CoarsePlace<B>& at, const SparseView<B, T>& A,
                                                      const Groups<B>& parts, const NearNull<B, T>& vectors,
                                                      const CoarseOptions& options)
{
    if (parts.count() == 0) return nullptr;
    CoarseSeconds  unread;
    CoarseSeconds& seconds = at.seconds ? *at.seconds : unread;
    WallClock      clock;
    B&             be = at.be;
    auto           basis = orthonormal_basis<T>(be, parts, vectors);
    at.stop.check();
    if (basis.P.cols() == 0) return nullptr;
    if (options.M.near_null) basis.nodes = without_empty(be, std::move(basis.nodes));
    auto level = std::make_shared<CoarseLevel<B, T>>();
    level->positive = options.positive;
    level->lumped = options.lumped;
    level->P = smoothed<T>(be, A, basis.P);
    level->Ph = adjoint(be, level->P);
    seconds.P += clock.lap();
    level->A = product<T>(be, level->Ph, product<T>(be, A, level->P));
    if (options.positive) make_hermitian<B, T>(be, level->A);
    seconds.A += clock.lap();
    at.stop.check();
    const bool enough =
        level->A.rows() <= options.most_exact.value_or(most_dense(be)) || level->A.rows() > A.rows() / 2;
    level->M =
        factored(at, level->A, enough ? exact(options.M, most_dense(be)) : of_coarse(options, basis.nodes.alone()));
    seconds.M += clock.lap();
    if (enough) return level;
    const auto next_parts = aggregates<B, T>(be, level->A, basis.nodes, options.unknowns);
    seconds.aggregates += clock.lap();
    level->next = coarse_level<B, T>(at, level->A, next_parts, basis.coarse, options);
    return level;
}

template <Backend B, Scalar T>
SparseOperator<B, T>::SparseOperator(B& be, const Sparse<B, T>& A, bool adjoinable) : A_(A)
{
    if (adjoinable) Ah_ = adjoint(be, A);
}

template <Backend B, Scalar T>
void SparseOperator<B, T>::apply(B& be, ConstSpan<B, T> x, Span<B, T> y) const
{
    spmv<T>(be, 1, A_, x, 0, y);
}

template <Backend B, Scalar T>
void SparseOperator<B, T>::apply_adjoint(B& be, ConstSpan<B, T> x, Span<B, T> y) const
{
    spmv<T>(be, 1, Ah_, x, 0, y);
}

template <Backend B, Scalar T>
void Corrector<B, T>::begin(B& be, const WeightedStep<B, T>& part, ConstSpan<B, T> r, Span<B, T> z, bool adjoint) const
{
    if (adjoint) part.M.apply_adjoint(be, r, z);
    else part.M.apply(be, r, z);
    if (part.step != 1) scale<T>(be, part.step, z);
}

template <Backend B, Scalar T>
void Corrector<B, T>::go_on(B& be, const WeightedStep<B, T>& part, ConstSpan<B, T> r, Span<B, T> z, bool adjoint)
{
    if (adjoint != of_adjoint_) A_.apply_adjoint(be, z, left_);
    else A_.apply(be, z, left_);
    axpby<T>(be, 1, r, -1, left_);
    begin(be, {part.M}, left_, part_, adjoint);
    axpy<T>(be, part.step, part_, z);
}

template <Backend B, Scalar T>
void Corrector<B, T>::around(B& be, const WeightedStep<B, T>& outer, const WeightedStep<B, T>& inner, ConstSpan<B, T> r,
                             Span<B, T> z, bool adjoint)
{
    begin(be, outer, r, z, adjoint);
    go_on(be, inner, r, z, adjoint);
    go_on(be, outer, r, z, adjoint);
}

template <Backend B, Scalar T>
CoarseCorrection<B, T>::CoarseCorrection(B& be, std::shared_ptr<const CoarseLevel<B, T>> level, bool adjoinable)
    : level_(std::move(level)), M_(level_->M.make(be, adjoinable)), g_(level_->A.rows()), y_(level_->A.rows())
{
    if (!level_->next) return;
    next_ = std::make_unique<CoarseCorrection>(be, level_->next, adjoinable);
    A_.emplace(be, level_->A, adjoinable);
    corrector_.emplace(*A_);
}

/// The coarse matrix is solved with exactly, or by a cycle of M and the next coarse space.
template <Backend B, Scalar T>
void CoarseCorrection<B, T>::correct(B& be, ConstSpan<B, T> r, Span<B, T> z, bool adjoint)
{
    spmv<T>(be, 1, level_->Ph, r, 0, g_);
    if (next_) {
        const WeightedStep<B, T> M{*M_, step_beside_coarse(level_->M.lumped)}, next{*next_};
        const bool               outside = level_->M.lumped || !level_->positive;
        corrector_->around(be, outside ? M : next, outside ? next : M, g_, y_, adjoint);
    } else if (adjoint) M_->apply_adjoint(be, g_, y_);
    else M_->apply(be, g_, y_);
    spmv<T>(be, 1, level_->P, y_, 0, z);
}

#define ILUX_INSTANTIATE(B, T)                                                                                     \
    template struct CoarseLevel<B, T>;                                                                             \
    template std::shared_ptr<const CoarseLevel<B, T>> coarse_level(const CoarsePlace<B>&, const SparseView<B, T>&, \
                                                                   const Groups<B>&, const NearNull<B, T>&,        \
                                                                   const CoarseOptions&);                          \
    template class SparseOperator<B, T>;                                                                           \
    template class Corrector<B, T>;                                                                                \
    template class CoarseCorrection<B, T>;
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
