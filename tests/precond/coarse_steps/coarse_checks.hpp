#pragma once
// What the tests of coarse spaces share.

#include <algorithm>
#include <complex>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/coarse_steps/products.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test::coarse {

using Complex = std::complex<double>;

/// poisson2d of 60 × 60 points, the first half of them held fast: rows and columns of ones on the diagonal alone.
inline CsrMatrix<double> half_held_fast()
{
    CsrMatrix<double> A = gallery::poisson2d(60, 60);
    const Index       held = A.rows() / 2;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (const Index j = A.col()[p]; i < held || j < held) A.val()[p] = i == j ? 1 : 0;
    return A;
}

/// One vector, or two, that are 0 at those points: n × count, by rows.
inline std::vector<double> vectors_of_the_free_half(int count)
{
    const std::size_t   n = 60 * 60;
    std::vector<double> by_rows(n * static_cast<std::size_t>(count));
    for (std::size_t i = n / 2; i < n; ++i)
        for (int c = 0; c < count; ++c)
            by_rows[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(c)] =
                1e-6 * (c == 0 ? 1. : static_cast<double>(i % 60));
    return by_rows;
}

/// Real numbers, or with phases of their own.
template <class S>
CsrMatrix<S> in_numbers_of(const CsrMatrix<double>& A)
{
    if constexpr (is_complex<S>) return turned(A, 3);
    else return A;
}

template <class S>
std::vector<S> random_numbers(Index n, std::uint64_t seed)
{
    const auto     re = random_vector(n, seed), im = random_vector(n, seed + 100);
    std::vector<S> x(n);
    for (Index i = 0; i < n; ++i) {
        if constexpr (is_complex<S>) x[i] = {re[i], im[i]};
        else x[i] = re[i];
    }
    return x;
}

/// xᴴ y
template <class S>
S inner(const std::vector<S>& x, const std::vector<S>& y)
{
    S sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += conj(x[i]) * y[i];
    return sum;
}

/// M⁻¹ r or M⁻ᴴ r
template <class S>
std::vector<S> applied(Preconditioner<Cpu, S>& M, const std::vector<S>& r, bool adjoint = false)
{
    Cpu            be(2);
    std::vector<S> z(r.size());
    if (adjoint) M.apply_adjoint(be, r, z);
    else M.apply(be, r, z);
    return z;
}

template <class S>
std::vector<S> times(const CsrView<S>& A, const std::vector<S>& x)
{
    Cpu            be(1);
    std::vector<S> y(A.rows());
    spmv<S>(be, 1, A, x, 0, y);
    return y;
}

/// Vector c of `vectors`.
template <class S>
std::vector<S> column(const NearNull<Cpu, S>& vectors, Index c)
{
    const auto begin = vectors.values.begin() + static_cast<std::ptrdiff_t>(c * vectors.n());
    return {begin, begin + static_cast<std::ptrdiff_t>(vectors.n())};
}

/// max |x_i − y_i| / max |y_i|
template <class S>
double far(const std::vector<S>& x, const std::vector<S>& y)
{
    double most = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        most = std::max(most, std::abs(x[i] - y[i]));
        size = std::max(size, std::abs(y[i]));
    }
    return size > 0 ? most / size : most;
}

/// ⟨M⁻¹ r, s⟩ = ⟨r, M⁻ᴴ s⟩
template <class S>
void expect_adjoint(Preconditioner<Cpu, S>& M, Index n)
{
    const auto r = random_numbers<S>(n, 1), s = random_numbers<S>(n, 2);
    const S    one = inner(s, applied(M, r)), other = conj(inner(r, applied(M, s, true)));
    EXPECT_LE(std::abs(one - other), 1e-10 * std::abs(one)) << n;
}

}  // namespace ilux::test::coarse
