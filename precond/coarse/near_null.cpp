#include "ilux/precond/coarse/near_null.hpp"

#include <algorithm>
#include <numeric>

#include "ilux/base/instances.hpp"

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
void NearNull<T>::append(std::span<const T> x)
{
    std::vector<T> wider;
    wider.reserve(values.size() + x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        wider.insert(wider.end(), values.begin() + i * count, values.begin() + (i + 1) * count);
        wider.push_back(x[i]);
    }
    values = std::move(wider);
    ++count;
}

template <class T>
bool has_zero_diagonal(const CsrView<T>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        if (A.at(i, i) == T(0)) return true;
    return false;
}

template <class T>
NearNull<T> constants(const CsrView<T>& A, const Nodes& nodes)
{
    const Index        n = A.rows();
    std::vector<char>  zero(n);
    std::vector<Index> kind(n);
    for (Index i = 0; i < n; ++i) zero[i] = A.at(i, i) == T(0);
    Index kinds = 1;
    if (nodes.several())
        for (Index node = 0; node < nodes.count(); ++node) {
            const auto members = nodes.members(node);
            kinds = std::max(kinds, static_cast<Index>(members.size()));
            for (std::size_t k = 0; k < members.size(); ++k) kind[members[k]] = static_cast<Index>(k);
        }
    else if (std::ranges::find(zero, 1) != zero.end()) {
        kind = components(A, zero);
        kinds = kinds_by_component(kind);
        for (Index& one : kind)
            if (one < 0) one = kinds;
        ++kinds;
    }
    NearNull<T> t{.values = std::vector<T>(static_cast<std::size_t>(n) * kinds, T(0)), .count = kinds};
    for (Index i = 0; i < n; ++i) t.values[static_cast<std::size_t>(i) * kinds + kind[i]] = 1;
    return t;
}

#define ILUX_INSTANTIATE(T)                                    \
    template struct NearNull<T>;                               \
    template bool        has_zero_diagonal(const CsrView<T>&); \
    template NearNull<T> constants(const CsrView<T>&, const Nodes&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
