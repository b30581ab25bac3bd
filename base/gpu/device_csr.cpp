#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/device_csr.hpp"

#include <algorithm>
#include <bit>

#include "ilux/base/error.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr Offset long_row = 32;  // rows of more than this many entries a lane are long: lanes are latency-bound
constexpr Offset shortest_segment = 4096;  // 16 entries a thread

void require_lanes(int lanes)
{
    if (lanes < 0 || lanes > 32 || (lanes > 0 && !std::has_single_bit(static_cast<unsigned>(lanes))))
        throw InvalidOption("lanes = " + std::to_string(lanes) + "; a power of 2 up to 32 is possible, or 0 to choose");
}

template <class V>
DeviceBuffer<V> copy_of(Gpu& gpu, DeviceSpan<const V> from)
{
    DeviceBuffer<V> to(from.size());
    detail::enqueue_copy(gpu, from.data(), to.data(), from.size() * sizeof(V));
    return to;
}

/// @throws InvalidInput unless these are row pointers to nnz entries
void require_row_pointers(std::span<const Offset> row_ptr, Index rows, std::size_t nnz)
{
    const bool are = rows >= 0 && row_ptr.size() == static_cast<std::size_t>(rows) + 1 && row_ptr.front() == 0 &&
                     row_ptr.back() == static_cast<Offset>(nnz) && std::ranges::is_sorted(row_ptr);
    require(are, [&] {
        return std::to_string(row_ptr.size()) + " row pointers do not ascend from 0 to " + std::to_string(nnz) +
               " for " + std::to_string(rows) + " rows";
    });
}

void require_square(Index rows, Index cols)
{
    require(rows == cols, [&] {
        return "a linear system needs a square matrix; this one is " + std::to_string(rows) + " x " +
               std::to_string(cols);
    });
}

}  // namespace

namespace detail {

int usual_lanes(Offset nnz, Index rows)
{
    const Offset half_mean = rows > 0 ? (nnz + 2 * Offset{rows} - 1) / (2 * Offset{rows}) : 1;
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::clamp<Offset>(half_mean, 1, 32))));
}

RowPlan plan_rows(std::span<const Offset> row_ptr, int lanes)
{
    require_lanes(lanes);
    RowPlan      plan;
    const Index  rows = static_cast<Index>(row_ptr.size()) - 1;
    const Offset nnz = row_ptr.back();
    const auto   length = [&](Index i) { return row_ptr[i + 1] - row_ptr[i]; };

    plan.lanes = lanes > 0 ? lanes : usual_lanes(nnz, rows);
    plan.longest = long_row * plan.lanes;

    // Segments are long enough that all of them together take at most half the slots, and the last ones of rows the
    // rest.
    const Offset segment = std::max(shortest_segment, nnz / (max_row_slots / 2) + 1);
    int          slots = 0;
    for (Index i = 0; i < rows; ++i) {
        if (length(i) <= plan.longest) continue;
        const bool whole = length(i) <= segment;
        const int  first = slots;
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; p += segment)
            plan.segments.push_back({p, std::min(p + segment, row_ptr[i + 1]), i, whole ? -1 : slots++});
        if (!whole) plan.split.push_back({i, first, slots});
    }
    ILUX_ASSERT(slots <= max_row_slots);
    return plan;
}

}  // namespace detail

template <class T>
DeviceCsr<T>::DeviceCsr(Gpu& gpu, const CsrView<T>& A, int lanes)
    : rows_(A.rows()),
      cols_(A.cols()),
      row_ptr_(on_device<Offset>(gpu, A.row_ptr())),
      col_(on_device<Index>(gpu, A.col())),
      val_(on_device<T>(gpu, A.val()))
{
    plan(gpu, A.row_ptr(), lanes);
}

template <class T>
DeviceCsr<T>::DeviceCsr(Gpu& gpu, Index rows, Index cols, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col,
                        DeviceSpan<const T> val, int lanes)
    : rows_(rows), cols_(cols)
{
    gpu.make_current();
    require(val.size() == col.size(),
            [&] { return std::to_string(col.size()) + " columns and " + std::to_string(val.size()) + " values"; });
    std::vector<Offset> on_host(row_ptr.size());
    download<Offset>(gpu, row_ptr, on_host);
    require_row_pointers(on_host, rows, col.size());
    const Index wrong = detail::first_wrong_row(gpu, rows, cols, row_ptr, col);
    require(wrong == rows, [&] {
        return "the columns of row " + std::to_string(wrong) + " (counted from 0) do not ascend within 0 to " +
               std::to_string(cols - 1);
    });
    row_ptr_ = copy_of(gpu, row_ptr);
    col_ = copy_of(gpu, col);
    val_ = copy_of(gpu, val);
    plan(gpu, on_host, lanes);
    gpu.synchronize();  // the caller's arrays are free to go
}

template <class T>
DeviceCsr<T>::DeviceCsr(Gpu& gpu, Index cols, DeviceBuffer<Offset> row_ptr, DeviceBuffer<Index> col,
                        DeviceBuffer<T> val)
    : rows_(static_cast<Index>(row_ptr.size()) - 1),
      cols_(cols),
      lanes_(detail::usual_lanes(static_cast<Offset>(col.size()), rows_)),
      longest_(long_row * lanes_),
      row_ptr_(std::move(row_ptr)),
      col_(std::move(col)),
      val_(std::move(val))
{
    if (detail::longest_row(gpu, row_ptr_) > longest_) plan(gpu, on_host<Offset>(gpu, row_ptr_), 0);
}

template <class T>
void DeviceCsr<T>::plan(Gpu& gpu, std::span<const Offset> row_ptr, int lanes)
{
    const detail::RowPlan plan = detail::plan_rows(row_ptr, lanes);
    lanes_ = plan.lanes;
    longest_ = plan.longest;
    segments_ = on_device<detail::RowSegment>(gpu, plan.segments);
    split_ = on_device<detail::SplitRow>(gpu, plan.split);
}

template <class T>
std::size_t DeviceCsr<T>::bytes() const
{
    return row_ptr_.size() * sizeof(Offset) + col_.size() * sizeof(Index) + val_.size() * sizeof(T) +
           segments_.size() * sizeof(detail::RowSegment) + split_.size() * sizeof(detail::SplitRow);
}

template <Scalar S>
GpuMatrixOperator<S>::GpuMatrixOperator(Gpu& gpu, const CsrView<NotDeduced<S>>& A, bool adjoinable)
    : A_((require_square(A.rows(), A.cols()), DeviceCsr<S>(gpu, A))), adjoinable_(adjoinable)
{
    if (adjoinable) Ah_ = DeviceCsr<S>(gpu, adjoint(A));
}

template <Scalar S>
GpuMatrixOperator<S>::GpuMatrixOperator(DeviceCsr<S> A) : A_(std::move(A)), adjoinable_(false)
{
    require_square(A_.rows(), A_.cols());
}

template <Scalar S>
GpuMatrixOperator<S>::GpuMatrixOperator(DeviceCsr<S> A, DeviceCsr<S> Ah)
    : A_(std::move(A)), Ah_(std::move(Ah)), adjoinable_(true)
{
    require_square(A_.rows(), A_.cols());
}

template <Scalar S>
void GpuMatrixOperator<S>::apply(Gpu& be, DeviceSpan<const S> x, DeviceSpan<S> y) const
{
    spmv<S, S>(be, 1, A_, x, 0, y);
}

template <Scalar S>
void GpuMatrixOperator<S>::apply_adjoint(Gpu& be, DeviceSpan<const S> x, DeviceSpan<S> y) const
{
    require(adjoinable_, [] { return "this GpuMatrixOperator was made without the adjoint"; });
    spmv<S, S>(be, 1, Ah_, x, 0, y);
}

template <Scalar S>
void GpuMatrixOperator<S>::upload_values(Gpu& gpu, const CsrView<NotDeduced<S>>& A)
{
    A_.upload_values(gpu, A.val());
    if (adjoinable_) Ah_.upload_values(gpu, adjoint(A).val());
}

template <Scalar S>
void GpuMatrixOperator<S>::copy_values(Gpu& gpu, DeviceSpan<const S> values)
{
    require(!adjoinable_, [] { return "values of a device for a GpuMatrixOperator that was made with the adjoint"; });
    detail::require_same_size(values.size(), A_.val().size());
    detail::enqueue_copy(gpu, values.data(), A_.val().data(), values.size() * sizeof(S));
}

#define ILUX_INSTANTIATE(T) template class DeviceCsr<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(S) template class GpuMatrixOperator<S>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
