#pragma once
// A triangular factor while the Crout sweep writes it: U by rows, or L by columns (then read "row" for "column").

#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// Row j holds, in this order: entries in postponed columns; entries in columns already passed; pending entries, by
/// ascending column. The linked lists give the rows with an entry in the current column k without a transpose:
/// row j hangs in the list of the first of its pending columns.
class CroutFactor {
public:
    explicit CroutFactor(Index n)
        : start_(n, 0), passed_(n, 0), pending_(n, 0), end_(n, 0), link_(n, none)
    {
    }

    /// Rows with an entry in column k: first(k), then next(j) until none.
    static constexpr Index none = -1;
    Index first(Index k) const { return link_[k]; }
    Index next(Index j) const { return link_[j]; }  // heads sit at columns ≥ k, rows are < k: one array serves both
    double value_in_current(Index j) const { return val_[pending_[j]]; }

    /// Calls f(column, value) for the entries of row j that later steps still see: postponed and pending ones.
    template <class F>
    void for_active(Index j, F&& f) const
    {
        for (Offset p = start_[j]; p < passed_[j]; ++p) f(col_[p], val_[p]);
        for (Offset p = pending_[j]; p < end_[j]; ++p) f(col_[p], val_[p]);
    }

    /// Appends row k: entries in postponed columns first, then the pending ones by ascending column.
    void append(Index k, std::span<const Index> col, std::span<const double> val, std::size_t postponed);

    /// Column k is done: every row of its list moves on to its next pending column. When k was postponed, the
    /// entry stays visible to later steps.
    void pass(Index k, bool postponed);

    Offset entries() const { return static_cast<Offset>(col_.size()); }
    std::span<const Index>  cols_of(Index j) const { return {col_.data() + start_[j], static_cast<std::size_t>(end_[j] - start_[j])}; }
    std::span<const double> vals_of(Index j) const { return {val_.data() + start_[j], static_cast<std::size_t>(end_[j] - start_[j])}; }

private:
    void hang(Index j);

    std::vector<Offset> start_, passed_, pending_, end_;  // n each; see above
    std::vector<Index>  link_;                            // n; heads of columns and links of rows
    std::vector<Index>  col_;
    std::vector<double> val_;
};

}  // namespace ilux
