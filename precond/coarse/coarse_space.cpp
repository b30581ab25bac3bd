#include "ilux/precond/coarse/coarse_space.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/prolongation.hpp"
#include "ilux/precond/coarse/summed_rows.hpp"

namespace ilux {
namespace {

constexpr Index most_dense = 1500;

/// Drops nothing, as far as the memory limit allows that.
MlIluOptions exact(MlIluOptions options)
{
    options.setup = MlIluSetup::rounds;
    options.compensation = Compensation::off;
    options.drop_tol = 0;
    options.schur_drop_tol = 0;
    options.weak_coupling = 0;
    options.dense_order = most_dense;
    options.near_null = {};
    return options;
}

/// An M beside a coarse space of its own. Uncompensated rounds were too crude for blocks of several unknowns.
MlIluOptions of_coarse(MlIluOptions options)
{
    options.setup = MlIluSetup::automatic;
    options.compensation = Compensation::automatic;
    options.near_null = {};
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
    CsrMatrix<T> Ph = adjoint<T>(be, made.P);
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
void Corrector<T>::begin(Cpu& be, Preconditioner<Cpu, T>& M, std::span<const T> r, std::span<T> z, bool adjoint) const
{
    if (adjoint) M.apply_adjoint(be, r, z);
    else M.apply(be, r, z);
}

template <class T>
void Corrector<T>::go_on(Cpu& be, Preconditioner<Cpu, T>& M, std::span<const T> r, std::span<T> z, bool adjoint)
{
    if (adjoint) A_.apply_adjoint(be, z, left_);
    else A_.apply(be, z, left_);
    axpby<T>(be, 1, r, -1, left_);
    begin(be, M, left_, part_, adjoint);
    axpy<T>(be, 1, part_, z);
}

template <class T>
CoarseCorrection<T>::CoarseCorrection(std::shared_ptr<const CoarseLevel<T>> level)
    : level_(std::move(level)), M_(level_->M), A_(level_->A), corrector_(A_), g_(level_->A.rows()), y_(g_.size())
{
    if (level_->next) next_ = std::make_unique<CoarseCorrection>(level_->next);
}

/// The coarse matrix is solved with exactly, or by a cycle: the next coarse space, M, the next coarse space.
template <class T>
void CoarseCorrection<T>::correct(Cpu& be, std::span<const T> r, std::span<T> z, bool adjoint)
{
    spmv<T>(be, 1, level_->Ph, r, 0, g_);
    if (next_) {
        corrector_.begin(be, *next_, g_, y_, adjoint);
        corrector_.go_on(be, M_, g_, y_, adjoint);
        corrector_.go_on(be, *next_, g_, y_, adjoint);
    } else corrector_.begin(be, M_, g_, y_, adjoint);
    spmv<T>(be, 1, level_->P, y_, 0, z);
}

#define ILUX_INSTANTIATE(T)                                                                               \
    template struct CoarseLevel<T>;                                                                       \
    template std::shared_ptr<const CoarseLevel<T>> coarse_level(Cpu&, const CsrView<T>&, const Nodes&,    \
                                                                const NearNull<T>&, const CoarseOptions&, \
                                                                const StopToken&);                        \
    template class Corrector<T>;                                                                          \
    template class CoarseCorrection<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
