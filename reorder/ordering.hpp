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
/// columns alike; colamd orders columns for LU with row pivoting. Explicit zeros are edges: the pattern is the
/// caller's. Deterministic. amd, metis and colamd put (nearly) dense rows last.
/// Cost: amd, colamd and rcm about linear in nnz, metis O(nnz log n). Memory: 20 to 80 nnz bytes.
/// Methods: [amestoy_davis_duff_96], [davis_et_al_04], [karypis_kumar_98], [cuthill_mckee_69] with roots of
/// [george_liu_79]. metis seeds and draws from the C library's rand().
/// @throws InvalidInput unless A is square, or when metis was built with indices too narrow for A's graph;
///         OutOfMemory when the library reports it
std::vector<Index> fill_reducing_order(const CsrMatrix<double>& A, Ordering ordering);

}  // namespace ilux
