#include "ilux/precond/mlilu/mlilu_levels.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/precond/crout/crout_ilu.hpp"

namespace ilux {

template <Scalar T>
CsrMatrix<T> lower_factor(const MlIluLevel<T>& level)
{
    return level.half == Mirror::none ? level.L_B : image<T>(level.half, level.U_B);
}

template <Scalar T>
CsrMatrix<T> lower_block(const MlIluLevel<T>& level)
{
    return level.half == Mirror::none ? level.lower : image<T>(level.half, level.upper);
}

template <Scalar T>
void keep_half(MlIluLevel<T>& level, Mirror mirror)
{
    level.half = mirror;
    if (mirror == Mirror::none) return;
    ILUX_ASSERT(level.L_B.nnz() == level.U_B.nnz() && level.lower.nnz() == level.upper.nnz());
    level.L_B = level.lower = CsrMatrix<T>();
}

template <Scalar T>
MlIluLevelPlans<T> plans_of(const MlIluLevel<T>& level, const std::shared_ptr<const MlIluFactors<T>>& keeps)
{
    const auto shared = [&](const CsrMatrix<T>& factor) { return std::shared_ptr<const CsrMatrix<T>>(keeps, &factor); };
    MlIluLevelPlans<T> plans;
    if (level.half == Mirror::none) plans.L_B = SpTrsvPlan<T, T>(shared(level.L_B), Triangle::lower, Diagonal::unit);
    plans.U_B = SpTrsvPlan<T, T>(shared(level.U_B), Triangle::upper, Diagonal::unit);
    return plans;
}

template <Scalar T>
std::size_t bytes_of(const MlIluLevel<T>& level, const MlIluLevelPlans<T>& plans)
{
    return plans.L_B.bytes() + plans.U_B.bytes() + level.lower.bytes() + level.upper.bytes() +
           static_cast<std::size_t>(level.n) * 2 * (sizeof(Index) + sizeof(double)) + level.d_inv.size() * sizeof(T);
}

template <Scalar T>
std::optional<RoundsPlan> plan_of_rounds(const MlIluFactors<T>& factors)
{
    if (factors.full) return {};  // they would end so again
    RoundsPlan plan{.n = factors.n,
                    .compensation = factors.report.compensation,
                    .crout_follows = factors.ends_in_crout};
    for (const MlIluLevel<T>& level : factors.levels) {
        if (level.round_ends.empty()) break;
        RoundsOfLevel rounds{.pivots = {level.p.begin(), level.p.begin() + level.nB},
                             .ends = level.round_ends,
                             .cut = level.cut_when_chosen};
        if (level.p != level.q) {
            rounds.row_scale = level.row_scale;
            rounds.col_scale = level.col_scale;
            rounds.col_of_row.resize(level.p.size());
            for (std::size_t i = 0; i < level.p.size(); ++i) rounds.col_of_row[level.p[i]] = level.q[i];
        }
        plan.levels.push_back(std::move(rounds));
    }
    if (plan.levels.empty()) return {};
    return plan;
}

#define ILUX_INSTANTIATE(T)                                                    \
    template std::optional<RoundsPlan> plan_of_rounds(const MlIluFactors<T>&); \
    template CsrMatrix<T>              lower_factor(const MlIluLevel<T>&);     \
    template CsrMatrix<T>              lower_block(const MlIluLevel<T>&);      \
    template void                      keep_half(MlIluLevel<T>&, Mirror);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T)                                                                                    \
    template MlIluLevelPlans<T> plans_of(const MlIluLevel<T>&, const std::shared_ptr<const MlIluFactors<T>>&); \
    template std::size_t        bytes_of(const MlIluLevel<T>&, const MlIluLevelPlans<T>&);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
