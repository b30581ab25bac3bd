#include "ilux/sptrsv/sptrsv.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/serial.hpp"

namespace ilux {

template <class T>
void check_triangle(const CsrView<T>& A, Triangle triangle, Diagonal diagonal)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a triangular system needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            const bool  strict = triangle == Triangle::lower ? j < i : j > i;
            require(strict || (j == i && diagonal == Diagonal::stored), [&] {
                return fmt::format("entry ({}, {}) lies outside the {}{} triangle", i + 1, j + 1,
                                   diagonal == Diagonal::unit ? "strict " : "",
                                   triangle == Triangle::lower ? "lower" : "upper");
            });
        }
}

namespace {

template <class T>
Index first_zero_pivot(const CsrView<T>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        if (A.at(i, i) == T(0)) return i;
    return -1;
}

void check_lengths(Index n, std::size_t b, std::size_t x)
{
    require(b == x && (n == 0 ? x == 0 : x % n == 0),
            [&] { return fmt::format("b has {} values and x {}; both must be a multiple of n = {}", b, x, n); });
}

}  // namespace

template <class T, class S>
SpTrsvPlan<T, S>::SpTrsvPlan(CsrMatrix<T> A, Triangle triangle, Diagonal diagonal, SpTrsvOptions options)
    : SpTrsvPlan(std::make_shared<const CsrMatrix<T>>(std::move(A)), triangle, diagonal, options)
{}

template <class T, class S>
SpTrsvPlan<T, S>::SpTrsvPlan(std::shared_ptr<const CsrMatrix<T>> A, Triangle triangle, Diagonal diagonal,
                             SpTrsvOptions options)
    : A_(std::move(A)), triangle_(triangle), diagonal_(diagonal), options_(options)
{
    check_triangle(*A_, triangle, diagonal);
    levels_ = LevelSets(*A_, triangle, options.wide_level);
    if (diagonal == Diagonal::stored) zero_pivot_ = first_zero_pivot(*A_);
    if (!options.transposable || options.engine == SpTrsvEngine::serial) return;
    At_ = transpose(*A_);
    levels_t_ = LevelSets(At_, opposite(triangle), options.wide_level);
}

template <class T, class S>
std::size_t SpTrsvPlan<T, S>::bytes() const
{
    return matrix().bytes() + At_.bytes() + levels_.bytes() + levels_t_.bytes();
}

template <class T, class S>
void SpTrsvPlan<T, S>::solve(Cpu& be, std::span<const S> b, std::span<S> x) const
{
    check_lengths(size(), b.size(), x.size());
    if (options_.engine == SpTrsvEngine::serial) solve_serial<T, S>(matrix(), triangle_, diagonal_, b, x);
    else solve_levels<T, S>(be, matrix(), levels_, triangle_, diagonal_, b, x);
}

template <class T, class S>
void SpTrsvPlan<T, S>::solve_transposed(Cpu& be, std::span<const S> b, std::span<S> x, Values values) const
{
    check_lengths(size(), b.size(), x.size());
    if (At_.rows() == size()) solve_levels<T, S>(be, At_, levels_t_, opposite(triangle_), diagonal_, b, x, values);
    else solve_serial_transpose<T, S>(matrix(), triangle_, diagonal_, b, x, values);
}

template <class T, class S>
void SpTrsvPlan<T, S>::solve_transpose(Cpu& be, std::span<const S> b, std::span<S> x) const
{
    solve_transposed(be, b, x, Values::as_stored);
}

template <class T, class S>
void SpTrsvPlan<T, S>::solve_adjoint(Cpu& be, std::span<const S> b, std::span<S> x) const
{
    solve_transposed(be, b, x, Values::conjugated);
}

#define ILUX_INSTANTIATE(T)                                              \
    template void check_triangle(const CsrView<T>&, Triangle, Diagonal); \
    template class SpTrsvPlan<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) template class SpTrsvPlan<T, T>;
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
