#include "ilux/reorder/transversal.hpp"

#include <vector>

namespace ilux {
namespace {

/// @tparam Usable  whether the transversal may take entry p
template <class Usable>
class HopcroftKarp {
public:
    HopcroftKarp(std::span<const Offset> row_ptr, std::span<const Index> col, Usable usable,
                 std::span<Offset> entry_of_row, std::span<Index> row_of_col, const StopToken& stop)
        : row_ptr_(row_ptr),
          col_(col),
          usable_(usable),
          entry_of_row_(entry_of_row),
          row_of_col_(row_of_col),
          level_(entry_of_row.size()),
          next_(entry_of_row.size()),
          step_(stop)
    {
        path_.reserve(entry_of_row.size());
    }

    void run()
    {
        while (find_levels()) augment_along_levels();  // every phase matches a row at least
    }

private:
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
            step_();
            for (Offset p = row_ptr_[i]; p < row_ptr_[i + 1]; ++p) {
                if (!usable_(p)) continue;
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

    void augment_from(Index root)
    {
        path_.assign(1, root);
        while (!path_.empty()) {
            const Index i = path_.back();
            step_();
            if (next_[i] == row_ptr_[i + 1]) {
                path_.pop_back();
                continue;
            }
            const Offset p = next_[i]++;
            if (!usable_(p)) continue;
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
    Usable                  usable_;
    std::span<Offset>       entry_of_row_;
    std::span<Index>        row_of_col_;
    std::vector<Index>      level_;  // n
    std::vector<Offset>     next_;   // n; first entry of each row not yet looked at
    std::vector<Index>      path_;   // rows from the root to the end of the path
    Steps                   step_;
};

}  // namespace

void extend_transversal(const CsrView<double>& A, std::span<const double> cost, double limit,
                        std::span<Offset> entry_of_row, std::span<Index> row_of_col, const StopToken& stop)
{
    const auto usable = [=](Offset p) { return cost[p] <= limit; };
    HopcroftKarp(A.row_ptr(), A.col(), usable, entry_of_row, row_of_col, stop).run();
}

void extend_transversal(std::span<const Offset> row_ptr, std::span<const Index> col, std::span<const double> value,
                        std::span<Offset> entry_of_row, std::span<Index> row_of_col, const StopToken& stop)
{
    const auto nonzero = [=](Offset p) { return value[p] != 0; };
    const auto any = [](Offset) { return true; };
    if (value.empty()) HopcroftKarp(row_ptr, col, any, entry_of_row, row_of_col, stop).run();
    else HopcroftKarp(row_ptr, col, nonzero, entry_of_row, row_of_col, stop).run();
}

}  // namespace ilux
