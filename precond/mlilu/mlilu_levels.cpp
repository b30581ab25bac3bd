#include "ilux/precond/mlilu/mlilu_levels.hpp"

#include "ilux/precond/mlilu/instances.hpp"

namespace ilux {

template <Scalar T>
MlIluLevelPlans<T> plans_of(const MlIluLevel<T>& level, const std::shared_ptr<const MlIluFactors<T>>& keeps)
{
    const auto shared = [&](const CsrMatrix<T>& factor) { return std::shared_ptr<const CsrMatrix<T>>(keeps, &factor); };
    return {SpTrsvPlan<T>(shared(level.L_B), Triangle::lower, Diagonal::unit),
            SpTrsvPlan<T>(shared(level.U_B), Triangle::upper, Diagonal::unit)};
}

template <Scalar T>
std::size_t bytes_of(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans)
{
    return plans.L_B.bytes() + plans.U_B.bytes() + level.lower.bytes() + level.upper.bytes() +
           static_cast<std::size_t>(level.n) * 2 * (sizeof(Index) + sizeof(double)) + level.d_inv.size() * sizeof(T);
}

#define ILUX_INSTANTIATE(T)                                                                                    \
    template MlIluLevelPlans<T> plans_of(const MlIluLevel<T>&, const std::shared_ptr<const MlIluFactors<T>>&); \
    template std::size_t        bytes_of(const MlIluLevel<T>&, const MlIluLevelPlans<T>&);
ILUX_MLILU_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
