#include "ilux/direct/factor/input_columns.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/factor/row_scaling.hpp"

namespace ilux::detail {

template <class S>
InputColumns<S>::InputColumns(const LuSymbolic& symbolic, LuScaling scaling, std::span<const S> values, LuPattern& P)
    : S_(symbolic), scaling_(scaling), values_(values), P_(P)
{
    require_values(S_, values.size());
    P_.n = S_.n;
    P_.col_perm = S_.col_perm;
    P_.row_scale = S_.row_scale;
    P_.col_scale = S_.col_scale;
    P_.block_ptr = S_.block_ptr;
    P_.in_ptr = S_.col_ptr;
    P_.in_split.resize(S_.n);
}

template <class S>
void InputColumns<S>::choose_scales()
{
    const MatrixView<S> A{S_.n, S_.input_ptr, S_.input_idx, values_, S_.layout};
    if (!all_finite<S>(values_)) require_finite_values(A);
    if (scaling_ == LuScaling::rows) P_.row_scale = power_of_two_row_scales(A, P_.col_scale);
    row_scale_.assign(S_.n, 1.0);
    if (!P_.row_scale.empty())
        for (Index i = 0; i < S_.n; ++i) row_scale_[i] = P_.row_scale[S_.row_perm[i]];
}

template <class S>
void InputColumns<S>::make_map()
{
    P_.in_source.resize(S_.row.size());
    P_.in_row.resize(S_.row.size());
    P_.in_scale.resize(S_.row.size());
}

#define ILUX_INSTANTIATE(S) template class InputColumns<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
