#pragma once
// A triangular factor while the Crout sweep writes it: U by rows, or L by columns (then read "row" for "column").

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// All that a step reads of a row beside its entries. The sweep jumps from row to row, so the row of U and the column
/// of L of one pivot lie in one cache line.
template <class T>
struct CroutRow {
    T             current = 0;  // value of the first pending entry
    Offset        start = 0;
    std::uint32_t postponed = 0;  // positions after start: end of the postponed entries,
    std::uint32_t pending = 0;    // first pending one,
    std::uint32_t length = 0;     // end
    Index         next = -1;      // in the list of the first pending entry's column
};
static_assert(sizeof(CroutRow<double>) == 32);

/// Row j holds, in this order: entries in postponed columns; entries in columns already passed; pending entries, by
/// ascending column. The linked lists give the rows with an entry in the current column k without a transpose:
/// row j hangs in the list of the first of its pending columns.
template <class T>
class CroutFactor {
public:
    /// @param rows      2n, shared with the other factor, which has the other parity
    /// @param expected  entries there will probably be
    CroutFactor(std::span<CroutRow<T>> rows, int parity, Offset expected)
        : rows_(rows.empty() ? nullptr : rows.data() + parity), head_(rows.size() / 2, none)
    {
        entry_.reserve(static_cast<std::size_t>(expected));
    }

    /// Rows with an entry in column k: first(k), then next(j) until none.
    static constexpr Index none = -1;
    Index                  first(Index k) const { return head_[k]; }
    Index                  next(Index j) const { return at(j).next; }
    T                      value_in_current(Index j) const { return at(j).current; }

    struct Entry {
        T     value;
        Index column;
    };

    /// Calls f(column, value) for the entries of row j that later steps still see: postponed and pending ones.
    template <class F>
    void for_active(Index j, F&& f) const
    {
        const CroutRow<T>& row = at(j);
        const Entry*       entry = entry_.data() + row.start;
        for (std::uint32_t p = 0; p < row.postponed; ++p) f(entry[p].column, entry[p].value);
        for (std::uint32_t p = row.pending; p < row.length; ++p) f(entry[p].column, entry[p].value);
    }

    /// Row j will be read soon.
    void prefetch(Index j) const
    {
        const CroutRow<T>& row = at(j);
        __builtin_prefetch(entry_.data() + row.start);
        for (std::uint32_t p = row.pending; p < row.length; p += 4) __builtin_prefetch(entry_.data() + row.start + p);
    }

    /// Appends row k: entries in postponed columns first, then the pending ones by ascending column.
    void append(Index k, std::span<const Index> col, std::span<const T> val, std::size_t postponed);

    /// Column k is done: every row of its list moves on to its next pending column. When k was postponed, the
    /// entry stays visible to later steps.
    void pass(Index k, bool postponed);

    Offset                 entries() const { return static_cast<Offset>(entry_.size()); }
    Offset                 postponed_entries() const { return postponed_entries_; }  ///< those in postponed columns
    std::span<const Entry> row(Index j) const { return {entry_.data() + at(j).start, at(j).length}; }

private:
    CroutRow<T>&       at(Index j) { return rows_[2 * static_cast<std::ptrdiff_t>(j)]; }
    const CroutRow<T>& at(Index j) const { return rows_[2 * static_cast<std::ptrdiff_t>(j)]; }
    void               hang(Index j);

    CroutRow<T>*       rows_;  // every other one of the 2n
    std::vector<Index> head_;  // n; of each column's list
    std::vector<Entry> entry_;
    Offset             postponed_entries_ = 0;
};

}  // namespace ilux
