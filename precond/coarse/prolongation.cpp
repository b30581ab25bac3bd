#include "ilux/precond/coarse/prolongation.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse/summed_rows.hpp"

namespace ilux {
namespace {

constexpr double dependent = 1e-6;  // what is left of a vector that the others span
constexpr double omega = 0.66;

/// Unknowns by aggregate; those in none are of an aggregate of their own, the last.
Nodes members_of(const Aggregates& aggregates, const Nodes& nodes)
{
    std::vector<Index> of(nodes.of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        const Index part = aggregates.of[nodes.of[i]];
        of[i] = part >= 0 ? part : aggregates.count;
    }
    return Nodes(std::move(of), aggregates.count + 1);
}

/// Columns of one aggregate's basis, each as long as it has members, one after another.
template <class T>
struct Basis {
    std::vector<T> q;
    Index          columns = 0;
};

/// xᴴ y
template <class T>
T product_of(std::span<const T> x, std::span<const T> y)
{
    T sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += conj(x[i]) * y[i];
    return sum;
}

template <class T>
double size_of(const std::vector<T>& v)
{
    return std::sqrt(std::abs(product_of<T>(v, v)));
}

template <class T>
Basis<T> basis_of(std::span<const Index> members, const NearNull<T>& vectors)
{
    Basis<T>          made;
    const std::size_t m = members.size();
    for (Index c = 0; c < vectors.count; ++c) {
        std::vector<T> v(m);
        for (std::size_t i = 0; i < m; ++i) v[i] = vectors(members[i], c);
        const double size = size_of(v);
        for (int pass = 0; pass < 2; ++pass)
            for (Index k = 0; k < made.columns; ++k) {
                const auto q = std::span<const T>(made.q).subspan(k * m, m);
                const T    along = product_of<T>(q, v);
                for (std::size_t i = 0; i < m; ++i) v[i] -= along * q[i];
            }
        const double left = size_of(v);
        if (!(left > dependent * size)) continue;
        for (T& one : v) one /= left;
        made.q.insert(made.q.end(), v.begin(), v.end());
        ++made.columns;
    }
    return made;
}

}  // namespace

template <class T>
Prolongation<T> orthonormal_basis(Cpu& be, const Aggregates& aggregates, const Nodes& nodes, const NearNull<T>& vectors)
{
    const Nodes           members = members_of(aggregates, nodes);
    const Index           parts = aggregates.count, count = vectors.count;
    std::vector<Basis<T>> basis(parts);
    for_row_blocks(be, parts, [&](Index, Index begin, Index end, int) {
        for (Index a = begin; a < end; ++a) basis[a] = basis_of<T>(members.members(a), vectors);
    });
    std::vector<Index> first(parts + std::size_t{1}, 0);
    for (Index a = 0; a < parts; ++a) first[a + 1] = first[a] + basis[a].columns;
    std::vector<Offset> row_ptr(nodes.of.size() + 1, 0);
    for (Index a = 0; a < parts; ++a)
        for (const Index i : members.members(a)) row_ptr[i + 1] = basis[a].columns;
    for (Index i = 0; i < nodes.size(); ++i) row_ptr[i + 1] += row_ptr[i];
    std::vector<Index> col(row_ptr.back());
    std::vector<T>     val(row_ptr.back());
    Prolongation<T>    made;
    made.coarse = {.values = std::vector<T>(static_cast<std::size_t>(first.back()) * count), .count = count};
    made.aggregate.resize(first.back());
    for_row_blocks(be, parts, [&](Index, Index begin, Index end, int) {
        for (Index a = begin; a < end; ++a) {
            const auto mine = members.members(a);
            for (Index k = 0; k < basis[a].columns; ++k) {
                const auto q = std::span<const T>(basis[a].q).subspan(k * mine.size(), mine.size());
                made.aggregate[first[a] + k] = a;
                T* const along = &made.coarse.values[static_cast<std::size_t>(first[a] + k) * count];
                for (std::size_t i = 0; i < mine.size(); ++i) {
                    col[row_ptr[mine[i]] + k] = first[a] + k;
                    val[row_ptr[mine[i]] + k] = q[i];
                    for (Index c = 0; c < count; ++c) along[c] += conj(q[i]) * vectors(mine[i], c);
                }
            }
        }
    });
    made.P = CsrMatrix<T>::from_sorted(nodes.size(), first.back(), std::move(row_ptr), std::move(col), std::move(val));
    return made;
}

template <class T>
CsrMatrix<T> smoothed(Cpu& be, const CsrView<T>& A, const CsrView<T>& P)
{
    return summed_rows<T>(be, A.rows(), P.cols(), [&](Index i, RowSums<T>& sums) {
        double total = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) total += std::abs(A.val()[p]);
        const T      d = A.at(i, i);
        const double size = std::abs(d), least = std::max(size, total / 2);
        const T      factor = least > 0 ? (size > 0 ? T(omega * size / least) / d : T(omega / least)) : T(0);
        add_row<T>(P, i, 1, sums);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            add_row<T>(P, A.col()[p], -(factor * A.val()[p]), sums);
    });
}

#define ILUX_INSTANTIATE(T)                                                                                \
    template Prolongation<T> orthonormal_basis(Cpu&, const Aggregates&, const Nodes&, const NearNull<T>&); \
    template CsrMatrix<T>    smoothed(Cpu&, const CsrView<T>&, const CsrView<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
