#include "ilux/sptrsv/serial.hpp"

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

template <Triangle triangle, int count, Values values, class T, class S>
void substitute(const CsrView<T>& A, Diagonal diagonal, const S* b, S* x)
{
    const Index n = A.rows();
    for (Index s = 0; s < n; ++s)
        detail::substitute_row<triangle, count, values>(A, diagonal, triangle == Triangle::lower ? s : n - 1 - s, b, x);
}

template <Triangle triangle, Values values, class T, class S>
void substitute_all(const CsrView<T>& A, Diagonal diagonal, std::span<const S> b, std::span<S> x)
{
    const auto  n = static_cast<std::size_t>(A.rows());
    std::size_t at = 0;
    for (; at + 4 * n <= x.size() && n > 0; at += 4 * n)
        substitute<triangle, 4, values>(A, diagonal, b.data() + at, x.data() + at);
    for (; at < x.size(); at += n) substitute<triangle, 1, values>(A, diagonal, b.data() + at, x.data() + at);
}

template <Values values, class T, class S>
void substitute_either(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<const S> b, std::span<S> x)
{
    if (triangle == Triangle::lower) substitute_all<Triangle::lower, values>(A, diagonal, b, x);
    else substitute_all<Triangle::upper, values>(A, diagonal, b, x);
}

template <Values values, class T, class S>
void scatter_all(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<S> x)
{
    const Index n = A.rows();
    for (std::size_t at = 0; at < x.size(); at += n) {
        S* y = x.data() + at;
        for (Index s = 0; s < n; ++s) {
            const Index i = triangle == Triangle::lower ? n - 1 - s : s;  // Aᵀ is the other triangle
            if (diagonal == Diagonal::stored) y[i] /= detail::value_of<values, S>(A.at(i, i));
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (A.col()[p] != i) y[A.col()[p]] -= detail::value_of<values, S>(A.val()[p]) * y[i];
        }
    }
}

}  // namespace

template <class T, class S>
void solve_serial(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<const NotDeduced<S>> b,
                  std::span<NotDeduced<S>> x, Values values)
{
    ILUX_ASSERT(b.size() == x.size() && (A.rows() == 0 ? x.empty() : x.size() % A.rows() == 0));
    if constexpr (is_complex<T>)
        if (values == Values::conjugated) return substitute_either<Values::conjugated>(A, triangle, diagonal, b, x);
    substitute_either<Values::as_stored>(A, triangle, diagonal, b, x);
}

template <class T, class S>
void solve_serial_transpose(const CsrView<T>& A, Triangle triangle, Diagonal diagonal, std::span<const NotDeduced<S>> b,
                            std::span<NotDeduced<S>> x, Values values)
{
    ILUX_ASSERT(b.size() == x.size() && (A.rows() == 0 ? x.empty() : x.size() % A.rows() == 0));
    if (b.data() != x.data()) std::ranges::copy(b, x.begin());
    if constexpr (is_complex<T>)
        if (values == Values::conjugated) return scatter_all<Values::conjugated>(A, triangle, diagonal, x);
    scatter_all<Values::as_stored>(A, triangle, diagonal, x);
}

#define ILUX_SOLVE(solve, T, S) \
    template void solve<T, S>(const CsrView<T>&, Triangle, Diagonal, std::span<const S>, std::span<S>, Values);
#define ILUX_INSTANTIATE(T)                    \
    ILUX_SOLVE(solve_serial, T, working_of<T>) \
    ILUX_SOLVE(solve_serial_transpose, T, working_of<T>)
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) ILUX_SOLVE(solve_serial, T, T) ILUX_SOLVE(solve_serial_transpose, T, T)
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_SOLVE
#undef ILUX_INSTANTIATE

}  // namespace ilux
