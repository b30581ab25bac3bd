#pragma once
// A matrix as a caller of the C interface gives it: borrowed where the library can work on it, else copied.

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/c_api/ilux.h"

namespace ilux::c_api {

/// Gives the GPU that arrays of the caller's lie on.
using GpuOfCaller = std::function<Gpu&()>;

/// `count` values of an array that lies on the host or on a GPU; those of a GPU are copied into `room`.
template <class T>
std::span<const T> on_host(const void* data, std::size_t count, bool on_device, const GpuOfCaller& gpu,
                           std::vector<T>& room)
{
    require(data || count == 0, [] { return "an array is NULL"; });
    if (!on_device) return {static_cast<const T*>(data), count};
    room.resize(count);
    if (count > 0) download<T>(gpu(), DeviceSpan<const T>(static_cast<const T*>(data), count), std::span<T>(room));
    return room;
}

/// The caller's matrix with ascending rows, and how its values, old and new, come to be in that order.
template <class S>
class CallerCsr {
public:
    CallerCsr() = default;
    /// @throws InvalidInput where the arrays are no matrix; DeviceError
    CallerCsr(const ilux_csr& A, const GpuOfCaller& gpu);
    CallerCsr(CallerCsr&&) noexcept = default;  // vectors keep their memory, so the view stays valid
    CallerCsr& operator=(CallerCsr&&) noexcept = default;

    const CsrView<S>& view() const { return view_; }
    bool              on_device() const { return on_device_; }
    std::size_t       entries() const { return entries_; }  ///< the caller's
    /// Other values in the caller's order, as the view has them. Valid until the next call.
    std::span<const S> in_order(const void* values, const GpuOfCaller& gpu);
    /// Those of the caller's are in the order of the view.
    bool keeps_order() const { return place_.empty(); }
    /// Orders the values of several matrices of the host, one after another.
    std::vector<S> in_order(std::span<const S> values, Index members) const;

private:
    std::span<const Offset> row_pointers(const ilux_csr& A, const GpuOfCaller& gpu);
    void                    sort(Index n, std::span<const Offset> row_ptr, std::span<const Index> col);

    bool                on_device_ = false;
    std::size_t         entries_ = 0;  // the caller's
    std::vector<Offset> row_ptr_;
    std::vector<Index>  col_;
    std::vector<S>      val_, renewed_;
    std::vector<Offset> place_;  // of each entry of the caller's in the sorted matrix; none: they are the same
    CsrView<S>          view_;
};

template <class S>
std::span<const Offset> CallerCsr<S>::row_pointers(const ilux_csr& A, const GpuOfCaller& gpu)
{
    require(A.n >= 0 && A.n < std::numeric_limits<Index>::max(),
            [&] { return "n is " + std::to_string(A.n) + ", not from 0 to 2147483646"; });
    require(A.row_ptr_bits == 32 || A.row_ptr_bits == 64,
            [&] { return "row_ptr_bits is " + std::to_string(A.row_ptr_bits) + ", not 32 or 64"; });
    require(A.memory == ILUX_HOST || A.memory == ILUX_DEVICE,
            [&] { return "memory is " + std::to_string(A.memory) + ", not ILUX_HOST or ILUX_DEVICE"; });
    require(A.row_ptr != nullptr, [] { return "row_ptr is NULL"; });
    const auto count = static_cast<std::size_t>(A.n) + 1;
    if (A.row_ptr_bits == 64) return on_host<Offset>(A.row_ptr, count, on_device_, gpu, row_ptr_);
    std::vector<std::int32_t> room;
    const auto                narrow = on_host<std::int32_t>(A.row_ptr, count, on_device_, gpu, room);
    row_ptr_.assign(narrow.begin(), narrow.end());
    return row_ptr_;
}

template <class S>
CallerCsr<S>::CallerCsr(const ilux_csr& A, const GpuOfCaller& gpu) : on_device_(A.memory == ILUX_DEVICE)
{
    const auto row_ptr = row_pointers(A, gpu);
    const auto n = static_cast<Index>(A.n);
    require(row_ptr.back() >= 0, [&] { return "row_ptr ends at " + std::to_string(row_ptr.back()); });
    entries_ = static_cast<std::size_t>(row_ptr.back());
    const auto col = on_host<Index>(A.col, entries_, on_device_, gpu, col_);
    const auto val = on_host<S>(A.values, entries_, on_device_, gpu, val_);
    detail::require_arrays<S>(n, n, row_ptr, col, val);
    bool ascends = true;
    for (Index i = 0; i < n && ascends; ++i)
        ascends = std::adjacent_find(col.begin() + row_ptr[i], col.begin() + row_ptr[i + 1], std::greater_equal<>()) ==
                  col.begin() + row_ptr[i + 1];
    if (!ascends) {
        const std::vector<S> given(val.begin(), val.end());
        sort(n, row_ptr, col);
        val_ = in_order(std::span<const S>(given), 1);
    }
    view_ = ascends ? CsrView<S>(n, n, row_ptr, col, val) : CsrView<S>(n, n, row_ptr_, col_, val_);
}

/// Rows ascend afterwards, and entries at one place are one.
template <class S>
void CallerCsr<S>::sort(Index n, std::span<const Offset> row_ptr, std::span<const Index> col)
{
    std::vector<Offset> sorted_ptr{0};
    std::vector<Index>  sorted;
    place_.resize(col.size());
    for (Index i = 0; i < n; ++i) {
        const auto         row = col.subspan(row_ptr[i], row_ptr[i + 1] - row_ptr[i]);
        std::vector<Index> once(row.begin(), row.end());
        std::ranges::sort(once);
        once.erase(std::unique(once.begin(), once.end()), once.end());
        for (std::size_t k = 0; k < row.size(); ++k)
            place_[row_ptr[i] + k] = sorted_ptr.back() + (std::ranges::lower_bound(once, row[k]) - once.begin());
        sorted.insert(sorted.end(), once.begin(), once.end());
        sorted_ptr.push_back(static_cast<Offset>(sorted.size()));
    }
    row_ptr_ = std::move(sorted_ptr);
    col_ = std::move(sorted);
}

template <class S>
std::vector<S> CallerCsr<S>::in_order(std::span<const S> values, Index members) const
{
    if (place_.empty()) return {values.begin(), values.end()};
    const std::size_t nnz = col_.size();
    std::vector<S>    ordered(nnz * static_cast<std::size_t>(members));
    for (std::size_t m = 0; m < static_cast<std::size_t>(members); ++m)
        for (std::size_t k = 0; k < entries_; ++k) ordered[m * nnz + place_[k]] += values[m * entries_ + k];
    return ordered;
}

template <class S>
std::span<const S> CallerCsr<S>::in_order(const void* values, const GpuOfCaller& gpu)
{
    const auto given = on_host<S>(values, entries_, on_device_, gpu, renewed_);
    if (place_.empty()) return given;
    renewed_ = in_order(given, 1);
    return renewed_;
}

}  // namespace ilux::c_api
