#pragma once
// A level's matrix cut at accepted | postponed.

#include <span>
#include <vector>

#include "ilux/base/csr.hpp"

namespace ilux {

/// The blocks beside B of Â = [B F; G C] in the order (accepted, postponed).
struct LevelBlocks {
    CsrMatrix<double> F, G, C;
};

/// Both lists ascend, and hold every row of A between them.
LevelBlocks split_blocks(const CsrView<double>& A, std::span<const Index> accepted, std::span<const Index> postponed);

/// perm[accepted], then perm[postponed].
std::vector<Index> composed(std::span<const Index> perm, std::span<const Index> accepted,
                            std::span<const Index> postponed);

}  // namespace ilux
