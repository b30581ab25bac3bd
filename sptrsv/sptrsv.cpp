#include "ilux/sptrsv/sptrsv.hpp"

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/sptrsv/serial.hpp"

namespace ilux {

template <class T>
void check_triangle(const CsrMatrix<T>& A, Triangle triangle, Diagonal diagonal)
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
Index first_zero_pivot(const CsrMatrix<T>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        if (A.at(i, i) == 0) return i;
    return -1;
}

void check_lengths(Index n, std::size_t b, std::size_t x)
{
    require(b == x && (n == 0 ? x == 0 : x % n == 0),
            [&] { return fmt::format("b has {} values and x {}; both must be a multiple of n = {}", b, x, n); });
}

}  // namespace

template <class T>
SpTrsvPlan<T>::SpTrsvPlan(CsrMatrix<T> A, Triangle triangle, Diagonal diagonal, SpTrsvOptions options)
    : SpTrsvPlan(std::make_shared<const CsrMatrix<T>>(std::move(A)), triangle, diagonal, options)
{}

template <class T>
SpTrsvPlan<T>::SpTrsvPlan(std::shared_ptr<const CsrMatrix<T>> A, Triangle triangle, Diagonal diagonal,
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

template <class T>
std::size_t SpTrsvPlan<T>::bytes() const
{
    return matrix().bytes() + At_.bytes() + levels_.bytes() + levels_t_.bytes();
}

template <class T>
void SpTrsvPlan<T>::solve(Cpu& be, std::span<const double> b, std::span<double> x) const
{
    check_lengths(size(), b.size(), x.size());
    if (options_.engine == SpTrsvEngine::serial) solve_serial(matrix(), triangle_, diagonal_, b, x);
    else solve_levels(be, matrix(), levels_, triangle_, diagonal_, b, x);
}

template <class T>
void SpTrsvPlan<T>::solve_transpose(Cpu& be, std::span<const double> b, std::span<double> x) const
{
    check_lengths(size(), b.size(), x.size());
    if (At_.rows() == size()) solve_levels(be, At_, levels_t_, opposite(triangle_), diagonal_, b, x);
    else solve_serial_transpose(matrix(), triangle_, diagonal_, b, x);
}

template void check_triangle(const CsrMatrix<double>&, Triangle, Diagonal);
template void check_triangle(const CsrMatrix<float>&, Triangle, Diagonal);
template class SpTrsvPlan<double>;
template class SpTrsvPlan<float>;

}  // namespace ilux
