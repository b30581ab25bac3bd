#include "ilux/direct/supernodal/front_scales.hpp"

#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/factor/row_scaling.hpp"

namespace ilux {

namespace {

/// r_i c_j of the values in fronts and then of those in F, by tasks.
void fill_scales(const FrontPlan& plan, LuPattern& P)
{
    const auto in = static_cast<Offset>(plan.in_source.size());
    const auto scale = [&](Index r, Index c) {
        return (P.row_scale.empty() ? 1 : P.row_scale[P.row_perm[r]]) *
               (P.col_scale.empty() ? 1 : P.col_scale[P.col_perm[c]]);
    };
    P.in_scale.resize(plan.in_source.size() + plan.f_source.size());
    for_pieces(in, [&](Index, Offset begin, Offset end) {
        for (Offset q = begin; q < end; ++q) P.in_scale[q] = scale(plan.in_row[q], plan.in_col[q]);
    });
    for_pieces(plan.n, [&](Index, Index begin, Index end) {
        for (Index c = begin; c < end; ++c)
            for (Offset p = plan.f_col_ptr[c]; p < plan.f_col_ptr[c + 1]; ++p)
                P.in_scale[in + p] = scale(plan.f_row[p], c);
    });
}

}  // namespace

template <class S>
std::shared_ptr<const LuPattern> front_pattern(Cpu& be, const LuSymbolic& symbolic, const FrontPlan& plan,
                                               const LuOptions& options, std::span<const NotDeduced<S>> values)
{
    require_values(symbolic, values.size());
    const MatrixView<S> A{symbolic.n, symbolic.input_ptr, symbolic.input_idx, values, symbolic.layout};
    auto                shared = std::make_shared<LuPattern>();
    auto&               P = *shared;
    P.n = plan.n;
    P.row_perm = plan.row_perm;
    P.col_perm = plan.col_perm;
    P.row_scale = symbolic.row_scale;
    P.col_scale = symbolic.col_scale;
    P.block_ptr = plan.block_ptr;
    P.f_col_ptr = plan.f_col_ptr;
    P.f_row = plan.f_row;
    constexpr Offset worth_threads = 50'000;
    with_tasks(be, symbolic.input_nnz >= worth_threads, [&] {
        require_finite_values(A);
        if (options.scaling == LuScaling::rows) P.row_scale = power_of_two_row_scales(A, P.col_scale);
        fill_scales(plan, P);
    });
    return shared;
}

#define ILUX_INSTANTIATE(S)                                                                               \
    template std::shared_ptr<const LuPattern> front_pattern<S>(Cpu&, const LuSymbolic&, const FrontPlan&, \
                                                               const LuOptions&, std::span<const S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
