#pragma once
// Fill-reducing and bandwidth-reducing orderings behind one function.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "ilux/base/csr.hpp"

namespace ilux {

enum class Ordering { amd, metis, rcm, colamd, none };

inline std::span<const std::string_view> names(Ordering)
{
    static constexpr std::array<std::string_view, 5> all{"amd", "metis", "rcm", "colamd", "none"};
    return all;
}

/// perm[new] = old. amd, metis (nested dissection) and rcm order the graph of |A| + |Aᵀ| and are meant for rows and
/// columns alike; colamd orders columns for LU with row pivoting. Deterministic.
/// @throws InvalidInput unless A is square; OutOfMemory when the library reports it
std::vector<Index> fill_reducing_order(const CsrMatrix<double>& A, Ordering ordering);

}  // namespace ilux
