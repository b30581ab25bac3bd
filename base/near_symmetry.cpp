#include "ilux/base/near_symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();

/// Pairs (i, j), i < j, with their partners (j, i), row by row: those of row j are met in order, so one cursor a row suffices.
template <class T>
class PairWalk {
public:
    PairWalk(const CsrView<T>& A, Mirror mirror) : A_(A), mirror_(mirror), root_(A.rows()), next_(A.rows())
    {
        for (Index i = 0; i < A.rows(); ++i) {
            root_[i] = std::sqrt(std::abs(A.at(i, i)));
            next_[i] = A.row_ptr()[i];
        }
    }

    Asymmetry run()
    {
        found_ = {.within_rounding = true, .exact = true};
        for (Index i = 0; i < A_.rows() && found_.within_rounding; ++i) row(i);
        return found_.within_rounding ? found_ : Asymmetry{};
    }

private:
    void row(Index i)
    {
        skip_lower(i, i);
        for (Offset p = next_[i]; p < A_.row_ptr()[i + 1] && found_.within_rounding; ++p) {
            const Index j = A_.col()[p];
            const T     a = A_.val()[p];
            if (j == i) {
                compare(i, i, a, a);
                continue;
            }
            skip_lower(j, i);
            const bool paired = next_[j] < A_.row_ptr()[j + 1] && A_.col()[next_[j]] == i;
            compare(i, j, a, paired ? A_.val()[next_[j]++] : T(0));
            if (!paired) found_.exact = false;
        }
    }
    /// Entries of row j left of column `end` that no row above has met: they have no partner.
    void skip_lower(Index j, Index end)
    {
        for (Offset& p = next_[j]; p < A_.row_ptr()[j + 1] && A_.col()[p] < end; ++p) {
            compare(j, A_.col()[p], A_.val()[p], T(0));
            found_.exact = false;
        }
    }
    /// a_ij and a_ji
    void compare(Index i, Index j, T a, T other)
    {
        const T      image = mirrored(mirror_, other);
        const double difference = a == image ? 0 : std::abs(a - image);
        const double allowed =  // summand by summand: their sum might overflow
            rounding * std::abs(a) + rounding * std::abs(other) + rounding * (root_[i] * root_[j]);
        if (!(difference <= allowed)) found_.within_rounding = false;
        if (difference > 0) found_.exact = false;
        found_.largest = std::max(found_.largest, difference);
        found_.entry = std::max<double>({found_.entry, std::abs(a), std::abs(other)});
    }

    const CsrView<T>&   A_;
    const Mirror        mirror_;
    std::vector<double> root_;  // √|a_ii|
    std::vector<Offset> next_;  // in row j, the next entry that awaits its partner
    Asymmetry           found_;
};

template <class T>
T mean(T a, T b)
{
    return a == b ? a : a / real_of<T>(2) + b / real_of<T>(2);  // a sum might overflow
}

}  // namespace

template <class T>
Asymmetry asymmetry_of(const CsrView<T>& A, Mirror mirror)
{
    if (A.rows() != A.cols()) return {};
    return PairWalk<T>(A, mirror).run();
}

template <class T>
CsrMatrix<T> mean_with_image(const CsrView<T>& A, Mirror mirror)
{
    const CsrMatrix<T>  image = mirror == Mirror::hermitian ? adjoint(A) : transpose(A);
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;
    for (Index i = 0; i < A.rows(); ++i) {
        Offset       p = A.row_ptr()[i], q = image.row_ptr()[i];
        const Offset p_end = A.row_ptr()[i + 1], q_end = image.row_ptr()[i + 1];
        while (p < p_end || q < q_end) {
            const Index of_A = p < p_end ? A.col()[p] : A.cols(), of_image = q < q_end ? image.col()[q] : A.cols();
            const Index j = std::min(of_A, of_image);
            const T     a = of_A == j ? A.val()[p++] : T(0), b = of_image == j ? image.val()[q++] : T(0);
            col.push_back(j);
            val.push_back(mean(a, b));
        }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<T>::from_sorted(A.rows(), A.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

#define ILUX_INSTANTIATE(T)                                        \
    template Asymmetry    asymmetry_of(const CsrView<T>&, Mirror); \
    template CsrMatrix<T> mean_with_image(const CsrView<T>&, Mirror);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
