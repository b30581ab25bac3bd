// Orthonormal bases on a device: a warp a group.

#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse_steps/basis.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

using rounds::launch;
using rounds::launch_tiles;
using rounds::thread_in_grid;
using Warp = rounds::Tile<32>;

/// Vectors of n values, one after another, and groups of unknowns.
template <class V>
struct Bases {
    Index         n, groups, count;  ///< count: of vectors
    const Offset* begin;
    const Index*  member;
    const V*      vectors;
    V*            q;        ///< n × count, one after another: of a group its columns
    V*            along;    ///< groups × count × count: (q_k)ᴴ v_c at [group][c][k]
    Offset*       columns;  ///< groups + 1: how many a group has, behind a 0

    __device__ std::size_t at(Index c, Index i) const { return static_cast<std::size_t>(c) * n + i; }
};

/// f(i) for the members of a group that are this lane's.
template <class Do, class V>
__device__ void for_members(const Bases<V>& bases, const Warp& warp, Index group, Do&& f)
{
    for (Offset p = bases.begin[group] + warp.lane(); p < bases.begin[group + 1]; p += Warp::size) f(bases.member[p]);
}

/// (q_k)ᴴ of a vector's values at its members.
template <class V>
__device__ V inner(const Bases<V>& bases, const Warp& warp, Index group, Index k, const V* vector)
{
    V sum{};
    for_members(bases, warp, group, [&](Index i) { sum = sum + cuda::conjugate(bases.q[bases.at(k, i)]) * vector[i]; });
    return warp.sum(sum);
}

template <class V>
__device__ double size_of(const Bases<V>& bases, const Warp& warp, Index group, const V* vector)
{
    double sum = 0;
    for_members(bases, warp, group, [&](Index i) {
        const double size = rounds::modulus(vector[i]);
        sum += size * size;
    });
    return sqrt(warp.sum(sum));
}

template <class V>
__global__ void __launch_bounds__(rounds::tile_threads) orthonormalize(Bases<V> bases)
{
    const Warp  warp;
    const Index group = static_cast<Index>(warp.in_grid());
    if (group >= bases.groups) return;
    Index columns = 0;
    for (Index c = 0; c < bases.count; ++c) {
        const V* const from = bases.vectors + bases.at(c, 0);
        V* const       v = bases.q + bases.at(columns, 0);
        for_members(bases, warp, group, [&](Index i) { v[i] = from[i]; });
        const double size = size_of(bases, warp, group, from);
        for (int pass = 0; pass < 2; ++pass)
            for (Index k = 0; k < columns; ++k) {
                const V along = inner(bases, warp, group, k, v);
                for_members(bases, warp, group,
                            [&](Index i) { v[i] = cuda::minus_product(v[i], along, bases.q[bases.at(k, i)]); });
            }
        const double left = size_of(bases, warp, group, v);
        if (!(left > dependent * size)) continue;
        for_members(bases, warp, group, [&](Index i) { v[i] = cuda::divided(v[i], left); });
        ++columns;
    }
    for (Index c = 0; c < bases.count; ++c)
        for (Index k = 0; k < columns; ++k) {
            const V along = inner(bases, warp, group, k, bases.vectors + bases.at(c, 0));
            if (warp.lane() == 0)
                bases.along[(static_cast<std::size_t>(group) * bases.count + c) * bases.count + k] = along;
        }
    if (warp.lane() == 0) bases.columns[group + 1] = columns;
}

__global__ void count_columns(Index n, const Index* of, const Offset* first, Offset* ptr)
{
    const Index i = thread_in_grid();
    if (i < n) ptr[i + 1] = of[i] >= 0 ? first[of[i] + 1] - first[of[i]] : 0;
}

template <class V>
__global__ void fill_rows(Bases<V> bases, const Index* of, const Offset* first, const Offset* ptr, Index* col, V* val)
{
    const Index i = thread_in_grid();
    if (i >= bases.n || of[i] < 0) return;
    const Offset begin = ptr[i], columns = ptr[i + 1] - begin;
    for (Offset k = 0; k < columns; ++k) {
        col[begin + k] = static_cast<Index>(first[of[i]] + k);
        val[begin + k] = bases.q[bases.at(static_cast<Index>(k), i)];
    }
}

/// What is known of the coarse unknowns of a group.
template <class V>
__global__ void fill_coarse(Bases<V> bases, const Offset* first, Index coarse, V* values, Index* of, Index* member)
{
    const Index group = thread_in_grid();
    if (group >= bases.groups) return;
    for (Offset at = first[group]; at < first[group + 1]; ++at) {
        of[at] = group;
        member[at] = static_cast<Index>(at);
        for (Index c = 0; c < bases.count; ++c)
            values[static_cast<std::size_t>(c) * coarse + at] =
                bases.along[(static_cast<std::size_t>(group) * bases.count + c) * bases.count + (at - first[group])];
    }
}

}  // namespace

template <class T>
Basis<Gpu, T> orthonormal_basis(Gpu& be, const Groups<Gpu>& groups, const NearNull<Gpu, NotDeduced<T>>& vectors)
{
    using V = cuda::Value<T>;
    be.make_current();
    const Index          n = groups.size(), count = vectors.count;
    const auto           squares = static_cast<std::size_t>(groups.count()) * count * count;
    DeviceBuffer<T>      q(vectors.values.size()), along(squares);
    DeviceBuffer<Offset> first(groups.count() + std::size_t{1}), ptr(n + std::size_t{1});
    const Bases<V>       bases{.n = n,
                               .groups = groups.count(),
                               .count = count,
                               .begin = groups.begin.data(),
                               .member = groups.member.data(),
                               .vectors = cuda::as_values(vectors.values.data()),
                               .q = cuda::as_values(q.data()),
                               .along = cuda::as_values(along.data()),
                               .columns = first.data()};
    launch_tiles<32>(be, orthonormalize<V>, bases.groups, bases);
    const auto coarse = static_cast<Index>(add_up(be, first));
    launch(be, count_columns, n, n, groups.of.data(), first.data(), ptr.data());
    const auto entries = static_cast<std::size_t>(add_up(be, ptr)), unknowns = static_cast<std::size_t>(coarse);
    DeviceBuffer<Index> col(entries), of(unknowns), member(unknowns);
    DeviceBuffer<T>     val(entries), values(unknowns * count);
    launch(be, fill_rows<V>, n, bases, groups.of.data(), first.data(), ptr.data(), col.data(),
           cuda::as_values(val.data()));
    launch(be, fill_coarse<V>, bases.groups, bases, first.data(), coarse, cuda::as_values(values.data()), of.data(),
           member.data());
    be.synchronize();  // for what goes now
    return {DeviceCsr<T>(be, coarse, std::move(ptr), std::move(col), std::move(val)),
            {std::move(values), count},
            {std::move(of), std::move(first), std::move(member)}};
}

#define ILUX_INSTANTIATE(T) \
    template Basis<Gpu, T> orthonormal_basis<T>(Gpu&, const Groups<Gpu>&, const NearNull<Gpu, T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
