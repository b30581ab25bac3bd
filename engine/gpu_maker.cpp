#include "ilux/engine/gpu_maker.hpp"

#include <fmt/core.h>

#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"

namespace ilux {

template <Scalar S>
template <class T, class Factors>
std::unique_ptr<Preconditioner<Gpu, S>> GpuMaker<S>::made_of(const Factors& factors)
{
    const GpuFactors<T> gpu_factors(cpu_, gpu_, factors,
                                    {.engine = storage_.engine,
                                     .adjoinable = adjoinable_,
                                     .memory_limit = storage_.memory_limit});
    auto                M = std::make_unique<GpuFactorPreconditioner<T>>(gpu_, gpu_factors);
    report_.systems = gpu_factors.report().systems;
    report_.dense = gpu_factors.report().dense;
    report_.precision = sizeof(T) < sizeof(S) ? Precision::in_single : Precision::in_double;
    report_.factor_bytes = gpu_factors.report().bytes;
    report_.workspace_bytes += M->workspace_bytes();
    return M;
}

template <Scalar S>
void GpuMaker<S>::report_rounds(const GpuRounds<S>& rounds)
{
    const std::size_t copies = adjoinable_ ? 2 : 1;
    report_.systems = rounds.systems(adjoinable_);
    report_.dense = rounds.dense_order();
    report_.precision = rounds.in_single() ? Precision::in_single : Precision::in_double;
    report_.remark = rounds.remark();
    report_.factor_bytes = copies * rounds.bytes();
    report_.workspace_bytes += copies * rounds.workspace_bytes();
}

template <Scalar S>
std::unique_ptr<Preconditioner<Gpu, S>> GpuMaker<S>::in_double(const PrecondFactors<S>& factors, Index n)
{
    using Single = single_of<S>;
    const auto either = [&](const auto& source) -> std::unique_ptr<Preconditioner<Gpu, S>> {
        if (storage_.precision == Precision::in_single) try {
                return made_of<Single>(source);
            } catch (const InvalidInput& error) {  // a value that single precision cannot hold
                report_.remark = fmt::format("precision double, not single: {}", error.what());
            }
        return made_of<S>(source);
    };
    if (factors.mlilu) return either(factors.mlilu->factors());
    if (factors.ilu0) return either(*factors.ilu0);
    if (factors.rounds) {  // a solve launches once for each round, and one graph of all
        report_rounds(*factors.rounds);
        return factors.rounds->preconditioner(gpu_, adjoinable_);
    }
    if (!factors.jacobi) return std::make_unique<Identity<Gpu, S>>(n);
    auto M = std::make_unique<GpuJacobi<S>>(gpu_, *factors.jacobi);
    report_.factor_bytes = M->bytes();
    return M;
}

template <Scalar S>
bool GpuMaker<S>::put_in_single(MixedSystem<Gpu, S>& mixed, const PrecondFactors<S>& factors, Index n)
{
    using Single = single_of<S>;
    if (factors.rounds && factors.rounds->in_single()) {
        mixed.set_M(factors.rounds->preconditioner_in_single(gpu_, mixed.scales(), adjoinable_));
        report_rounds(*factors.rounds);
        return true;
    }
    if (factors.rounds || factors.mlilu || factors.ilu0) return false;
    if (factors.jacobi) {
        report_.factor_bytes = static_cast<std::size_t>(n) * sizeof(Single);
        mixed.set_M(std::make_unique<GpuJacobi<Single>>(gpu_, Jacobi<Single>(*factors.jacobi, mixed.scales())));
    } else mixed.set_M(std::make_unique<Identity<Gpu, Single>>(n));
    return true;
}

#define ILUX_INSTANTIATE(S) template class GpuMaker<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
