#pragma once
// Memory for factors whose size is known only when they are finished.

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux::detail {

/// Entries of L + U, by the analysis, and a few more.
inline std::size_t expected_entries(const LuSymbolic& A)
{
    return static_cast<std::size_t>(std::max(A.report.nnz, double(A.input_nnz)) + A.n);
}

/// What memory_limit counts besides the entries of L + U.
template <class S>
std::size_t bytes_beside_entries(const LuPattern& P)
{
    return P.bytes() - P.row.capacity() * sizeof(Index) + P.f_row.capacity() * sizeof(S);
}

/// Whether memory_limit allows so many entries of L + U, and so any part of them.
template <class S>
bool within_limit(const LuPattern& P, const LuSymbolic& A, std::size_t entries)
{
    const std::size_t limit = A.options.memory_limit.value;
    return limit == 0 || bytes_beside_entries<S>(P) + entries * (sizeof(Index) + sizeof(S)) <= limit;
}

/// Room for `needed` entries of L + U, and for those that the analysis forecasts, or a third more than now.
/// @param k  column at hand  @throws OutOfMemory, saying how many bytes, when memory_limit or the machine does not
/// allow that
template <class S>
void grow(LuPattern& P, LuValues<S>& val, const LuSymbolic& A, std::size_t needed, Index k)
{
    constexpr double      growth = 1.3;
    constexpr std::size_t entry = sizeof(Index) + sizeof(S);
    const double          wish = P.row.empty() ? double(expected_entries(A)) : growth * double(P.row.capacity());
    auto                  room = std::max(needed, static_cast<std::size_t>(wish));
    const auto            others = bytes_beside_entries<S>(P);
    const auto            refuse = [&](std::size_t entries, const std::string& why) {
        throw OutOfMemory(fmt::format("the factors of {} unknowns need {} bytes by column {}; {}", A.n,
                                                 others + entries * entry, k, why));
    };
    if (const std::size_t limit = A.options.memory_limit.value; limit > 0) {
        if (others + needed * entry > limit) refuse(needed, fmt::format("memory_limit is {}", limit));
        room = std::min(room, (limit - others) / entry);
    }
    try {
        P.row.reserve(room);
        val.reserve(room);
    } catch (const std::bad_alloc&) {
        refuse(room, "the machine has no more");
    }
}

}  // namespace ilux::detail
