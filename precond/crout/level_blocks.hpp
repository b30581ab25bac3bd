#pragma once
// A level's matrix cut at accepted | postponed.

#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// The blocks beside B of Â = [B F; G C] in the order (accepted, postponed).
template <class T = double>
struct LevelBlocks {
    CsrMatrix<T> F, G, C;
};

/// Both lists ascend, and hold every row of A between them.
template <class T>
LevelBlocks<T> split_blocks(const CsrView<T>& A, std::span<const Index> accepted, std::span<const Index> postponed);

/// perm[accepted], then perm[postponed].
inline std::vector<Index> composed(std::span<const Index> perm, std::span<const Index> accepted,
                                   std::span<const Index> postponed)
{
    std::vector<Index> result;
    result.reserve(perm.size());
    for (const auto rows : {accepted, postponed})
        for (Index i : rows) result.push_back(perm[i]);
    return result;
}

}  // namespace ilux
