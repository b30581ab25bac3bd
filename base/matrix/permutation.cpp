#include <fmt/core.h>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {

std::vector<Index> inverse_permutation(std::span<const Index> perm)
{
    const auto         n = static_cast<Index>(perm.size());
    std::vector<Index> inv_perm(perm.size(), -1);
    for (Index i = 0; i < n; ++i) {
        require(perm[i] >= 0 && perm[i] < n && inv_perm[perm[i]] < 0,
                [&] { return fmt::format("not a permutation of 0..{}: position {} holds {}", n - 1, i, perm[i]); });
        inv_perm[perm[i]] = i;
    }
    return inv_perm;
}

UnsetVector<Index, Pages::usual> inverse_by_tasks(std::span<const Index> perm)
{
    UnsetVector<Index, Pages::usual> inv_perm(perm.size());
    for_pieces(static_cast<Index>(perm.size()), [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) inv_perm[perm[i]] = i;
    });
    return inv_perm;
}

}  // namespace ilux
