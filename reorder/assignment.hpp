#pragma once
// The state of a maximum-product matching: rows assigned to columns, and the duals that prove it [duff_koster_01].

#include <limits>
#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

/// Rows assigned to columns at cost c_ij = log₂ max_j|a_ij| − log₂|a_ij| ≥ 0. Duals keep every reduced cost
/// c_ij − u_i − v_j ≥ 0, and = 0 on matched entries.
struct Assignment {
    /// What a scanned entry asks of its column, in one place.
    struct Column {
        double v = 0;           ///< dual; it never grows
        Index  row = -1;        ///< matched to it; −1: free
        Index  owner = no_one;  ///< whose searches may pass it where several search at once; or `closed`
    };
    static constexpr double infinite = std::numeric_limits<double>::infinity();  ///< cost of an explicit zero
    static constexpr Index  no_one = -1;
    static constexpr Index  closed = -2;  ///< no augmenting path can pass the column any more

    std::span<const Offset> row_ptr;
    std::span<const Index>  col;
    UnsetVector<double>     cost;          ///< nnz; ∞ for explicit zeros
    std::vector<double>     log_row_max;   ///< rows; log₂ max_j|a_ij|, 0 for an empty row
    std::vector<double>     u;             ///< rows; duals
    std::vector<Column>     column;        ///< columns
    std::vector<Offset>     entry_of_row;  ///< rows; position of the matched entry; −1: free
    double                  tie = 0;       ///< costs closer than this count as equal

    /// Costs, the largest feasible duals (v_j = min_i c_ij, then u_i), and nothing matched. By tasks.
    explicit Assignment(const CsrView<double>& A);

    Index  rows() const { return static_cast<Index>(u.size()); }
    double reduced_cost(Index i, Offset p) const { return cost[p] - u[i] - column[col[p]].v; }
    bool   is_tight(Index i, Offset p) const { return reduced_cost(i, p) <= tie; }
    bool   is_free(Index j) const { return column[j].row < 0; }
    /// min_j c_ij − v_j: the largest feasible u_i; 0 for an empty row.
    double lowest_slack(Index i) const;

    void match(Index i, Offset p)
    {
        entry_of_row[i] = p;
        column[col[p]].row = i;
    }
    void make_tight(Index i) { u[i] = cost[entry_of_row[i]] - column[col[entry_of_row[i]]].v; }
};

}  // namespace ilux
