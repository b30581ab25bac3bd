#include "ilux/precond/coarse/near_null.hpp"

#include <algorithm>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

constexpr Index  most_components = 4;    // of a velocity, and one of something else
constexpr double least_component = 0.1;  // of the unknowns, for a kind

/// The root of the set of i; paths are halved.
Index root_of(std::vector<Index>& parent, Index i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/// The component of each unknown with a diagonal in the graph of these alone, −1 for the others. The smallest unknown
/// of each stands for it.
template <class T>
std::vector<Index> components(const CsrView<T>& A, const std::vector<char>& zero)
{
    std::vector<Index> parent(A.rows());
    std::iota(parent.begin(), parent.end(), Index{0});
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && !zero[i]; ++p) {
            const Index j = A.col()[p];
            if (zero[j] || A.val()[p] == T(0)) continue;
            const Index a = root_of(parent, i), b = root_of(parent, j);
            parent[std::max(a, b)] = std::min(a, b);
        }
    std::vector<Index> of(A.rows(), -1);
    for (Index i = 0; i < A.rows(); ++i)
        if (!zero[i]) of[i] = root_of(parent, i);
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

}  // namespace

template <class T>
bool has_zero_diagonal(Cpu& be, const CsrView<T>& A)
{
    std::vector<char> found(row_blocks(A.rows()), 0);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index i = begin; i < end && !found[b]; ++i) found[b] = A.at(i, i) == T(0);
    });
    return std::ranges::find(found, 1) != found.end();
}

template <class T>
NearNull<Cpu, T> constants(Cpu& be, const CsrView<T>& A, const Groups<Cpu>& nodes, bool saddle_point)
{
    const Index n = A.rows();
    const auto  every = static_cast<std::size_t>(n);
    if (nodes.alone() && !saddle_point) return {.values = std::vector<T>(every, T(1)), .count = 1};
    if (!nodes.alone()) {
        const Index      kinds = nodes.size() / nodes.count();
        NearNull<Cpu, T> t{.values = std::vector<T>(every * kinds, T(0)), .count = kinds};
        for_row_blocks(be, nodes.count(), [&](Index, Index begin, Index end, int) {
            for (Index node = begin; node < end; ++node)
                for (Index k = 0; k < kinds; ++k) t.values[k * every + nodes.members(node)[k]] = 1;
        });
        return t;
    }
    std::vector<char> zero(every);
    for (Index i = 0; i < n; ++i) zero[i] = A.at(i, i) == T(0);
    std::vector<Index> kind = components(A, zero);
    const Index        last = kinds_by_component(kind);  // that of the zeros
    NearNull<Cpu, T>   t{.values = std::vector<T>(every * (last + 1), T(0)), .count = last + 1};
    for (Index i = 0; i < n; ++i) t.values[(kind[i] < 0 ? last : kind[i]) * every + i] = 1;
    return t;
}

template <class T>
double far_rows(Cpu& be, const CsrView<T>& A, const NearNull<Cpu, T>& vectors)
{
    constexpr double   little = 0.1;
    std::vector<Index> far(row_blocks(A.rows()) * std::size_t(vectors.count), 0), met = far;
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index c = 0; c < vectors.count; ++c) {
            const T*   t = vectors.values.data() + c * vectors.n();
            const auto at = static_cast<std::size_t>(b) * vectors.count + c;
            for (Index i = begin; i < end; ++i) {
                T      sum = 0;
                double terms = 0;
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                    const T term = A.val()[p] * t[A.col()[p]];
                    sum += term;
                    terms += std::abs(term);
                }
                met[at] += terms > 0;
                far[at] += std::abs(sum) > little * terms;
            }
        }
    });
    double share = 0;
    for (Index c = 0; c < vectors.count; ++c) {
        Offset all = 0, of_them = 0;
        for (std::size_t at = c; at < met.size(); at += vectors.count) all += met[at], of_them += far[at];
        share = std::max(share, all > 0 ? static_cast<double>(of_them) / static_cast<double>(all) : 1.);
    }
    return share;
}

#define ILUX_INSTANTIATE(T)                                                                 \
    template bool             has_zero_diagonal(Cpu&, const CsrView<T>&);                   \
    template NearNull<Cpu, T> constants(Cpu&, const CsrView<T>&, const Groups<Cpu>&, bool); \
    template double           far_rows(Cpu&, const CsrView<T>&, const NearNull<Cpu, T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
