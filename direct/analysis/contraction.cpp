#include "ilux/direct/analysis/contraction.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace ilux {
namespace {

constexpr int    most_rounds = 10;
constexpr double worthwhile = 0.01;  // a round that takes less of the vertices is the last

/// The row or column that another one was moved to, and so on.
class Moved {
public:
    explicit Moved(Index n) : to_(n) { std::iota(to_.begin(), to_.end(), Index{0}); }
    void  move(Index from, Index to) { to_[from] = to; }
    Index find(Index v)
    {
        while (to_[v] != v) v = to_[v] = to_[to_[v]];
        return v;
    }

private:
    std::vector<Index> to_;
};

/// Number of entries off the diagonal in each row and column, and one of them.
struct Degrees {
    std::vector<Index> row, col, in_row, in_col;

    explicit Degrees(const PatternView& C) : row(C.n, 0), col(C.n, 0), in_row(C.n, -1), in_col(C.n, -1)
    {
        for (Index i = 0; i < C.n; ++i)
            for (Offset p = C.row_ptr[i]; p < C.row_ptr[i + 1]; ++p) {
                const Index j = C.col[p];
                if (j == i) continue;
                ++row[i];
                ++col[j];
                in_row[i] = j;
                in_col[j] = i;
            }
    }
};

/// One round: every pivot whose row or column had at most one other entry when the round began, and got none since.
class Round {
public:
    explicit Round(const PatternView& C)
        : C_(C), rows_(C.n), cols_(C.n), gone_(C.n, 0), row_grew_(C.n, 0), col_grew_(C.n, 0)
    {}

    std::vector<Index> take_pivots()
    {
        const Degrees      degrees(C_);
        std::vector<Index> taken;
        for (Index v = 0; v < C_.n; ++v) {
            const bool by_row = degrees.row[v] <= 1 && !row_grew_[v];
            const bool by_col = degrees.col[v] <= 1 && !col_grew_[v];
            if (by_row && degrees.row[v] == 1) {
                const Index b = cols_.find(degrees.in_row[v]);
                if (b != v) cols_.move(v, b);
                col_grew_[b] = 1;
            } else if (by_col && !by_row && degrees.col[v] == 1) {
                const Index b = rows_.find(degrees.in_col[v]);
                if (b != v) rows_.move(v, b);
                row_grew_[b] = 1;
            }
            if (!by_row && !by_col) continue;
            gone_[v] = 1;
            taken.push_back(v);
        }
        return taken;
    }

    /// The pattern after the round, duplicates dropped, rows not sorted.
    Contraction remaining()
    {
        Contraction        rest;
        std::vector<Index> local(C_.n, -1), members(C_.n, -1), next(C_.n, -1), mark(C_.n, -1);
        for (Index i = C_.n - 1; i >= 0; --i) {  // the rows that were moved to each, as a list
            const Index to = rows_.find(i);
            next[i] = members[to];
            members[to] = i;
        }
        for (Index v = 0; v < C_.n; ++v) {
            if (gone_[v]) continue;
            local[v] = static_cast<Index>(rest.vertex.size());
            rest.vertex.push_back(v);
        }
        rest.row_ptr.push_back(0);
        rest.col.reserve(C_.nnz());
        for (const Index v : rest.vertex) {
            for (Index i = members[v]; i >= 0; i = next[i])
                for (Offset p = C_.row_ptr[i]; p < C_.row_ptr[i + 1]; ++p) {
                    const Index j = local[cols_.find(C_.col[p])];
                    if (j < 0 || mark[j] == v) continue;
                    mark[j] = v;
                    rest.col.push_back(j);
                }
            rest.row_ptr.push_back(static_cast<Offset>(rest.col.size()));
        }
        return rest;
    }

private:
    PatternView       C_;
    Moved             rows_, cols_;
    std::vector<char> gone_, row_grew_, col_grew_;
};

}  // namespace

Contraction contract(const PatternView& C)
{
    Contraction current;
    current.vertex.resize(C.n);
    std::iota(current.vertex.begin(), current.vertex.end(), Index{0});
    current.row_ptr.assign(C.row_ptr.begin(), C.row_ptr.end());
    current.col.assign(C.col.begin(), C.col.end());
    for (int round = 0; round < most_rounds; ++round) {
        const Index n = current.pattern().n;
        Round       contraction(current.pattern());
        const auto  taken = contraction.take_pivots();
        for (const Index v : taken) current.eliminated.push_back(current.vertex[v]);
        Contraction rest = contraction.remaining();
        for (Index& v : rest.vertex) v = current.vertex[v];
        rest.eliminated = std::move(current.eliminated);
        current = std::move(rest);
        if (static_cast<double>(taken.size()) <= worthwhile * n) break;
    }
    for (Index i = 0; i < current.pattern().n; ++i)
        std::sort(current.col.begin() + current.row_ptr[i], current.col.begin() + current.row_ptr[i + 1]);
    return current;
}

}  // namespace ilux
