#pragma once
// What keeps an analysis for LU from being begun, or ends it.

#include <fmt/core.h>

#include <string>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// For analyse(): `stop`, and so many seconds from now.
inline StopToken analysis_within(const StopToken& stop, double seconds)
{
    return stop.within(seconds,
                       seconds > 0
                           ? fmt::format("the analysis for LU was given up: it takes more than {:.3g} s", seconds)
                           : "the analysis for LU was given up: no time was left");
}

/// Whether the counts alone say that A is structurally singular. Not asked of small ones, whose analysis tells the
/// rank.
template <Scalar S>
bool has_fewer_entries_than_rows(const CsrView<S>& A)
{
    constexpr Index large = 5000;
    return A.rows() > large && A.nnz() < A.rows();
}
template <Scalar S>
std::string why_singular(const CsrView<S>& A)
{
    return fmt::format("A, of {} rows and nnz {}, is structurally singular and has no LU", A.rows(), A.nnz());
}

}  // namespace ilux
