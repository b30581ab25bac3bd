#pragma once
// Compressed sparse rows: the one matrix format of the library. csr_view.hpp has what looks at such arrays.

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr_view.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

class Cpu;

/// A matrix that owns its arrays.
template <class T = double>
class CsrMatrix : public CsrView<T> {
public:
    CsrMatrix() = default;
    explicit CsrMatrix(const CsrView<T>& A);  ///< copies
    CsrMatrix(const CsrMatrix& other) : CsrMatrix(static_cast<const CsrView<T>&>(other)) {}
    CsrMatrix(CsrMatrix&& other) noexcept { take(std::move(other)); }
    CsrMatrix& operator=(const CsrMatrix& other) { return *this = CsrMatrix(other); }
    CsrMatrix& operator=(CsrMatrix&& other) noexcept;
    ~CsrMatrix() = default;

    /// Entries in any order; duplicates are summed in the order given.
    /// @throws InvalidInput naming the entry when an index is out of range, a value (or a sum) is not finite, or
    /// lengths differ
    static CsrMatrix from_triplets(Index rows, Index cols, std::span<const Index> row, std::span<const Index> col,
                                   std::span<const T> val);
    /// Rows in any order inside, duplicates summed; the same refusals as from_triplets, and of a broken row_ptr.
    static CsrMatrix from_arrays(Index rows, Index cols, std::vector<Offset> row_ptr, std::vector<Index> col,
                                 std::vector<T> val);
    /// The caller's promise that the invariant holds; checked in debug builds only.
    static CsrMatrix from_sorted(Index rows, Index cols, std::vector<Offset> row_ptr, std::vector<Index> col,
                                 std::vector<T> val);
    static CsrMatrix identity(Index n);

    using CsrView<T>::val;
    std::span<T> val() { return val_; }

private:
    void take(CsrMatrix&& other) noexcept;

    std::vector<Offset> row_ptr_;
    std::vector<Index>  col_;
    std::vector<T>      val_;
};

template <class T>
CsrMatrix<T> transpose(const CsrView<T>& A);
/// Transposes A by threads.
template <class T>
CsrMatrix<T> transpose(Cpu& be, const CsrView<T>& A);
/// Aᴴ: the transpose, conjugated.
template <class T>
CsrMatrix<T> adjoint(const CsrView<T>& A);
/// Makes Aᴴ by threads.
template <class T>
CsrMatrix<T> adjoint(Cpu& be, const CsrView<T>& A);
/// B(i, j) = A(p[i], q[j]): perm[new] = old for rows and columns; an empty span is the identity.
/// @throws InvalidInput when p or q is no permutation of A's rows or columns
template <class T>
CsrMatrix<T> permute(const CsrView<T>& A, std::span<const Index> p, std::span<const Index> q);
/// r a c for r, c > 0; what it passes through neither over- nor underflows where the product does not.
template <Scalar S>
S scaled_entry(double r, S a, double c)
{
    const auto [low, high] = std::minmax(r, c);
    return std::abs(a) >= 1 ? a * low * high : a * high * low;
}
/// A(i, j) ← r[i] A(i, j) c[j]; an empty span is all ones. @throws InvalidInput when a result is not finite; A is then
/// scaled up to that entry
template <class T>
void scale_rows_cols(CsrMatrix<T>& A, std::span<const double> r, std::span<const double> c);

template <class T>
bool is_symmetric(const CsrView<T>& A);  ///< A = Aᵀ: values and pattern, exactly
template <class T>
bool is_hermitian(const CsrView<T>& A);  ///< A = Aᴴ, likewise

/// Which image of itself a matrix is: Aᴴ = A, which of real values is Aᵀ = A, or Aᵀ = A of complex values.
enum class Mirror { none, hermitian, symmetric };
/// The one that holds exactly; Hermitian where both do.
template <class T>
Mirror mirror_of(const CsrView<T>& A)
{
    if (is_hermitian(A)) return Mirror::hermitian;
    return is_complex<T> && is_symmetric(A) ? Mirror::symmetric : Mirror::none;
}
/// What stands at (j, i) where `value` stands at (i, j).
template <Scalar T>
T mirrored(Mirror mirror, T value)
{
    return mirror == Mirror::hermitian ? T(conj(value)) : value;
}
/// A diagonal entry without what rounding adds to it: of a Hermitian matrix it is real.
template <Scalar T>
T on_diagonal(Mirror mirror, T value)
{
    return mirror == Mirror::hermitian ? T(real_part(value)) : value;
}
template <class T>
bool has_positive_diagonal(const CsrView<T>& A);  ///< every a_ii real and > 0
template <class T>
bool is_pattern_symmetric(const CsrView<T>& A);  ///< stored entries, zeros included

/// perm[new] = old  →  inv_perm[old] = new. @throws InvalidInput unless perm is a permutation
std::vector<Index> inverse_permutation(std::span<const Index> perm);
/// The inverse of what is known to be a permutation, by tasks.
UnsetVector<Index, Pages::usual> inverse_by_tasks(std::span<const Index> perm);

}  // namespace ilux
