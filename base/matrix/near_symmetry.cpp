#include "ilux/base/matrix/near_symmetry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

constexpr Offset worth_threads = 50'000;
constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();

/// What is found of some rows.
struct Found {
    bool   within = true, exact = true;
    double largest = 0, entry = 0;
    Offset below = 0, paired = 0;  // entries below the diagonal; those above it that have a partner there
};

/// Entries of the upper triangle beside their partners. Those below that have none are seen by counting, and then
/// looked at once more.
template <class T>
class PairWalk {
public:
    PairWalk(Cpu& be, const CsrView<T>& A, Mirror mirror) : be_(be), A_(A), mirror_(mirror) {}

    Asymmetry run()
    {
        with_tasks(be_, A_.nnz() >= worth_threads, [&] {
            join([this](Index i, Found& found) { upper(i, found); });
            if (all_.within && all_.below > all_.paired) join([this](Index i, Found& found) { lonely(i, found); });
        });
        if (!all_.within) return {};
        return {.within_rounding = true, .exact = all_.exact, .largest = all_.largest, .entry = all_.entry};
    }

private:
    template <class Row>
    void join(const Row& row)
    {
        for_pieces(A_.rows(), [&](Index, Index begin, Index end) {
            Found found;
            for (Index i = begin; i < end && found.within && !beyond_; ++i) row(i, found);
            const std::lock_guard alone(joining_);
            all_.within &= found.within;
            all_.exact &= found.exact;
            all_.largest = std::max(all_.largest, found.largest);
            all_.entry = std::max(all_.entry, found.entry);
            all_.below += found.below;
            all_.paired += found.paired;
            if (!found.within) beyond_ = true;
        });
    }
    void upper(Index i, Found& found) const
    {
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) {
            const Index j = A_.col()[p];
            const T     a = A_.val()[p];
            if (j < i) ++found.below;
            else if (j == i) compare(i, i, a, a, found);
            else {
                const std::optional<T> other = stored(j, i);
                compare(i, j, a, other.value_or(T(0)), found);
                if (other) ++found.paired;
                else found.exact = false;
            }
        }
    }
    /// Entries of row i left of the diagonal that have no partner.
    void lonely(Index i, Found& found) const
    {
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1] && A_.col()[p] < i; ++p) {
            if (stored(A_.col()[p], i)) continue;
            compare(i, A_.col()[p], A_.val()[p], T(0), found);
            found.exact = false;
        }
    }
    std::optional<T> stored(Index i, Index j) const
    {
        const auto row = A_.col().subspan(A_.row_ptr()[i], A_.row_ptr()[i + 1] - A_.row_ptr()[i]);
        const auto at = std::ranges::lower_bound(row, j);
        if (at == row.end() || *at != j) return {};
        return A_.val()[A_.row_ptr()[i] + (at - row.begin())];
    }
    double root_of_diagonal(Index i) const { return std::sqrt(std::abs(A_.at(i, i))); }
    bool   row_reaches(Index i, double size) const
    {
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p)
            if (std::abs(A_.val()[p]) >= size) return true;
        return false;
    }
    /// Whether terms of a_ij may be of that size.
    bool terms_reach(Index i, Index j, double size) const
    {
        const double of_i = root_of_diagonal(i), of_j = root_of_diagonal(j);
        if (of_i > 0 && of_j > 0) return of_i * of_j >= size;
        return (of_i > 0 || row_reaches(i, size)) && (of_j > 0 || row_reaches(j, size));
    }
    /// a_ij and a_ji
    void compare(Index i, Index j, T a, T other, Found& found) const
    {
        found.entry = std::max<double>({found.entry, std::abs(a), std::abs(other)});
        const T image = mirrored(mirror_, other);
        if (a == image) return;
        const double difference = std::abs(a - image);
        const double beyond = difference - rounding * std::abs(a) - rounding * std::abs(other);
        if (!(beyond <= 0) && !terms_reach(i, j, beyond / rounding)) found.within = false;
        found.exact = false;
        found.largest = std::max(found.largest, difference);
    }

    Cpu&              be_;
    const CsrView<T>& A_;
    const Mirror      mirror_;
    std::mutex        joining_;
    std::atomic<bool> beyond_ = false;  // rounding: the others need not go on
    Found             all_;
};

template <class T>
T mean(T a, T b)
{
    return a == b ? a : a / real_of<T>(2) + b / real_of<T>(2);  // a sum might overflow
}

}  // namespace

template <class T>
Asymmetry asymmetry_of(Cpu& be, const CsrView<T>& A, Mirror mirror)
{
    if (A.rows() != A.cols()) return {};
    return PairWalk<T>(be, A, mirror).run();
}

template <class T>
CsrMatrix<T> mean_with_image(const CsrView<T>& A, Mirror mirror)
{
    const CsrMatrix<T>  image = mirror == Mirror::hermitian ? adjoint(A) : transpose(A);
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;
    row_ptr.reserve(static_cast<std::size_t>(A.rows()) + 1);
    col.reserve(static_cast<std::size_t>(A.nnz()));
    val.reserve(static_cast<std::size_t>(A.nnz()));
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

template <class T>
bool has_positive_diagonal(Cpu& be, const CsrView<T>& A)
{
    bool positive = true;
    with_tasks(be, A.nnz() >= worth_threads,
               [&] { positive = !any_by_tasks(A.rows(), [&](Index i) { return !(real_part(A.at(i, i)) > 0); }); });
    return positive;
}

template <class T>
ExactImage<T> exact_image(Cpu& be, const CsrView<T>& A, const std::optional<Asymmetry>& of_adjoint)
{
    for (const Mirror mirror : {Mirror::hermitian, Mirror::symmetric}) {
        if (mirror == Mirror::symmetric && !is_complex<T>) break;
        const bool      known = of_adjoint && mirror == Mirror::hermitian;
        const Asymmetry found = known ? *of_adjoint : asymmetry_of(be, A, mirror);
        if (!found.within_rounding) continue;
        if (found.exact) return {.mirror = mirror};
        const bool adjoint = is_complex<T> && mirror == Mirror::hermitian;
        const auto differs =
            found.largest > 0
                ? fmt::format("rounding (largest difference {:.1e} of its largest entry)", found.largest / found.entry)
                : "zeros that are stored";
        return {.mirror = mirror,
                .mean = mean_with_image(A, mirror),
                .told = fmt::format("A is {} but for {}: M is of (A + {}) / 2", adjoint ? "Hermitian" : "symmetric",
                                    differs, adjoint ? "Aᴴ" : "Aᵀ")};
    }
    return {};
}

#define ILUX_INSTANTIATE(T)                                                \
    template Asymmetry     asymmetry_of(Cpu&, const CsrView<T>&, Mirror);  \
    template CsrMatrix<T>  mean_with_image(const CsrView<T>&, Mirror);     \
    template bool          has_positive_diagonal(Cpu&, const CsrView<T>&); \
    template ExactImage<T> exact_image(Cpu&, const CsrView<T>&, const std::optional<Asymmetry>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
