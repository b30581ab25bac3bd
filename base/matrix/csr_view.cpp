#include "ilux/base/matrix/csr_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/matrix/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <class T>
void detail::require_arrays(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
                            std::span<const T> val)
{
    detail::require_size(rows, cols);
    require(row_ptr.size() == static_cast<std::size_t>(rows) + 1, [&] {
        return fmt::format("row_ptr has {} entries, a matrix of {} rows needs {}", row_ptr.size(), rows,
                           Offset{rows} + 1);
    });
    require(col.size() == val.size(), [&] { return fmt::format("{} columns but {} values", col.size(), val.size()); });
    require(row_ptr.front() == 0 && row_ptr.back() == static_cast<Offset>(col.size()), [&] {
        return fmt::format("row_ptr runs from {} to {}; expected 0 to {}", row_ptr.front(), row_ptr.back(), col.size());
    });
    for (Index i = 0; i < rows; ++i) {
        require(row_ptr[i] <= row_ptr[i + 1],
                [&] { return fmt::format("row_ptr decreases after row {} (counted from 0)", i); });
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            require(p < static_cast<Offset>(col.size()),
                    [&] { return fmt::format("row_ptr of row {} passes the {} entries", i, col.size()); });
            detail::require_entry(rows, cols, i, col[p], val[p], p);
        }
    }
}

template <class T>
CsrView<T>::CsrView(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
                    std::span<const T> val)
{
    detail::require_arrays<T>(rows, cols, row_ptr, col, val);
    for (Index i = 0; i < rows; ++i)
        for (Offset p = row_ptr[i] + 1; p < row_ptr[i + 1]; ++p)
            require(col[p - 1] < col[p], [&] {
                return fmt::format(
                    "row {}: column {} follows {} (counted from 0); rows that do not ascend need from_arrays", i,
                    col[p], col[p - 1]);
            });
    look_at(rows, cols, row_ptr, col, val);
}

template <class T>
void CsrView<T>::look_at(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
                         std::span<const T> val)
{
    rows_ = rows;
    cols_ = cols;
    row_ptr_ = row_ptr;
    col_ = col;
    val_ = val;
}

template <class T>
CsrView<T> CsrView<T>::with_values(std::span<const T> val) const
{
    ILUX_ASSERT(val.size() == col_.size());
    CsrView other = *this;
    other.val_ = val;
    return other;
}

template <class T>
T CsrView<T>::at(Index i, Index j) const
{
    const auto begin = col_.begin() + row_ptr_[i], end = col_.begin() + row_ptr_[i + 1];
    const auto found = std::lower_bound(begin, end, j);
    return found != end && *found == j ? val_[found - col_.begin()] : T{0};
}

template <class T>
WidenedCsr<T>::WidenedCsr(Index rows, Index cols, std::span<const std::int32_t> row_ptr, std::span<const Index> col,
                          std::span<const T> val)
    : wide_(std::make_shared<const std::vector<Offset>>(row_ptr.begin(), row_ptr.end()))
{
    static_cast<CsrView<T>&>(*this) = CsrView<T>(rows, cols, *wide_, col, val);
}

#define ILUX_INSTANTIATE(T)                                                                             \
    template void detail::require_arrays(Index, Index, std::span<const Offset>, std::span<const Index>, \
                                         std::span<const T>);                                           \
    template class CsrView<T>;                                                                          \
    template class WidenedCsr<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
