#include "ilux/precond/coarse/coarse_space.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/prolongation.hpp"
#include "ilux/precond/coarse/sparse_product.hpp"

namespace ilux {
namespace {

constexpr Index most_dense = 1500;

MlIluOptions exact(MlIluOptions options)
{
    options.setup = MlIluSetup::rounds;
    options.compensation = Compensation::off;
    options.drop_tol = 0;
    options.schur_drop_tol = 0;
    options.weak_coupling = 0;
    options.dense_order = most_dense;
    options.memory_limit = {};
    options.near_null = {};
    return options;
}

MlIluOptions of_coarse(MlIluOptions options)
{
    options.near_null = {};
    options.setup = MlIluSetup::automatic;
    options.compensation = Compensation::automatic;
    return options;
}

}  // namespace

template <class T>
Offset CoarseLevel<T>::stored() const
{
    return P.nnz() + A.nnz() + M.report().stored + (next ? next->stored() : 0);
}

template <class T>
std::size_t CoarseLevel<T>::bytes() const
{
    return P.bytes() + Ph.bytes() + A.bytes() + M.report().bytes + (next ? next->bytes() : 0);
}

template <class T>
std::shared_ptr<const CoarseLevel<T>> coarse_level(Cpu& be, const CsrView<T>& A, const Nodes& nodes,
                                                   const NearNull<T>& vectors, const CoarseOptions& options,
                                                   const StopToken& stop)
{
    const Aggregates parts = aggregate(be, A, nodes, options.unknowns);
    if (parts.count == 0) return nullptr;
    auto made = orthonormal_basis<T>(be, parts, nodes, vectors);
    stop.check();
    made.P = smoothed<T>(be, A, made.P);
    CsrMatrix<T> Ph = adjoint_of<T>(be, made.P);
    CsrMatrix<T> coarse = product<T>(be, Ph, product<T>(be, A, made.P));
    stop.check();
    const bool enough = coarse.rows() <= options.most_exact || coarse.rows() > A.rows() / 2;
    auto       M = MlIlu<T>::build(be, coarse, enough ? exact(options.M) : of_coarse(options.M), {}, stop);
    auto       level = std::make_shared<CoarseLevel<T>>(
        CoarseLevel<T>{std::move(made.P), std::move(Ph), std::move(coarse), std::move(M)});
    if (!enough)
        level->next =
            coarse_level<T>(be, level->A, Nodes(std::move(made.aggregate), parts.count), made.coarse, options, stop);
    return level;
}

template <class T>
CoarseCorrection<T>::CoarseCorrection(std::shared_ptr<const CoarseLevel<T>> level)
    : level_(std::move(level)), M_(level_->M), g_(level_->A.rows()), y_(g_.size()), left_(g_.size()), part_(g_.size())
{
    if (level_->next) next_ = std::make_unique<CoarseCorrection>(level_->next);
}

template <class T>
void CoarseCorrection<T>::correct(Cpu& be, std::span<const T> r, std::span<T> z, bool adjoint)
{
    spmv<T>(be, 1, level_->Ph, r, 0, g_);
    solve(be, adjoint);
    spmv<T>(be, 1, level_->P, y_, 0, z);
}

/// y ← A⁻¹ g, or what a cycle makes of it: the next coarse space, M, the next coarse space.
template <class T>
void CoarseCorrection<T>::solve(Cpu& be, bool adjoint)
{
    const auto by = [&](Preconditioner<Cpu, T>& one, std::span<const T> from, std::span<T> to) {
        if (adjoint) one.apply_adjoint(be, from, to);
        else one.apply(be, from, to);
    };
    if (!next_) return by(M_, g_, y_);
    by(*next_, g_, y_);
    for (Preconditioner<Cpu, T>* one :
         {static_cast<Preconditioner<Cpu, T>*>(&M_), static_cast<Preconditioner<Cpu, T>*>(next_.get())}) {
        std::ranges::copy(g_, left_.begin());
        if (adjoint) spmv_adjoint<T>(be, T(-1), level_->A, y_, T(1), left_);
        else spmv<T>(be, T(-1), level_->A, y_, T(1), left_);
        by(*one, left_, part_);
        axpy<T>(be, 1, part_, y_);
    }
}

#define ILUX_INSTANTIATE(T)                                                                               \
    template struct CoarseLevel<T>;                                                                       \
    template std::shared_ptr<const CoarseLevel<T>> coarse_level(Cpu&, const CsrView<T>&, const Nodes&,    \
                                                                const NearNull<T>&, const CoarseOptions&, \
                                                                const StopToken&);                        \
    template class CoarseCorrection<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
