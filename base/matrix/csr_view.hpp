#pragma once
// Compressed sparse rows in arrays that belong to the caller.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

namespace detail {
/// What arrays by rows must be, in whatever order each row is: sizes, row_ptr, indices in range, finite values. O(nnz)
/// @throws InvalidInput naming the place
template <class T>
void require_arrays(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
                    std::span<const T> val);
}  // namespace detail

/// A sparse matrix by rows in arrays of somebody else's, who must outlive this and every copy of it. What only reads a
/// matrix takes this, and a CsrMatrix is one. Invariant: columns ascend strictly within a row, indices are in range,
/// values are finite. Explicit zeros are kept: the pattern is the caller's.
template <class T = double>
class CsrView {
public:
    CsrView() = default;
    /// The caller's arrays as they are; nothing is copied. O(nnz)
    /// @param row_ptr  rows + 1, from 0  @param col, val  row_ptr.back() of each
    /// @throws InvalidInput naming the place where the invariant does not hold: CsrMatrix::from_arrays sorts and adds
    CsrView(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
            std::span<const T> val);

    Index       rows() const { return rows_; }
    Index       cols() const { return cols_; }
    Offset      nnz() const { return row_ptr_.back(); }
    std::size_t bytes() const { return row_ptr_.size_bytes() + col_.size_bytes() + val_.size_bytes(); }

    std::span<const Offset> row_ptr() const { return row_ptr_; }  ///< rows + 1
    std::span<const Index>  col() const { return col_; }          ///< nnz
    std::span<const T>      val() const { return val_; }          ///< nnz

    T at(Index i, Index j) const;  ///< 0 when not stored; O(log row length)

    /// This pattern with other values, which are not looked at. @param val  nnz
    CsrView with_values(std::span<const T> val) const;

protected:
    void look_at(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col,
                 std::span<const T> val);

private:
    static constexpr Offset none[1] = {0};

    Index                   rows_ = 0, cols_ = 0;
    std::span<const Offset> row_ptr_ = none;
    std::span<const Index>  col_;
    std::span<const T>      val_;
};

/// A CsrView of arrays whose row pointers have 32 bits, as SciPy and most C libraries have them. The row pointers alone
/// are copied, as `Offset`.
template <class T = double>
class WidenedCsr : public CsrView<T> {
public:
    /// Works as the constructor of CsrView does.
    WidenedCsr(Index rows, Index cols, std::span<const std::int32_t> row_ptr, std::span<const Index> col,
               std::span<const T> val);

private:
    std::shared_ptr<const std::vector<Offset>> wide_;  // shared by copies, whose views look at it
};

}  // namespace ilux
