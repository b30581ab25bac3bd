#include "ilux/sptrsv/gpu/long_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <class V, class Get>
std::vector<V> by_position(std::span<const Index> row, V of_partial, Get get)
{
    std::vector<V> values(row.size());
#pragma omp parallel for schedule(static) num_threads(Cpu().team())
    for (std::size_t s = 0; s < row.size(); ++s) values[s] = row[s] < 0 ? of_partial : get(row[s]);
    return values;
}

/// Where each row of L goes: behind its partial sums.
struct Places {
    std::vector<Index> own;
    Index first(Index i) const { return i == 0 ? 0 : own[i - 1] + 1; }  ///< its first partial sum, or itself
};

template <class T>
Places place_rows(const CsrView<T>& L, Index longest, Index segment)
{
    Places places;
    Offset count = 0;
    for (Index i = 0; i < L.rows(); ++i) {
        const Offset length = L.row_ptr()[i + 1] - L.row_ptr()[i];
        count += 1 + (length > longest ? (length + segment - 1) / segment : 0);
        require(count <= std::numeric_limits<Index>::max(), [&] {
            return fmt::format("row {}: rows and partial sums pass 2^31 - 1; {} rows in all", i, L.rows());
        });
        places.own.push_back(static_cast<Index>(count - 1));
    }
    return places;
}

}  // namespace

Index longest_row(std::span<const Offset> row_ptr)
{
    Offset longest = 0;
#pragma omp parallel for schedule(static) num_threads(Cpu().team()) reduction(max : longest)
    for (std::size_t i = 1; i < row_ptr.size(); ++i) longest = std::max(longest, row_ptr[i] - row_ptr[i - 1]);
    return static_cast<Index>(longest);
}

template <class T>
SplitMatrix<T> split_long_rows(const CsrView<T>& L, Index longest, Index segment)
{
    ILUX_ASSERT(longest >= segment && segment >= 1);
    const Index  n = L.rows();
    const auto   places = place_rows(L, longest, segment);
    const Index  nodes = n == 0 ? 0 : places.own.back() + 1;
    const Offset sums = nodes - n;

    std::vector<Offset> row_ptr(nodes + std::size_t{1}, 0);
    std::vector<Index>  row(nodes, -1), col(L.nnz() + sums);
    std::vector<T>      val(L.nnz() + sums);
    for (Index i = 0; i < n; ++i) {
        const Index own = places.own[i], first = places.first(i);
        Offset      left = L.row_ptr()[i + 1] - L.row_ptr()[i];
        for (Index k = first; k < own; ++k) {
            row_ptr[k + 1] = row_ptr[k] + std::min<Offset>(left, segment);
            left -= segment;
        }
        row_ptr[own + 1] = row_ptr[own] + (first < own ? Offset{own - first} : left);
        row[own] = i;
    }
#pragma omp parallel for schedule(dynamic, 1024) num_threads(Cpu().team())
    for (Index i = 0; i < n; ++i) {
        Offset at = row_ptr[places.first(i)];
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p, ++at) {
            col[at] = places.own[L.col()[p]];
            val[at] = L.val()[p];
        }
        for (Index k = places.first(i); k < places.own[i]; ++k, ++at) {
            col[at] = k;
            val[at] = T{-1};
        }
    }
    return {CsrMatrix<T>::from_sorted(nodes, nodes, std::move(row_ptr), std::move(col), std::move(val)),
            std::move(row)};
}

template <Scalar S>
SolveFrame<S> frame_by_position(const SolveFrame<S>& frame, std::span<const Index> row)
{
    const auto index = [&](const std::vector<Index>& of_row) {
        return by_position<Index>(row, -1, [&](Index i) { return of_row.empty() ? i : of_row[i]; });
    };
    const auto scale = [&]<class V>(const std::vector<V>& of_row) {
        if (of_row.empty()) return std::vector<V>();
        return by_position<V>(row, 1, [&](Index i) { return of_row[i]; });
    };
    return {index(frame.in_index), scale(frame.in_scale), index(frame.out_index), scale(frame.out_scale)};
}

template <Scalar S>
std::vector<S> inv_diag_by_position(const std::vector<S>& inv_diag, std::span<const Index> row)
{
    if (inv_diag.empty()) return {};
    return by_position<S>(row, 1, [&](Index i) { return inv_diag[i]; });
}

#define ILUX_INSTANTIATE(T)         \
    template struct SplitMatrix<T>; \
    template SplitMatrix<T> split_long_rows(const CsrView<T>&, Index, Index);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(S)                                                                  \
    template SolveFrame<S>  frame_by_position(const SolveFrame<S>&, std::span<const Index>); \
    template std::vector<S> inv_diag_by_position(const std::vector<S>&, std::span<const Index>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
