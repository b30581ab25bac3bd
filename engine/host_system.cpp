#include "ilux/engine/host_system.hpp"

#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/single_matrix.hpp"
#include "ilux/precond/coarse/two_level.hpp"

namespace ilux {
namespace {

/// A matrix, and products with it.
template <class T>
class OwnMatrixOperator final : public LinearOperator<Cpu, T> {
public:
    OwnMatrixOperator(CsrMatrix<T> A, bool adjoinable) : A_(std::move(A)), op_(A_, adjoinable) {}
    Index size() const override { return op_.size(); }
    void  apply(Cpu& be, std::span<const T> x, std::span<T> y) const override { op_.apply(be, x, y); }
    void  apply_adjoint(Cpu& be, std::span<const T> x, std::span<T> y) const override { op_.apply_adjoint(be, x, y); }

private:
    CsrMatrix<T>      A_;
    MatrixOperator<T> op_;
};

/// M of R A C. @param bytes  what it takes
template <Scalar S>
std::unique_ptr<Preconditioner<Cpu, single_of<S>>> in_single(const PrecondFactors<S>& factors, Index n,
                                                             const SingleScales& scales, std::size_t& bytes)
{
    using Single = single_of<S>;
    if (factors.mlilu) {
        auto mlilu = factors.mlilu->in_single(scales);
        bytes = mlilu.report().bytes;
        return std::make_unique<MlIluPreconditioner<Single>>(std::move(mlilu));
    }
    if (factors.ilu0) {
        auto M = std::make_unique<Ilu0<Single>>(*factors.ilu0, scales);
        bytes = M->bytes();
        return M;
    }
    bytes = factors.jacobi ? static_cast<std::size_t>(n) * sizeof(Single) : 0;
    if (factors.jacobi) return std::make_unique<Jacobi<Single>>(*factors.jacobi, scales);
    return std::make_unique<Identity<Cpu, Single>>(n);
}

}  // namespace

template <Scalar S>
void HostSystem<S>::renew(const CsrView<S>& A)
{
    A_ = &A;
    op_.emplace(A, needs_transpose(method_));
}

template <Scalar S>
void HostSystem<S>::put_in_single(const PrecondFactors<S>& factors)
{
    using Single = single_of<S>;
    SingleMatrix<S> matrix = single_matrix(cpu_, *A_);
    matrix_bytes_ = matrix.bytes();
    const std::vector<S> row(matrix.row_scale.begin(), matrix.row_scale.end());
    const std::vector<S> col(matrix.col_scale.begin(), matrix.col_scale.end());
    auto                 M = in_single<S>(factors, A_->rows(), matrix.scales(), single_bytes_);
    MixedSystem<Cpu, S>  mixed(method_,
                               std::make_unique<OwnMatrixOperator<Single>>(std::move(matrix.A),
                                                                          needs_transpose(method_)),
                               std::move(matrix.row_scale), std::move(matrix.col_scale), row, col, krylov_);
    mixed.set_M(std::move(M));
    system_.emplace(cpu_, method_, *op_, std::move(mixed));
}

/// M and the coarse space are of A, also where the system is with Aᴴ.
template <Scalar S>
std::unique_ptr<Preconditioner<Cpu, S>> HostSystem<S>::two_level(const PrecondFactors<S>& factors)
{
    auto M = std::make_unique<TwoLevel<Cpu, S>>(
        typename TwoLevel<Cpu, S>::Parts{.A = *op_,
                                         .of_adjoint = adjoint_,
                                         .M = std::make_unique<MlIluPreconditioner<S>>(*factors.mlilu),
                                         .adjoinable = adjoint_ || needs_transpose(method_)});
    M->set(cpu_, factors.coarse);
    return M;
}

template <Scalar S>
void HostSystem<S>::put(const PrecondFactors<S>& factors)
{
    drop_factors();
    const Index n = A_->rows();
    const auto  made = [&](std::unique_ptr<Preconditioner<Cpu, S>> M) {
        made_.push_back(std::move(M));
        M_ = made_.back().get();
    };
    if (factors.coarse) made(two_level(factors));
    else if (factors.mlilu) made(std::make_unique<MlIluPreconditioner<S>>(*factors.mlilu));
    else if (factors.ilu0) M_ = factors.ilu0.get();
    else if (factors.jacobi) M_ = factors.jacobi.get();
    else made(std::make_unique<Identity<Cpu, S>>(n));
    if (const NullSpace<S>* N = factors.null_space.get())
        made(std::make_unique<ProjectedPreconditioner<Cpu, S>>(*M_,
                                                               std::vector<S>(N->columns().begin(), N->columns().end()),
                                                               N->count(), N->left()));
    if (adjoint_) made(std::make_unique<AdjointPreconditioner<Cpu, S>>(*M_));
    if (mixed_) return put_in_single(factors);
    if (!system_) system_.emplace(cpu_, method_, *op_, krylov_);
    system_->refer_to(*M_);
}

template <Scalar S>
void HostSystem<S>::drop_factors()
{
    M_ = nullptr;
    while (!made_.empty()) made_.pop_back();
    if (mixed_) system_.reset();
}

template <Scalar S>
void HostSystem<S>::note(Attempt& tried) const
{
    tried.workspace_bytes = system_->bytes();
    if (mixed_) {
        tried.workspace_bytes += matrix_bytes_;
        tried.factor_bytes += single_bytes_;
    }
}

template <Scalar S>
void HostSystem<S>::iterate(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried)
{
    given.read_guess(tried.x);
    tried.report = system_->solve(given.b(), tried.x.of<S>(), how.krylov, how.on_progress, how.stop);
}

template <Scalar S>
void HostSystem<S>::judge(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried)
{
    how.bring_values();
    finish_iteration<S>(cpu_, how.A, given.b(), how.krylov, how.standard, *system_, &how.witness, how.stop, tried);
}

template <Scalar S>
void HostSystem<S>::apply(SystemVectors<S>& given)
{
    std::vector<S> z(given.b().size());
    M_->apply(cpu_, given.b(), z);
    given.deliver(z);
}

#define ILUX_INSTANTIATE(S) template class HostSystem<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
