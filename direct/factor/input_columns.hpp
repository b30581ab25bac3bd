#pragma once
// B column by column out of the caller's values: scaled, with the map of them written down on the way.

#include <algorithm>
#include <span>
#include <vector>

#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux::detail {

/// A row is known by its place in the analysed B. Before the first column is loaded come choose_scales and make_map, in
/// any order or at the same time; threads may load different columns at the same time.
template <class S>
class InputColumns {
public:
    /// Fills what of P is known before pivots are. @throws InvalidInput when values has another length
    InputColumns(const LuSymbolic& symbolic, LuScaling scaling, std::span<const S> values, LuPattern& P);
    /// @throws InvalidInput naming row and column of a NaN or Inf
    void choose_scales();
    /// Room for it.
    void make_map();

    /// Where the entries of B(:,k) within the block that begins with column `first` start in the analysis. Sets
    /// P.in_split[k].
    Offset split(Index k, Index first) const
    {
        const Offset begin = S_.col_ptr[k], end = S_.col_ptr[k + 1];
        Offset       above = begin;
        while (above < end && S_.row[above] < first) ++above;
        P_.in_split[k] = begin + (end - above);
        return above;
    }

    double column_scale(Index k) const { return P_.col_scale.empty() ? 1.0 : P_.col_scale[P_.col_perm[k]]; }

    /// Maps entry `from` of the analysis, in the given row of B, to entry `to` of the input. @return its scaled value
    S take(Offset from, Offset to, Index row, double column_scale) const
    {
        constexpr Offset ahead = 64;
        __builtin_prefetch(&values_[S_.source[std::min(from + ahead, S_.input_nnz - 1)]]);
        const Offset source = P_.in_source[to] = S_.source[from];
        P_.in_row[to] = row;
        return values_[source] * (P_.in_scale[to] = row_scale_[S_.row[from]] * column_scale);
    }

    /// x ← B(:,k) within the block, from the analysis's entry `begin` on. insert(row) hears of each entry. @return max
    /// |x|
    template <class Insert>
    double load(Index k, Offset begin, S* x, Insert&& insert) const
    {
        const double c = column_scale(k);
        const Offset end = S_.col_ptr[k + 1];
        double       largest = 0;
        bool         distinct = true;
        for (Offset p = begin, to = S_.col_ptr[k]; p < end; ++p, ++to) {
            const Index row = S_.row[p];
            const S     sum = x[row] += take(p, to, row, c);
            largest = std::max(largest, modulus(sum));
            distinct &= p == begin || row != S_.row[p - 1];
            insert(row);
        }
        if (distinct) return largest;
        largest = 0;  // a part of a sum counts for nothing
        for (Offset p = begin; p < end; ++p) largest = std::max(largest, modulus(x[S_.row[p]]));
        return largest;
    }

private:
    const LuSymbolic&   S_;
    LuScaling           scaling_;
    std::span<const S>  values_;
    LuPattern&          P_;
    std::vector<double> row_scale_;  // n, by row of B
};

}  // namespace ilux::detail
