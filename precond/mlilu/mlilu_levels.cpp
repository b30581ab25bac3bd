#include "ilux/precond/mlilu/mlilu_levels.hpp"

namespace ilux {

MlIluLevelPlans plans_of(const MlIluLevel& level, const std::shared_ptr<const MlIluFactors>& keeps)
{
    const auto shared = [&](const CsrMatrix<double>& factor) {
        return std::shared_ptr<const CsrMatrix<double>>(keeps, &factor);
    };
    return {SpTrsvPlan<double>(shared(level.L_B), Triangle::lower, Diagonal::unit),
            SpTrsvPlan<double>(shared(level.U_B), Triangle::upper, Diagonal::unit)};
}

std::size_t bytes_of(const MlIluLevel& level, const MlIluLevelPlans& plans)
{
    return plans.L_B.bytes() + plans.U_B.bytes() + level.lower.bytes() + level.upper.bytes() +
           static_cast<std::size_t>(level.n) * 2 * (sizeof(Index) + sizeof(double)) +
           level.d_inv.size() * sizeof(double);
}

}  // namespace ilux
