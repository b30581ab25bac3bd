#include "ilux/precond/coarse_steps/basis.hpp"

#include <cmath>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

/// Columns of one group's basis, each as long as it has members, one after another.
template <class T>
struct Columns {
    std::vector<T> q;
    Index          count = 0;

    std::span<const T> of(Index k, std::size_t m) const { return std::span(q).subspan(k * m, m); }
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

/// Vector c at some unknowns.
template <class T>
std::vector<T> restricted(const NearNull<Cpu, T>& vectors, Index c, std::span<const Index> members)
{
    const auto     x = std::span(vectors.values).subspan(c * vectors.n(), vectors.n());
    std::vector<T> v;
    for (const Index i : members) v.push_back(x[i]);
    return v;
}

template <class T>
Columns<T> columns_of(std::span<const Index> members, const NearNull<Cpu, T>& vectors)
{
    Columns<T>        made;
    const std::size_t m = members.size();
    for (Index c = 0; c < vectors.count; ++c) {
        std::vector<T> v = restricted(vectors, c, members);
        const double   size = size_of(v);
        for (int pass = 0; pass < 2; ++pass)
            for (Index k = 0; k < made.count; ++k) {
                const auto q = made.of(k, m);
                const T    along = product_of<T>(q, v);
                for (std::size_t i = 0; i < m; ++i) v[i] -= along * q[i];
            }
        const double left = size_of(v);
        if (!(left > dependent * size)) continue;
        for (T& one : v) one /= left;
        made.q.insert(made.q.end(), v.begin(), v.end());
        ++made.count;
    }
    return made;
}

}  // namespace

template <class T>
Basis<Cpu, T> orthonormal_basis(Cpu& be, const Groups<Cpu>& groups, const NearNull<Cpu, NotDeduced<T>>& vectors)
{
    const Index             n = groups.size(), count = groups.count();
    std::vector<Columns<T>> columns(count);
    for_row_blocks(be, count, [&](Index, Index begin, Index end, int) {
        for (Index g = begin; g < end; ++g) columns[g] = columns_of<T>(groups.members(g), vectors);
    });
    Basis<Cpu, T> made;
    auto&         first = made.nodes.begin;
    first.assign(count + std::size_t{1}, 0);
    for (Index g = 0; g < count; ++g) first[g + 1] = first[g] + columns[g].count;
    const auto          coarse = static_cast<Index>(first.back());
    std::vector<Offset> row_ptr(n + std::size_t{1}, 0);
    for (Index i = 0; i < n; ++i) row_ptr[i + 1] = row_ptr[i] + (groups.of[i] >= 0 ? columns[groups.of[i]].count : 0);
    std::vector<Index> col(row_ptr.back());
    std::vector<T>     val(row_ptr.back());
    made.coarse = {.values = std::vector<T>(static_cast<std::size_t>(coarse) * vectors.count), .count = vectors.count};
    made.nodes.of.resize(coarse);
    made.nodes.member.resize(coarse);
    std::iota(made.nodes.member.begin(), made.nodes.member.end(), Index{0});
    for_row_blocks(be, count, [&](Index, Index begin, Index end, int) {
        for (Index g = begin; g < end; ++g) {
            const auto mine = groups.members(g);
            for (Index k = 0; k < columns[g].count; ++k) {
                const auto  q = columns[g].of(k, mine.size());
                const Index at = static_cast<Index>(first[g]) + k;
                made.nodes.of[at] = g;
                for (std::size_t i = 0; i < mine.size(); ++i) {
                    col[row_ptr[mine[i]] + k] = at;
                    val[row_ptr[mine[i]] + k] = q[i];
                }
                for (Index c = 0; c < vectors.count; ++c)
                    made.coarse.values[static_cast<std::size_t>(c) * coarse + at] =
                        product_of<T>(q, restricted(vectors, c, mine));
            }
        }
    });
    made.P = CsrMatrix<T>::from_sorted(n, coarse, std::move(row_ptr), std::move(col), std::move(val));
    return made;
}

#define ILUX_INSTANTIATE(T) \
    template Basis<Cpu, T> orthonormal_basis<T>(Cpu&, const Groups<Cpu>&, const NearNull<Cpu, T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
