#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {
namespace {

template <class... Array>
std::size_t array_bytes(const Array&... arrays)
{
    return (std::size_t{0} + ... + (arrays.capacity() * sizeof(typename Array::value_type)));
}

}  // namespace

double LuPattern::multiply_adds() const
{
    double sum = 0;
    for (Index k = 0; k < static_cast<Index>(diag.size()); ++k)
        for (Offset p = col_ptr[k]; p < diag[k]; ++p) sum += lower_count(row[p]);
    return sum;
}

double LuPattern::flops() const
{
    double divisions = 0;
    for (Index k = 0; k < static_cast<Index>(diag.size()); ++k) divisions += lower_count(k);
    return 2 * multiply_adds() + divisions;
}

std::size_t LuPattern::bytes() const
{
    return array_bytes(row_perm, col_perm, row_scale, col_scale, block_ptr, col_ptr, row, diag, f_col_ptr, f_row,
                       in_ptr, in_split, in_source, in_row, in_scale);
}

void LuPattern::forget_entries()
{
    for (auto* positions : {&col_ptr, &diag, &f_col_ptr, &in_ptr, &in_split, &in_source}) *positions = {};
    for (auto* rows : {&row, &f_row, &in_row}) *rows = {};
    in_scale = {};
}

}  // namespace ilux
