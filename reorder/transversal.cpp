#include "ilux/reorder/transversal.hpp"

#include <vector>

namespace ilux {
namespace {

class HopcroftKarp {
public:
    HopcroftKarp(const CsrMatrix<double>& A, std::span<const double> cost, double limit, std::span<Offset> entry_of_row,
                 std::span<Index> row_of_col)
        : row_ptr_(A.row_ptr()),
          col_(A.col()),
          cost_(cost),
          limit_(limit),
          entry_of_row_(entry_of_row),
          row_of_col_(row_of_col),
          level_(A.rows()),
          next_(A.rows())
    {
        path_.reserve(A.rows());
    }

    /// Levels of rows: alternating distance to the nearest free row. False when no free column is in reach.
    bool find_levels()
    {
        const Index rows = static_cast<Index>(level_.size());
        path_.clear();  // serves as the queue of the breadth-first search
        for (Index i = 0; i < rows; ++i) {
            level_[i] = entry_of_row_[i] < 0 ? 0 : -1;
            if (level_[i] == 0) path_.push_back(i);
        }
        Index last = rows;  // the level that sees a free column: deeper rows lie on no shortest path
        for (std::size_t head = 0; head < path_.size() && level_[path_[head]] <= last; ++head) {
            const Index i = path_[head];
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) {
                if (!(cost_[p] <= limit_)) continue;
                const Index owner = row_of_col_[col_[p]];
                if (owner < 0) {
                    last = level_[i];
                } else if (level_[owner] < 0) {
                    level_[owner] = level_[i] + 1;
                    path_.push_back(owner);
                }
            }
        }
        return last < rows;
    }

    /// A maximal set of disjoint paths along the levels. Each entry is looked at once a phase: next_ only advances.
    void augment_along_levels()
    {
        const Index rows = static_cast<Index>(level_.size());
        for (Index i = 0; i < rows; ++i) next_[i] = row_ptr_[i];
        for (Index root = 0; root < rows; ++root)
            if (entry_of_row_[root] < 0) augment_from(root);
    }

private:
    void augment_from(Index root)
    {
        path_.assign(1, root);
        while (!path_.empty()) {
            const Index i = path_.back();
            if (next_[i] == row_ptr_[i + 1]) {
                path_.pop_back();
                continue;
            }
            const Offset p = next_[i]++;
            if (!(cost_[p] <= limit_)) continue;
            const Index owner = row_of_col_[col_[p]];
            if (owner < 0) return flip_path();
            if (level_[owner] == level_[i] + 1) path_.push_back(owner);
        }
    }

    void flip_path()
    {
        for (const Index i : path_) {
            entry_of_row_[i] = next_[i] - 1;
            row_of_col_[col_[entry_of_row_[i]]] = i;
        }
    }

    std::span<const Offset> row_ptr_;
    std::span<const Index>  col_;
    std::span<const double> cost_;
    double                  limit_;
    std::span<Offset>       entry_of_row_;
    std::span<Index>        row_of_col_;
    std::vector<Index>      level_;  // n
    std::vector<Offset>     next_;   // n; first entry of each row not yet looked at
    std::vector<Index>      path_;   // rows from the root to the end of the path
};

}  // namespace

void extend_transversal(const CsrMatrix<double>& A, std::span<const double> cost, double limit,
                        std::span<Offset> entry_of_row, std::span<Index> row_of_col)
{
    HopcroftKarp search(A, cost, limit, entry_of_row, row_of_col);
    while (search.find_levels()) search.augment_along_levels();  // every phase matches a row at least
}

}  // namespace ilux
