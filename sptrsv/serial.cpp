#include "ilux/sptrsv/serial.hpp"

#include <algorithm>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

template <Triangle triangle, int count, class T>
void substitute(const CsrMatrix<T>& A, Diagonal diagonal, const double* b, double* x)
{
    const Index n = A.rows();
    for (Index s = 0; s < n; ++s)
        detail::substitute_row<triangle, count>(A, diagonal, triangle == Triangle::lower ? s : n - 1 - s, b, x);
}

template <Triangle triangle, class T>
void substitute_all(const CsrMatrix<T>& A, Diagonal diagonal, std::span<const double> b, std::span<double> x)
{
    const auto  n = static_cast<std::size_t>(A.rows());
    std::size_t at = 0;
    for (; at + 4 * n <= x.size() && n > 0; at += 4 * n)
        substitute<triangle, 4>(A, diagonal, b.data() + at, x.data() + at);
    for (; at < x.size(); at += n) substitute<triangle, 1>(A, diagonal, b.data() + at, x.data() + at);
}

}  // namespace

template <class T>
void solve_serial(const CsrMatrix<T>& A, Triangle triangle, Diagonal diagonal, std::span<const double> b,
                  std::span<double> x)
{
    ILUX_ASSERT(b.size() == x.size() && (A.rows() == 0 ? x.empty() : x.size() % A.rows() == 0));
    if (triangle == Triangle::lower) substitute_all<Triangle::lower>(A, diagonal, b, x);
    else substitute_all<Triangle::upper>(A, diagonal, b, x);
}

template <class T>
void solve_serial_transpose(const CsrMatrix<T>& A, Triangle triangle, Diagonal diagonal, std::span<const double> b,
                            std::span<double> x)
{
    ILUX_ASSERT(b.size() == x.size() && (A.rows() == 0 ? x.empty() : x.size() % A.rows() == 0));
    const Index n = A.rows();
    if (b.data() != x.data()) std::ranges::copy(b, x.begin());
    for (std::size_t at = 0; at < x.size(); at += n) {
        double* y = x.data() + at;
        for (Index s = 0; s < n; ++s) {
            const Index i = triangle == Triangle::lower ? n - 1 - s : s;  // Aᵀ is the other triangle
            if (diagonal == Diagonal::stored) y[i] /= static_cast<double>(A.at(i, i));
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (A.col()[p] != i) y[A.col()[p]] -= static_cast<double>(A.val()[p]) * y[i];
        }
    }
}

template void solve_serial(const CsrMatrix<double>&, Triangle, Diagonal, std::span<const double>, std::span<double>);
template void solve_serial(const CsrMatrix<float>&, Triangle, Diagonal, std::span<const double>, std::span<double>);
template void solve_serial_transpose(const CsrMatrix<double>&, Triangle, Diagonal, std::span<const double>,
                                     std::span<double>);
template void solve_serial_transpose(const CsrMatrix<float>&, Triangle, Diagonal, std::span<const double>,
                                     std::span<double>);

}  // namespace ilux
