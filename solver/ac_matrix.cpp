#include "ilux/solver/ac_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numbers>
#include <span>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/solver/frequencies.hpp"

namespace ilux {
namespace {

using Complex = std::complex<double>;

void require_one_order(const CsrView<double>& G, const CsrView<double>& C)
{
    for (const auto* A : {&G, &C})
        require(A->rows() == A->cols(), [&] {
            return fmt::format("{} is {} × {}: a system needs a square matrix", A == &G ? "G" : "C", A->rows(),
                               A->cols());
        });
    require(G.rows() == C.rows(),
            [&] { return fmt::format("G is {} × {}, but C is {} × {}", G.rows(), G.cols(), C.rows(), C.cols()); });
}

/// Walks through the rows of both. @param take  (column, g, c) of each entry of the union, by rows, columns ascending
/// @param end_row  () after each row
template <class Take, class EndRow>
void merge(const CsrView<double>& G, const CsrView<double>& C, Take&& take, EndRow&& end_row)
{
    for (Index i = 0; i < G.rows(); ++i) {
        Offset       p = G.row_ptr()[i], q = C.row_ptr()[i];
        const Offset p_end = G.row_ptr()[i + 1], q_end = C.row_ptr()[i + 1];
        while (p < p_end || q < q_end) {
            const bool of_G = p < p_end && (q == q_end || G.col()[p] <= C.col()[q]);
            const bool of_C = q < q_end && (p == p_end || C.col()[q] <= G.col()[p]);
            take(of_G ? G.col()[p] : C.col()[q], of_G ? G.val()[p] : 0., of_C ? C.val()[q] : 0.);
            p += of_G;
            q += of_C;
        }
        end_row();
    }
}

}  // namespace

AcMatrix::AcMatrix(const CsrView<double>& G, const CsrView<double>& C)
{
    require_one_order(G, C);
    Offset nnz = 0;
    merge(
        G, C, [&](Index, double, double) { ++nnz; }, [] {});
    std::vector<Offset>  row_ptr{0};
    std::vector<Index>   col;
    std::vector<Complex> val;
    row_ptr.reserve(static_cast<std::size_t>(G.rows()) + 1);
    col.reserve(static_cast<std::size_t>(nnz));
    val.reserve(static_cast<std::size_t>(nnz));
    C_.reserve(static_cast<std::size_t>(nnz));
    merge(
        G, C,
        [&](Index j, double g, double c) {
            col.push_back(j);
            val.emplace_back(g, 0.);
            C_.push_back(c);
        },
        [&] { row_ptr.push_back(static_cast<Offset>(col.size())); });
    A_ = CsrMatrix<Complex>::from_sorted(G.rows(), G.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

void AcMatrix::set_frequency(double f)
{
    require_frequencies(std::span(&f, 1));
    const double omega = 2 * std::numbers::pi * f;
    const auto   val = A_.val();
    for (std::size_t p = 0; p < val.size(); ++p)
        require(is_finite(Complex(val[p].real(), omega * C_[p])), [&] {
            const auto row = std::ranges::upper_bound(A_.row_ptr(), static_cast<Offset>(p)) - A_.row_ptr().begin();
            return fmt::format("G + jωC overflows at {:g} Hz in row {}, column {} (counted from 1), where C is {:g}", f,
                               row, A_.col()[p] + 1, C_[p]);
        });
    for (std::size_t p = 0; p < val.size(); ++p) val[p].imag(omega * C_[p]);
}

}  // namespace ilux
