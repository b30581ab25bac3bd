#pragma once
// A CSR matrix in device memory, and y ← A x there. Plain C++, as gpu.hpp.

#include <span>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/matrix/operator.hpp"

namespace ilux {

namespace detail {

/// Entries of one row that one block of threads adds up.
struct RowSegment {
    Offset begin = 0, end = 0;
    Index  row = 0;
    int    slot = -1;  ///< where its sum goes when the row has several segments; −1: it is the whole row
};
/// A row of several segments: their sums stand in slots first … last − 1.
struct SplitRow {
    Index row = 0;
    int   first = 0, last = 0;
};

/// How the rows of a matrix are shared among threads: `lanes` neighbouring threads a row, but rows of more than
/// `longest` entries by whole blocks, in segments. Hub rows of circuits have 10⁴ entries and more.
struct RowPlan {
    int                     lanes = 1;  ///< a power of 2, at most 32
    Offset                  longest = 0;
    std::vector<RowSegment> segments;  ///< of the long rows, ascending
    std::vector<SplitRow>   split;     ///< the long rows of several segments, ascending
};

constexpr int max_row_slots = 16384;  ///< slots of a plan: what a Gpu has scratch memory for

/// @param lanes  0: the least power of 2 that is at least half the mean length of the rows
RowPlan plan_rows(std::span<const Offset> row_ptr, int lanes = 0);

/// The lanes of a row where there are so many entries.
int usual_lanes(Offset nnz, Index rows);

/// The most entries of a row.
Offset longest_row(Gpu& gpu, DeviceSpan<const Offset> row_ptr);
/// The first row whose columns do not ascend within 0 … cols − 1; `rows` where there is none.
Index first_wrong_row(Gpu& gpu, Index rows, Index cols, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col);

}  // namespace detail

/// A CSR matrix in device memory. Immutable but for upload_values: may serve several streams at once.
template <class T = double>
class DeviceCsr {
public:
    DeviceCsr() = default;
    /// Copies A. @param lanes  threads a row in spmv, a power of 2 up to 32; 0: chosen from the mean length of the rows
    /// @throws OutOfMemory, DeviceError; InvalidOption for other lanes
    DeviceCsr(Gpu& gpu, const CsrView<T>& A, int lanes = 0);
    /// Copies arrays that are on the device already: rows + 1, nnz, nnz. Row pointers visit the host, to be checked and
    /// planned with; columns are checked on the device, values not at all.
    /// @throws the same; InvalidInput unless they are a CSR matrix whose columns ascend within each row
    DeviceCsr(Gpu& gpu, Index rows, Index cols, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col,
              DeviceSpan<const T> val, int lanes = 0);

    /// Takes over arrays that are a CSR matrix whose columns ascend, as our kernels make them: nothing is checked. Row
    /// pointers visit the host where some row is long.
    DeviceCsr(Gpu& gpu, Index cols, DeviceBuffer<Offset> row_ptr, DeviceBuffer<Index> col, DeviceBuffer<T> val);

    /// Other values for the same pattern. @throws InvalidInput unless there are nnz() of them
    void upload_values(Gpu& gpu, std::span<const T> val) { upload<T>(gpu, val, val_); }

    Index       rows() const { return rows_; }
    Index       cols() const { return cols_; }
    Offset      nnz() const { return static_cast<Offset>(col_.size()); }
    std::size_t bytes() const;  ///< of device memory

    DeviceSpan<const Offset> row_ptr() const { return row_ptr_; }  ///< rows + 1; empty in a default-made matrix
    DeviceSpan<const Index>  col() const { return col_; }          ///< nnz
    DeviceSpan<const T>      val() const { return val_; }          ///< nnz
    DeviceSpan<T>            val() { return val_; }                ///< nnz

    int                                  lanes() const { return lanes_; }
    Offset                               longest() const { return longest_; }    ///< entries of a row that lanes share
    DeviceSpan<const detail::RowSegment> segments() const { return segments_; }  ///< of the longer rows
    DeviceSpan<const detail::SplitRow>   split() const { return split_; }        ///< those of several segments

private:
    void plan(Gpu& gpu, std::span<const Offset> row_ptr, int lanes);

    Index                            rows_ = 0, cols_ = 0;
    int                              lanes_ = 1;
    Offset                           longest_ = 0;
    DeviceBuffer<Offset>             row_ptr_;
    DeviceBuffer<Index>              col_;
    DeviceBuffer<T>                  val_;
    DeviceBuffer<detail::RowSegment> segments_;
    DeviceBuffer<detail::SplitRow>   split_;
};

/// y ← a A x + b y (b = 0 overwrites y, whatever it held), sums in double or, of complex values, two of them. x: cols,
/// y: rows; they do not overlap. Bitwise repeatable: the order of each sum is fixed by the pattern. Cost: 2 nnz flops,
/// (4 + sizeof(T)) nnz + sizeof(S) (2 rows + cols) bytes at least; one launch, two where rows are split.
template <class T, class S = working_of<T>>
void spmv(Gpu& be, NotDeduced<S> a, const DeviceCsr<T>& A, DeviceSpan<const NotDeduced<S>> x, NotDeduced<S> b,
          DeviceSpan<NotDeduced<S>> y);

/// A CSR matrix as LinearOperator on the device. Holds A there, and Aᴴ if `adjoinable`.
template <Scalar S = double>
class GpuMatrixOperator final : public LinearOperator<Gpu, S> {
public:
    /// S is given, double where it is not. @throws InvalidInput unless A is square
    GpuMatrixOperator(Gpu& gpu, const CsrView<NotDeduced<S>>& A, bool adjoinable = false);
    /// Without the adjoint. @throws InvalidInput unless A is square
    explicit GpuMatrixOperator(DeviceCsr<S> A);
    /// @param Ah  the adjoint of A
    GpuMatrixOperator(DeviceCsr<S> A, DeviceCsr<S> Ah);
    Index size() const override { return A_.rows(); }
    void  apply(Gpu& be, DeviceSpan<const S> x, DeviceSpan<S> y) const override;
    /// @throws InvalidInput when made without the adjoint
    void        apply_adjoint(Gpu& be, DeviceSpan<const S> x, DeviceSpan<S> y) const override;
    std::size_t bytes() const { return A_.bytes() + Ah_.bytes(); }

    const DeviceCsr<S>& matrix() const { return A_; }

    /// Other values for the same pattern. @param A  of that pattern
    void upload_values(Gpu& gpu, const CsrView<NotDeduced<S>>& A);
    /// Copies such values from the device; complex ones may stand on multiples of 8 bytes. Does not wait.
    /// @throws InvalidInput when made with the adjoint, or for another number of them
    void copy_values(Gpu& gpu, DeviceSpan<const S> values);

private:
    DeviceCsr<S> A_, Ah_;
    bool         adjoinable_;
};

}  // namespace ilux
