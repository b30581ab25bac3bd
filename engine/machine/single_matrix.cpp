#include "ilux/engine/machine/single_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr int    near_enough = 16;       // exponents of the largest entries that need no scaling
constexpr int    most_scalings = 16;     // each at least halves what is left, of 2100 at most
constexpr int    largest = 1000;         // exponent of a scale
constexpr Offset worth_sharing = 32768;  // entries
constexpr int    none = std::numeric_limits<int>::min();

/// Exponents of |a_ij|, and those of R and C.
class Exponents {
public:
    template <Scalar S>
    explicit Exponents(const CsrView<S>& A)
        : row_ptr_(A.row_ptr()),
          col_(A.col()),
          of_(A.val().size()),
          row_(A.rows(), 0),
          column_(A.cols(), 0),
          largest_in_row_(A.rows()),
          largest_in_column_(A.cols())
    {
        for (std::size_t p = 0; p < of_.size(); ++p) {
            const auto size = std::abs(A.val()[p]);
            of_[p] = size > 0 && std::isfinite(size) ? std::ilogb(size) : none;
        }
    }

    /// How far the largest of a row or column is from 1.
    int look()
    {
        std::ranges::fill(largest_in_row_, none);
        std::ranges::fill(largest_in_column_, none);
        for (std::size_t i = 0; i < row_.size(); ++i)
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) {
                if (of_[p] == none) continue;
                const int e = of_[p] + row_[i] + column_[col_[p]];
                largest_in_row_[i] = std::max(largest_in_row_[i], e);
                largest_in_column_[col_[p]] = std::max(largest_in_column_[col_[p]], e);
            }
        int worst = 0;
        for (const auto* all : {&largest_in_row_, &largest_in_column_})
            for (const int e : *all) worst = e == none ? worst : std::max(worst, std::abs(e));
        return worst;
    }

    /// Rows first, and columns by what is left: a row of another unit must not spoil the columns. Where rows are like
    /// columns, as in a symmetric matrix, both by half, which keeps R = C.
    void scale()
    {
        if (largest_in_row_ == largest_in_column_) {
            divide(row_, largest_in_row_, 2);
            divide(column_, largest_in_column_, 2);
        } else {
            divide(row_, largest_in_row_, 1);
            look();
            divide(column_, largest_in_column_, 1);
        }
    }

    std::vector<double> rows() const { return powers(row_); }
    std::vector<double> columns() const { return powers(column_); }

private:
    static void divide(std::vector<int>& exponent, const std::vector<int>& by, int share)
    {
        for (std::size_t i = 0; i < by.size(); ++i)
            if (by[i] != none) exponent[i] = std::clamp(exponent[i] - by[i] / share, -largest, largest);
    }
    static std::vector<double> powers(const std::vector<int>& exponent)
    {
        std::vector<double> scale(exponent.size());
        for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = std::ldexp(1., exponent[i]);
        return scale;
    }

    std::span<const Offset> row_ptr_;
    std::span<const Index>  col_;
    std::vector<int>        of_, row_, column_, largest_in_row_, largest_in_column_;
};

}  // namespace

template <Scalar S>
bool fits_single(Cpu& be, const CsrView<S>& A)
{
    const auto     nnz = static_cast<std::ptrdiff_t>(A.nnz());
    const S*       val = A.val().data();
    constexpr auto most = static_cast<double>(1 << near_enough), least = 1 / most;
    bool           fits = true;
#pragma omp parallel for schedule(static) num_threads(be.team(nnz > worth_sharing)) reduction(&& : fits)
    for (std::ptrdiff_t p = 0; p < nnz; ++p) {
        const double size = abs1(val[p]);
        fits = fits && (size == 0 || (size >= least && size <= most));
    }
    return fits;
}

template <Scalar S>
SingleMatrix<S> single_matrix(Cpu& be, const CsrView<S>& A)
{
    SingleMatrix<S> single;
    if (!fits_single(be, A)) {
        Exponents exponents(A);
        if (exponents.look() > near_enough) {
            for (int sweep = 0; sweep < most_scalings && exponents.look() > 1; ++sweep) exponents.scale();
            single.row_scale = exponents.rows();
            single.col_scale = exponents.columns();
        }
    }
    using Single = single_of<S>;
    const SingleScales  scales = single.scales();
    std::vector<Single> val(A.val().size());
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() > worth_sharing))
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            val[p] = Single(scaled_entry(scales.of_row(i), A.val()[p], scales.of_col(A.col()[p])));
    single.A = CsrMatrix<Single>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                              {A.col().begin(), A.col().end()}, std::move(val));
    return single;
}

#define ILUX_INSTANTIATE(S)                                        \
    template bool            fits_single(Cpu&, const CsrView<S>&); \
    template SingleMatrix<S> single_matrix(Cpu&, const CsrView<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
