#pragma once
// Scalings of a matching as powers of two that a double can hold.

#include <vector>

#include "ilux/reorder/assignment.hpp"

namespace ilux {

/// Exponents of the scalings r and c: r_i = 2^u_i / max_j|a_ij|, c_j = 2^v_j.
struct ScaleExponents {
    std::vector<double> row, column;

    /// log₂ r_i |a_ij| c_j
    double of_entry(const Assignment& a, Index i, Offset p) const
    {
        return row[i] + a.log_row_max[i] - a.cost[p] + column[a.col[p]];
    }
};

/// Exponents within ±1000, so that neither reciprocals nor scaled entries overflow, with r_i |a_ij| c_j ≤ 1. Matched
/// entries are 1 no more where that is impossible.
ScaleExponents scale_exponents(const Assignment& a);

}  // namespace ilux
