#include "ilux/base/matrix/csr.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/matrix/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <class T>
void require_finite_sum(Index i, Index j, T value)
{
    require(is_finite(value), [&] {
        return fmt::format("the duplicates at row {}, column {} (counted from 1) sum to {}", i + 1, j + 1,
                           detail::shown(value));
    });
}

/// Whether the columns of [begin, end) ascend strictly.
bool ascends(const std::vector<Index>& col, Offset begin, Offset end)
{
    for (Offset p = begin + 1; p < end; ++p)
        if (col[p - 1] >= col[p]) return false;
    return true;
}

/// Insertion by column; stable.
template <class T>
void sort_short_row(Index* col, T* val, Offset n)
{
    for (Offset k = 1; k < n; ++k) {
        const Index j = col[k];
        const T     value = val[k];
        Offset      p = k;
        for (; p > 0 && col[p - 1] > j; --p) {
            col[p] = col[p - 1];
            val[p] = val[p - 1];
        }
        col[p] = j;
        val[p] = value;
    }
}

/// Sorts each row by column (stable, so duplicates keep their order) and sums duplicates in place.
template <class T>
void sort_and_sum(Index rows, std::vector<Offset>& row_ptr, std::vector<Index>& col, std::vector<T>& val)
{
    constexpr Offset                 short_row = 32;  // longer ones are worth a copy and a merge sort
    std::vector<std::pair<Index, T>> row;
    Offset                           out = 0, begin = 0;
    for (Index i = 0; i < rows; ++i) {
        const Offset end = row_ptr[i + 1];
        if (end - begin <= short_row) sort_short_row(col.data() + begin, val.data() + begin, end - begin);
        if (out == begin &&
            ascends(col, begin, end)) {  // in place and in order: nearly every row of nearly every matrix
            out = begin = end;
            continue;
        }
        row.clear();
        for (Offset p = begin; p < end; ++p) row.emplace_back(col[p], val[p]);
        const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
        if (!std::ranges::is_sorted(row, by_column)) std::ranges::stable_sort(row, by_column);
        const Offset first = out;
        for (const auto& [j, value] : row) {
            if (out > first && col[out - 1] == j) {
                val[out - 1] += value;
                require_finite_sum(i, j, val[out - 1]);
            } else {
                col[out] = j;
                val[out++] = value;
            }
        }
        begin = end;
        row_ptr[i + 1] = out;
    }
    col.resize(out);
    val.resize(out);
}

}  // namespace

template <class T>
CsrMatrix<T>::CsrMatrix(const CsrView<T>& A)
    : row_ptr_(A.row_ptr().begin(), A.row_ptr().end()),
      col_(A.col().begin(), A.col().end()),
      val_(A.val().begin(), A.val().end())
{
    this->look_at(A.rows(), A.cols(), row_ptr_, col_, val_);
}

template <class T>
CsrMatrix<T>& CsrMatrix<T>::operator=(CsrMatrix&& other) noexcept
{
    if (this != &other) take(std::move(other));
    return *this;
}

/// The arrays stay where they are: only their owner changes. `other` is 0×0 then.
template <class T>
void CsrMatrix<T>::take(CsrMatrix&& other) noexcept
{
    row_ptr_ = std::exchange(other.row_ptr_, {});
    col_ = std::exchange(other.col_, {});
    val_ = std::exchange(other.val_, {});
    static_cast<CsrView<T>&>(*this) = std::exchange(static_cast<CsrView<T>&>(other), {});
}

template <class T>
CsrMatrix<T> CsrMatrix<T>::from_triplets(Index rows, Index cols, std::span<const Index> row, std::span<const Index> col,
                                         std::span<const T> val)
{
    detail::require_size(rows, cols);
    require(row.size() == col.size() && row.size() == val.size(), [&] {
        return fmt::format("{} row indices, {} column indices and {} values do not belong together", row.size(),
                           col.size(), val.size());
    });
    std::vector<Offset> row_ptr(static_cast<std::size_t>(rows) + 1, 0);
    for (std::size_t p = 0; p < row.size(); ++p) {
        detail::require_entry(rows, cols, row[p], col[p], val[p], static_cast<Offset>(p));
        ++row_ptr[row[p] + 1];
    }
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Offset> next(row_ptr.begin(), row_ptr.end() - 1);
    std::vector<Index>  sorted_col(col.size());
    std::vector<T>      sorted_val(val.size());
    for (std::size_t p = 0; p < row.size(); ++p) {
        const Offset q = next[row[p]]++;
        sorted_col[q] = col[p];
        sorted_val[q] = val[p];
    }
    sort_and_sum(rows, row_ptr, sorted_col, sorted_val);
    return from_sorted(rows, cols, std::move(row_ptr), std::move(sorted_col), std::move(sorted_val));
}

template <class T>
CsrMatrix<T> CsrMatrix<T>::from_arrays(Index rows, Index cols, std::vector<Offset> row_ptr, std::vector<Index> col,
                                       std::vector<T> val)
{
    detail::require_arrays<T>(rows, cols, row_ptr, col, val);
    sort_and_sum(rows, row_ptr, col, val);
    return from_sorted(rows, cols, std::move(row_ptr), std::move(col), std::move(val));
}

template <class T>
CsrMatrix<T> CsrMatrix<T>::from_sorted(Index rows, Index cols, std::vector<Offset> row_ptr, std::vector<Index> col,
                                       std::vector<T> val)
{
    ILUX_ASSERT(row_ptr.size() == static_cast<std::size_t>(rows) + 1 && col.size() == val.size());
    ILUX_ASSERT(row_ptr.back() == static_cast<Offset>(col.size()));
    CsrMatrix A;
    A.row_ptr_ = std::move(row_ptr);
    A.col_ = std::move(col);
    A.val_ = std::move(val);
    A.look_at(rows, cols, A.row_ptr_, A.col_, A.val_);
    return A;
}

template <class T>
CsrMatrix<T> CsrMatrix<T>::identity(Index n)
{
    detail::require_size(n, n);
    std::vector<Offset> row_ptr(static_cast<std::size_t>(n) + 1);
    std::iota(row_ptr.begin(), row_ptr.end(), Offset{0});
    std::vector<Index> col(n);
    std::iota(col.begin(), col.end(), Index{0});
    return from_sorted(n, n, std::move(row_ptr), std::move(col), std::vector<T>(n, T{1}));
}

template <class T>
CsrMatrix<T> transpose(const CsrView<T>& A)
{
    std::vector<Offset> row_ptr(static_cast<std::size_t>(A.cols()) + 1, 0);
    for (Index j : A.col()) ++row_ptr[j + 1];
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Offset> next(row_ptr.begin(), row_ptr.end() - 1);
    std::vector<Index>  col(A.nnz());
    std::vector<T>      val(A.nnz());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Offset q = next[A.col()[p]]++;
            col[q] = i;
            val[q] = A.val()[p];
        }
    return CsrMatrix<T>::from_sorted(A.cols(), A.rows(), std::move(row_ptr), std::move(col), std::move(val));
}

template <class T>
CsrMatrix<T> adjoint(const CsrView<T>& A)
{
    CsrMatrix<T> of_A = transpose(A);
    for (T& value : of_A.val()) value = conj(value);
    return of_A;
}

template <class T>
CsrMatrix<T> permute(const CsrView<T>& A, std::span<const Index> p, std::span<const Index> q)
{
    require((p.empty() || p.size() == static_cast<std::size_t>(A.rows())) &&
                (q.empty() || q.size() == static_cast<std::size_t>(A.cols())),
            [&] {
                return fmt::format("permutations of {} rows and {} columns for a {} x {} matrix", p.size(), q.size(),
                                   A.rows(), A.cols());
            });
    inverse_permutation(p);  // refuses what is no permutation
    const auto                       inv_q = inverse_permutation(q);
    std::vector<Offset>              row_ptr(static_cast<std::size_t>(A.rows()) + 1, 0);
    std::vector<Index>               col(A.nnz());
    std::vector<T>                   val(A.nnz());
    std::vector<std::pair<Index, T>> row;
    Offset                           out = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        const Index old = p.empty() ? i : p[i];
        row.clear();
        for (Offset e = A.row_ptr()[old]; e < A.row_ptr()[old + 1]; ++e)
            row.emplace_back(q.empty() ? A.col()[e] : inv_q[A.col()[e]], A.val()[e]);
        if (!q.empty()) std::ranges::sort(row, {}, &std::pair<Index, T>::first);
        for (const auto& [j, value] : row) {
            col[out] = j;
            val[out++] = value;
        }
        row_ptr[i + 1] = out;
    }
    return CsrMatrix<T>::from_sorted(A.rows(), A.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

template <class T>
void scale_rows_cols(CsrMatrix<T>& A, std::span<const double> r, std::span<const double> c)
{
    require((r.empty() || r.size() == static_cast<std::size_t>(A.rows())) &&
                (c.empty() || c.size() == static_cast<std::size_t>(A.cols())),
            [&] {
                return fmt::format("{} row and {} column factors for a {} x {} matrix", r.size(), c.size(), A.rows(),
                                   A.cols());
            });
    const auto val = A.val();
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const working_of<T> scaled =
                scaled_entry<working_of<T>>(r.empty() ? 1. : r[i], val[p], c.empty() ? 1. : c[A.col()[p]]);
            val[p] = static_cast<T>(scaled);
            require(is_finite(val[p]), [&] {
                return fmt::format(
                    "scaled by its row and column factors, the entry at row {}, column {} (counted from 1) is {}",
                    i + 1, A.col()[p] + 1, detail::shown(scaled));
            });
        }
}

namespace {

/// Whether every entry (i, j) below the diagonal pairs with a (j, i) above it, and their values satisfy `equal`.
/// Rows are walked in order, so the partners in row j are met in order too: one cursor a row, O(nnz), early exit.
template <class T, class Equal>
bool pairs_up(const CsrView<T>& A, Equal&& equal)
{
    if (A.rows() != A.cols()) return false;
    const auto          row_ptr = A.row_ptr();
    const auto          col = A.col();
    const auto          val = A.val();
    std::vector<Offset> upper(A.rows());  // the next entry right of the diagonal that awaits its partner
    for (Index i = 0; i < A.rows(); ++i) {
        Offset p = row_ptr[i];
        for (; p < row_ptr[i + 1] && col[p] < i; ++p) {
            const Offset partner = upper[col[p]]++;
            if (partner == row_ptr[col[p] + 1] || col[partner] != i || !equal(val[p], val[partner])) return false;
        }
        upper[i] = p < row_ptr[i + 1] && col[p] == i ? p + 1 : p;
    }
    for (Index i = 0; i < A.rows(); ++i)
        if (upper[i] != row_ptr[i + 1]) return false;
    return true;
}

}  // namespace

template <class T>
bool is_pattern_symmetric(const CsrView<T>& A)
{
    return pairs_up(A, [](T, T) { return true; });
}

template <class T>
bool has_positive_diagonal(const CsrView<T>& A)
{
    for (Index i = 0; i < A.rows(); ++i) {
        const T a = A.at(i, i);
        if (!(real_part(a) > 0) || a != conj(a)) return false;
    }
    return true;
}

template <class T>
bool is_symmetric(const CsrView<T>& A)
{
    return pairs_up(A, [](T a, T b) { return a == b; });
}

template <class T>
bool is_hermitian(const CsrView<T>& A)
{
    for (Index i = 0; is_complex<T> && i < std::min(A.rows(), A.cols()); ++i)
        if (const T a = A.at(i, i); a != conj(a)) return false;
    return pairs_up(A, [](T a, T b) { return a == conj(b); });
}

#define ILUX_INSTANTIATE(T)                                                                                 \
    template class CsrMatrix<T>;                                                                            \
    template CsrMatrix<T> transpose(const CsrView<T>&);                                                     \
    template CsrMatrix<T> adjoint(const CsrView<T>&);                                                       \
    template CsrMatrix<T> permute(const CsrView<T>&, std::span<const Index>, std::span<const Index>);       \
    template void         scale_rows_cols(CsrMatrix<T>&, std::span<const double>, std::span<const double>); \
    template bool         is_symmetric(const CsrView<T>&);                                                  \
    template bool         is_hermitian(const CsrView<T>&);                                                  \
    template bool         has_positive_diagonal(const CsrView<T>&);                                         \
    template bool         is_pattern_symmetric(const CsrView<T>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
