#include "ilux/solver/strategy/mixed_host.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// M of R A C. @param bytes  what it takes
template <Scalar S>
std::unique_ptr<Preconditioner<Cpu, single_of<S>>> host_preconditioner(const PrecondFactors<S>& factors, Index n,
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
    if (factors.jacobi) {
        bytes = static_cast<std::size_t>(n) * sizeof(Single);
        return std::make_unique<Jacobi<Single>>(*factors.jacobi, scales);
    }
    bytes = 0;
    return std::make_unique<Identity<Cpu, Single>>(n);
}

}  // namespace

template <Scalar S>
MixedHost<S>::MixedHost(Cpu& cpu, const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                        const KrylovOptions& krylov)
    : cpu_(cpu),
      matrix_(single_matrix(cpu, A)),
      row_(matrix_.row_scale.begin(), matrix_.row_scale.end()),
      column_(matrix_.col_scale.begin(), matrix_.col_scale.end()),
      op_(matrix_.A, needs_transpose(method)),
      in_double_(A),
      M_(host_preconditioner(factors, A.rows(), matrix_.scales(), factor_bytes_)),
      workspace_(method, A.rows(), krylov)
{}

template <Scalar S>
IterationReport MixedHost<S>::solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                                    const ProgressListener& on_progress, const StopToken& stop)
{
    return refine<Cpu, S>(cpu_, in_double_, system(), b, x, workspace_, krylov, on_progress, stop);
}

template <Scalar S>
IterationCalls<S> MixedHost<S>::calls(const StopToken& stop)
{
    const auto precondition = [this](std::span<const S> r, std::span<S> z) {
        ilux::precondition<Cpu, S>(cpu_, system(), r, z, workspace_);
    };
    const auto solve = [this, &stop](std::span<const double> D, std::span<const S> b, std::span<S> x,
                                     const KrylovOptions& krylov) {
        const auto                      rows = in_scalars<S>(D);
        const RowScaledOperator<Cpu, S> DA(in_double_, rows);
        std::vector<S>                  scale(D.size(), S(1));  // R D⁻¹: the inner systems are those of A
        if (!row_.empty()) scale = row_;
        for (std::size_t i = 0; i < D.size(); ++i) scale[i] /= D[i];
        SingleSystem<Cpu, S> of_rows{op_, *M_, scale, column_};
        return refine<Cpu, S>(cpu_, DA, of_rows, b, x, workspace_, krylov, {}, stop);
    };
    return {precondition, solve};
}

#define ILUX_INSTANTIATE(S) template class MixedHost<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
