#pragma once
// Columns of very many updates (supply nets of circuits), row by row, so that threads can share them.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux::detail {

/// Rows of hub k: x_r ← b_r − Σ_{i∈U(:,k)} l_ri x_i with i ascending, which is what its updates do to row r, in their
/// order. So row r needs only the columns i, and rows, of its own terms instead of all columns of U(:,k).
struct HubRows {
    /// Some rows, or a part of one row's terms; the part with the first term also sums b_r.
    struct Piece {
        Index  hub;
        Index  row, rows_end;
        Offset term, terms_end;
        Offset wait = 0, waits_end = 0;  ///< in waits
        double seconds = 0;              ///< expected
    };

    std::vector<Index>         column;     ///< the hubs, ascending
    std::vector<Index>         row_ptr;    ///< hubs + 1; rows of tasks first, task after task, each in ascending order
    std::vector<Index>         top_row;    ///< hubs; the first row of the top
    std::vector<std::uint32_t> position;   ///< rows; of x_r in val
    std::vector<Offset>        term_ptr;   ///< rows + 1
    std::vector<std::uint32_t> l, u;       ///< terms; positions of l_ri and x_i in val
    std::vector<Offset>        input_ptr;  ///< rows + 1
    std::vector<Offset>        source;     ///< inputs by rows, those of a row in the order of LuPattern
    std::vector<double>        scale;
    std::vector<Piece>         piece;       ///< of the tasks, task after task; then of the pipeline, hub after hub
    std::vector<Index>         task_piece;  ///< tasks + 1
    std::vector<Index>         hub_piece;   ///< hubs + 1; of the pipeline
    std::vector<Index>         last_piece;  ///< rows of the top: that ends it
    std::vector<Index>         waits;       ///< a column of the top, or n + a piece

    /// Rows, terms and the pieces of tasks. @param hubs  of the top, ascending  @param task_of  n; −1: the top
    HubRows(const LuPattern& pattern, std::vector<Index> hubs, std::span<const Index> task_of, Index tasks);

    /// Cuts the next hub's rows of the top into pieces, wherever a row would wait long for its next term.
    /// @param ready  n; when columns are expected to be finished, 0 for those of tasks
    /// @return when the rows that the hub's division waits for are
    double cut_next_hub(const LuPattern& pattern, std::span<const Index> task_of, std::span<const double> ready);

    /// The pieces that hub h's division waits for: those that end rows k and beyond.
    std::span<const Index> before_division(const LuPattern& pattern, Index h) const;

    Index       hubs() const { return static_cast<Index>(column.size()); }
    std::size_t bytes() const;

private:
    void list_rows(const LuPattern& pattern, Index k, std::span<const Index> task_of);
    void list_terms(const LuPattern& pattern, Index k);
    void list_inputs(const LuPattern& pattern, Index k);

    std::vector<Index> place_;  ///< n; a row's number among the rows of the hub at hand
};

}  // namespace ilux::detail
