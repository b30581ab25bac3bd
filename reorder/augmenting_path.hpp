#pragma once
// Shortest augmenting paths of a maximum-product matching, and many of them at once.

#include <utility>
#include <vector>

#include "ilux/base/stop_token.hpp"
#include "ilux/reorder/assignment.hpp"

namespace ilux {

/// How a search for a free column ended.
enum class PathEnd {
    free_column,
    closed,    ///< the row reaches matched columns alone: k of them, which k + 1 rows compete for
    too_long,  ///< more entries than it was to scan
    foreign,   ///< a column of another owner may be on the shortest path
};

/// A path from a free row to the nearest free column, and the columns that are nearer.
struct AugmentingPath {
    struct Step {
        Index  row;
        Offset entry;  ///< that the row is to be matched by
    };
    struct Settled {
        Index  column;
        double distance;
    };

    PathEnd              end = PathEnd::too_long;
    std::vector<Step>    steps;    ///< from the free column back to the row; none without one
    std::vector<Settled> settled;  ///< matched columns no further than the free one
    double               length = 0;
};

/// Dijkstra's algorithm on reduced costs. What it keeps grows with the columns that it meets, not with the matrix, so
/// that a short search stays in cache.
class PathSearch {
public:
    /// Searches all columns. @param stop  asked every 2^14 rows
    PathSearch(const Assignment& a, const StopToken& stop) : a_(a), step_(stop) {}
    /// Searches the owner's columns, while others search and change theirs. A dual of others that was larger before
    /// tells how near they may be.
    /// @param v_before  columns
    PathSearch(const Assignment& a, const StopToken& stop, Index owner, std::span<const double> v_before)
        : a_(a), step_(stop), owner_(owner), v_before_(v_before)
    {}

    /// @param row           free
    /// @param most_entries  to scan
    AugmentingPath from(Index row, double most_entries);
    double         scanned() const { return scanned_; }  ///< entries, of all searches so far

private:
    static constexpr Index none = -1;
    /// A column that was met: a slot of an open table.
    struct Met {
        Index  column = none;
        Index  search = 0;  ///< that met it: a slot of an earlier one is empty
        bool   final = false;
        Index  row = none;  ///< over whose entry the column was reached
        Offset entry = 0;
        double distance = 0;
    };
    struct Nearest {  ///< free column
        Index  row = none;
        Offset entry = 0;
        double distance = std::numeric_limits<double>::infinity();
    };

    Met& slot_of(Index column);
    void grow();
    void begin();
    void scan(Index row, double base, double tied);
    bool next(double& lowest, Index& column);
    void trace(Index row, AugmentingPath& path);

    const Assignment&                     a_;
    Steps                                 step_;
    Index                                 owner_ = Assignment::no_one;  // all columns
    std::span<const double>               v_before_;
    double                                foreign_ = 0;                 // at least as far is every column of others
    std::vector<Met>                      met_ = std::vector<Met>(64);  // open table, at most half full
    std::size_t                           met_count_ = 0;
    Index                                 search_ = 0;
    std::vector<Index>                    stack_;  // columns tied with the current minimum
    std::vector<std::pair<double, Index>> heap_;   // distance and column; also at older, longer distances
    Nearest                               nearest_;
    double                                scanned_ = 0;
};

/// Matches along the path, and moves the duals so that its entries are tight and no entry is infeasible.
void augment(Assignment& a, const AugmentingPath& path);

/// Augments from many rows at once, by tasks: regions of the pattern own their rows and columns, and a search that may
/// need a column of another region gives up. So the result is the same on any number of threads. It ends where few
/// rows are left, or where few searches succeed. No column may be closed.
/// @param rows     free, in order
/// @param scanned  entries so far; what is scanned here is added
/// @param most     entries to scan in all
/// @return the rows that are free still, in order
std::vector<Index> augment_in_regions(Assignment& a, std::vector<Index> rows, double& scanned, double most,
                                      const StopToken& stop);

}  // namespace ilux
