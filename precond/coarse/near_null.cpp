#include "ilux/precond/coarse/near_null.hpp"

#include <algorithm>
#include <atomic>

#include "ilux/base/instances.hpp"
#include "ilux/base/united_sets.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

constexpr Index  most_components = 4;    // of a velocity, and one of something else
constexpr double least_component = 0.1;  // of the unknowns, for a kind

/// The component of each unknown with a diagonal in the graph of these alone, −1 for the others. The largest unknown of
/// each stands for it.
template <class T>
std::vector<Index> components(Cpu& be, const CsrView<T>& A, const std::vector<char>& zero)
{
    UnitedSets sets(zero.size());
    for_row_blocks(be, A.rows(), [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && !zero[i]; ++p)
                if (const Index j = A.col()[p]; !zero[j] && A.val()[p] != T(0)) sets.unite(i, j);
    });
    sets.flatten();
    std::vector<Index> of(A.rows(), -1);
    for (Index i = 0; i < A.rows(); ++i)
        if (!zero[i]) of[i] = sets.at(i);
    return of;
}

/// The kind of each unknown by its component, where few large ones hold all but single unknowns: 0, 1, …; one kind
/// otherwise.
Index kinds_by_component(std::vector<Index>& of)
{
    const auto         n = of.size();
    std::vector<Index> size(n, 0), number(n, -1);
    for (const Index root : of)
        if (root >= 0) ++size[root];
    Index kinds = 0;
    bool  few = true;
    for (std::size_t root = 0; root < n; ++root) {
        if (size[root] <= 1) continue;
        if (size[root] >= least_component * static_cast<double>(n) && kinds < most_components) number[root] = kinds++;
        else few = false;
    }
    if (!few || kinds == 0) kinds = 1;
    for (Index& one : of)
        if (one >= 0) one = few ? std::max<Index>(0, number[one]) : 0;
    return kinds;
}

/// @param value  (c, i): of vector c at unknown i
template <class T, class Value>
Nearness nearness_by(Cpu& be, const CsrView<T>& A, std::size_t count, const Value& value)
{
    constexpr double little = 0.1;
    struct Sums {
        Offset met = 0, far = 0;
        double energy = 0;
    };
    std::vector<Sums> sums(row_blocks(A.rows()) * count);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (std::size_t c = 0; c < count; ++c) {
            Sums& mine = sums[b * count + c];
            for (Index i = begin; i < end; ++i) {
                T      sum = 0;
                double terms = 0;
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                    const T term = A.val()[p] * value(c, A.col()[p]);
                    sum += term;
                    terms += std::abs(term);
                }
                mine.met += terms > 0;
                mine.far += std::abs(sum) > little * terms;
                mine.energy += real_part(T(conj(value(c, i)) * sum));
            }
        }
    });
    Nearness near;
    for (std::size_t c = 0; c < count; ++c) {
        Sums all;
        for (std::size_t at = c; at < sums.size(); at += count) {
            all.met += sums[at].met;
            all.far += sums[at].far;
            all.energy += sums[at].energy;
        }
        near.far_rows = std::max(near.far_rows, all.met > 0 ? double(all.far) / double(all.met) : 1.);
        near.indefinite |= all.energy < 0;
    }
    return near;
}

}  // namespace

template <class T>
bool looks_like_saddle_point(Cpu& be, const CsrView<T>& A)
{
    const auto          n = static_cast<std::size_t>(A.rows());
    std::atomic<Offset> zeros = 0;
    std::atomic<bool>   negative = false;
    for_row_blocks(be, A.rows(), [&](Index, Index begin, Index end, int) {
        Offset found = 0;
        for (Index i = begin; i < end && !negative; ++i) {
            const double d = real_part(A.at(i, i));
            found += d == 0;
            if (!(d >= 0)) negative = true;
        }
        zeros += found;
    });
    if (zeros == 0 || 2 * zeros > A.rows() || negative) return false;
    std::vector<double> diagonal(n);
    for_row_blocks(be, A.rows(), [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) diagonal[i] = real_part(A.at(i, i));
    });
    std::vector<char> other(row_blocks(A.rows()), 0);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) {
            double largest = 0;  // tie to an unknown with a diagonal
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (diagonal[A.col()[p]] > 0) largest = std::max<double>(largest, std::abs(A.val()[p]));
            other[b] |= diagonal[i] > 0 ? diagonal[i] < small_diagonal * largest : largest == 0;
        }
    });
    return std::ranges::find(other, 1) == other.end();
}

template <Scalar T>
NearNull<Cpu, T> constants(Cpu& be, const CsrView<T>& A, const NodeNumbering& nodes, bool saddle_point)
{
    if (nodes.size > 1 || !saddle_point) return constants_of<T>(be, nodes);
    const Index       n = A.rows();
    const auto        every = static_cast<std::size_t>(n);
    std::vector<char> zero(every);
    for (Index i = 0; i < n; ++i) zero[i] = A.at(i, i) == T(0);
    std::vector<Index> kind = components(be, A, zero);
    const Index        last = kinds_by_component(kind);  // that of the zeros
    NearNull<Cpu, T>   t{.values = std::vector<T>(every * (last + 1), T(0)), .count = last + 1};
    for (Index i = 0; i < n; ++i) t.values[(kind[i] < 0 ? last : kind[i]) * every + i] = 1;
    return t;
}

template <class T>
Nearness nearness(Cpu& be, const CsrView<T>& A, const NearNull<Cpu, T>& vectors)
{
    const auto n = static_cast<std::size_t>(vectors.n());
    return nearness_by(be, A, static_cast<std::size_t>(vectors.count),
                       [t = vectors.values.data(), n](std::size_t c, Index i) { return t[c * n + i]; });
}

template <class T>
Nearness nearness_of_constant(Cpu& be, const CsrView<T>& A)
{
    return nearness_by(be, A, 1, [](std::size_t, Index) { return T(1); });
}

#define ILUX_INSTANTIATE(T)                                                                   \
    template bool             looks_like_saddle_point(Cpu&, const CsrView<T>&);               \
    template NearNull<Cpu, T> constants(Cpu&, const CsrView<T>&, const NodeNumbering&, bool); \
    template Nearness         nearness(Cpu&, const CsrView<T>&, const NearNull<Cpu, T>&);     \
    template Nearness         nearness_of_constant(Cpu&, const CsrView<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
