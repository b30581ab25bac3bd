#include "ilux/precond/crout/schur.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ilux/base/region_failure.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/crout/sparse_accumulator.hpp"

namespace ilux {
namespace {

constexpr Index  rows_between_tells = 64;
constexpr Offset ahead = 6;  // rows of U_F are prefetched so many entries of L_G early

/// A run of rows of S, computed by one thread.
template <class T>
struct RowBlock {
    std::vector<Offset> length;
    std::vector<Index>  col;
    std::vector<T>      val;
    std::vector<double> noise, drop;  // of each row: below which an entry goes, on and off the diagonal
};

template <class T>
struct SchurInputs {
    const CsrView<T>&   C;
    const CsrView<T>&   L_G;
    std::span<const T>  d;
    const CsrView<T>&   U_F;
    std::vector<double> largest_in_U_F;  // of each row
};

template <class T>
std::vector<double> largest_in_rows(const CsrView<T>& A)
{
    std::vector<double> largest(A.rows(), 0.);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            largest[i] = std::max(largest[i], std::abs(A.val()[p]));
    return largest;
}

/// @return the largest magnitude that went into the row: what cancels below ε times that is rounding noise
template <class T>
double form_row(const SchurInputs<T>& in, Index i, SparseAccumulator<T>& s)
{
    double largest = 0;
    s.start(i);
    typename SparseAccumulator<T>::Writer row(s);
    const Offset                          end = in.L_G.row_ptr()[i + 1];
    for (Offset p = in.C.row_ptr()[i]; p < in.C.row_ptr()[i + 1]; ++p) {
        row.add(in.C.col()[p], in.C.val()[p]);
        largest = std::max(largest, std::abs(in.C.val()[p]));
    }
    for (Offset p = in.L_G.row_ptr()[i]; p < end; ++p) {
        if (p + ahead < end)
            if (const Offset soon = in.U_F.row_ptr()[in.L_G.col()[p + ahead]]; soon + 8 < in.U_F.nnz()) {
                __builtin_prefetch(in.U_F.col().data() + soon);
                __builtin_prefetch(in.U_F.val().data() + soon);
                __builtin_prefetch(in.U_F.val().data() + soon + 8);
            }
        const Index k = in.L_G.col()[p];
        const T     l = in.L_G.val()[p], d = in.d[k];
        largest = std::max(largest, std::abs(l * d) * in.largest_in_U_F[k]);
        for (Offset q = in.U_F.row_ptr()[k]; q < in.U_F.row_ptr()[k + 1];
             ++q)  // (l u) d: for s_ji the same or its conjugate
            row.add(in.U_F.col()[q], -(l * in.U_F.val()[q]) * d);
    }
    return largest;
}

/// Off the diagonal |s_ij| must pass `drop`; `keep_all` leaves that to drop_mirrored. What is Inf passes whatever the
/// bound is: the caller must see that S overflowed.
template <class T>
void store_row(Index i, double drop_tol, double largest_term, bool keep_all, SparseAccumulator<T>& s, RowBlock<T>& out)
{
    double largest = 0;
    for (Index j : s.index()) largest = std::max(largest, std::abs(s[j]));
    const double noise = std::min(noise_level * largest_term, std::numeric_limits<double>::max());
    const double drop = std::clamp(drop_tol * largest, noise, std::numeric_limits<double>::max());
    if (!keep_all) s.erase_if([&](Index j) { return std::abs(s[j]) <= (j == i ? noise : drop); });
    std::ranges::sort(s.index());
    for (Index j : s.index()) {
        out.col.push_back(j);
        out.val.push_back(s[j]);
    }
    out.length.push_back(static_cast<Offset>(s.index().size()));
    out.noise.push_back(noise);
    out.drop.push_back(drop);
}

/// Drops s_ij where it is small both in row i and in row j: rows of S have the magnitudes of its columns.
template <class T>
CsrMatrix<T> drop_mirrored(const CsrView<T>& S, std::span<const double> noise, std::span<const double> drop)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;
    for (Index i = 0; i < S.rows(); ++i) {
        for (Offset p = S.row_ptr()[i]; p < S.row_ptr()[i + 1]; ++p) {
            const Index j = S.col()[p];
            if (std::abs(S.val()[p]) <= (j == i ? noise[i] : std::min(drop[i], drop[j]))) continue;
            col.push_back(j);
            val.push_back(S.val()[p]);
        }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<T>::from_sorted(S.rows(), S.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

}  // namespace

template <Scalar T>
CsrMatrix<T> schur_complement(Cpu& be, const CsrView<T>& C, const CsrView<T>& L_G, std::span<const NotDeduced<T>> d,
                              const CsrView<T>& U_F, double drop_tol, bool mirrored, const std::function<void()>& tell)
{
    const SchurInputs<T>     in{C, L_G, d, U_F, largest_in_rows(U_F)};
    const Index              n = C.rows();
    const Index              blocks = std::clamp<Index>(n / 64, 1, 8 * be.threads());
    std::vector<RowBlock<T>> block(blocks);
    const auto               begin = [&](Index b) { return static_cast<Index>(Offset{n} * b / blocks); };
    RegionFailure            failure;
#pragma omp parallel num_threads(be.team(blocks > 1))
    {
        std::optional<SparseAccumulator<T>> s;
        failure.run([&] { s.emplace(n); });
#pragma omp for schedule(dynamic, 1) nowait
        for (Index b = 0; b < blocks; ++b)
            failure.run([&] {
                if (!s) return;  // its memory was refused, which ends the others as well
                for (Index i = begin(b); i < begin(b + 1) && !failure.met(); ++i) {
                    if (tell && i % rows_between_tells == 0 && omp_get_thread_num() == 0) tell();
                    const double largest_term = form_row(in, i, *s);
                    store_row(i, drop_tol, largest_term, mirrored, *s, block[b]);
                }
            });
    }
    failure.rethrow();
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;
    std::vector<double> noise, drop;
    for (auto& part : block) {
        for (Offset length : part.length) row_ptr.push_back(row_ptr.back() + length);
        col.insert(col.end(), part.col.begin(), part.col.end());
        val.insert(val.end(), part.val.begin(), part.val.end());
        noise.insert(noise.end(), part.noise.begin(), part.noise.end());
        drop.insert(drop.end(), part.drop.begin(), part.drop.end());
        part = {};
    }
    auto S = CsrMatrix<T>::from_sorted(n, n, std::move(row_ptr), std::move(col), std::move(val));
    return mirrored ? drop_mirrored(S, noise, drop) : S;
}

#define ILUX_INSTANTIATE(T)                                                                                \
    template CsrMatrix<T> schur_complement(Cpu&, const CsrView<T>&, const CsrView<T>&, std::span<const T>, \
                                           const CsrView<T>&, double, bool, const std::function<void()>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
