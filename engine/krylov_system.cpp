#include "ilux/engine/krylov_system.hpp"

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Backend B, Scalar S>
MixedSystem<B, S>::MixedSystem(Method method, std::unique_ptr<LinearOperator<B, Single>> A, std::vector<double> row,
                               std::vector<double> col, Buffer<B, S> row_there, Buffer<B, S> col_there,
                               const KrylovOptions& krylov)
    : row_(std::move(row)),
      col_(std::move(col)),
      row_there_(std::move(row_there)),
      col_there_(std::move(col_there)),
      A_(std::move(A)),
      workspace_(method, A_->size(), krylov)
{}

template <Backend B, Scalar S>
std::size_t MixedSystem<B, S>::bytes() const
{
    return workspace_.bytes() + (row_there_.size() + col_there_.size()) * sizeof(S);
}

template <Backend B, Scalar S>
IterationReport MixedSystem<B, S>::solve(B& be, const LinearOperator<B, S>& A, ConstSpan<B, S> D_inverse,
                                         ConstSpan<B, S> b, Span<B, S> x, const KrylovOptions& krylov,
                                         const ProgressListener& on_progress, const StopToken& stop)
{
    ConstSpan<B, S> scale = D_inverse.empty() ? ConstSpan<B, S>(row_there_) : D_inverse;
    Buffer<B, S>    both;  // R D⁻¹: the inner systems are those of A
    if (!D_inverse.empty() && !row_there_.empty()) {
        both = Buffer<B, S>(D_inverse.size());
        multiply<S>(be, row_there_, D_inverse, both);
        scale = both;
    }
    return refine<B, S>(be, A, system(scale), b, x, workspace_, krylov, on_progress, stop);
}

template <Backend B, Scalar S>
void MixedSystem<B, S>::apply(B& be, ConstSpan<B, S> r, Span<B, S> z)
{
    precondition<B, S>(be, system(row_there_), r, z, workspace_);
}

template <Backend B, Scalar S>
void KrylovSystem<B, S>::put(std::unique_ptr<Preconditioner<B, S>> M)
{
    made_.push_back(std::move(M));
    M_ = made_.back().get();
}

template <Backend B, Scalar S>
void KrylovSystem<B, S>::project(const NullSpace<S>& null_space, Buffer<B, S> columns)
{
    put(std::make_unique<ProjectedPreconditioner<B, S>>(*M_, std::move(columns), null_space.count(),
                                                        null_space.left()));
}

template <Backend B, Scalar S>
void KrylovSystem<B, S>::drop_M()
{
    M_ = nullptr;
    while (!made_.empty()) made_.pop_back();  // the last refers to those before
}

template <Backend B, Scalar S>
IterationReport KrylovSystem<B, S>::solve(ConstSpan<B, S> b, Span<B, S> x, const KrylovOptions& krylov,
                                          const ProgressListener& on_progress, const StopToken& stop)
{
    if (mixed_) return mixed_->solve(be_, A_, {}, b, x, krylov, on_progress, stop);
    return ilux::solve<B, S>(be_, method_, A_, *M_, b, x, *workspace_, krylov, on_progress, stop);
}

template <Backend B, Scalar S>
IterationReport KrylovSystem<B, S>::solve(ConstSpan<B, S> D, ConstSpan<B, S> inverse, ConstSpan<B, S> b, Span<B, S> x,
                                          const KrylovOptions& krylov, const StopToken& stop)
{
    const RowScaledOperator<B, S> DA(A_, D);
    if (mixed_) return mixed_->solve(be_, DA, inverse, b, x, krylov, {}, stop);
    RowScaledPreconditioner<B, S> DM(*M_, inverse);
    return ilux::solve<B, S>(be_, method_, DA, DM, b, x, *workspace_, krylov, {}, stop);
}

template <Backend B, Scalar S>
void KrylovSystem<B, S>::apply(ConstSpan<B, S> r, Span<B, S> z)
{
    if (mixed_) mixed_->apply(be_, r, z);
    else M_->apply(be_, r, z);
}

#define ILUX_INSTANTIATE(B, S)        \
    template class MixedSystem<B, S>; \
    template class KrylovSystem<B, S>;
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
