#pragma once
// Systems whose member unions are of every kind, and the plans that they are kept by.

#include <algorithm>
#include <string>
#include <vector>

#include "ilux/direct/gpu/member_union.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/worked_example.hpp"

namespace ilux::test {

constexpr UnionIndex every_union_index[] = {UnionIndex::plain, UnionIndex::wide, UnionIndex::runs, UnionIndex::lookup,
                                            UnionIndex::search};

/// The first two columns full, else a diagonal: the second column has n entries and one update of n − 1.
inline CsrMatrix<double> two_full_columns(Index n)
{
    Random              random(n);
    std::vector<Index>  row, col;
    std::vector<double> val;
    const auto          add = [&](Index i, Index j, double v) { row.push_back(i), col.push_back(j), val.push_back(v); };
    for (Index i = 0; i < n; ++i) {
        for (const Index j : {0, 1})
            if (i != j) add(i, j, random.uniform());
        add(i, i, n);
    }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

/// Column 1 is full, and L(:,0) holds every other row: each of its runs in column 1 has one entry.
inline CsrMatrix<double> comb(Index n)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    const auto          add = [&](Index i, Index j, double v) { row.push_back(i), col.push_back(j), val.push_back(v); };
    for (Index i = 0; i < n; ++i) add(i, i, 4 + i % 3);
    for (Index i = 2; i < n; i += 2) add(i, 0, 1);
    for (Index i = 2; i < n; ++i) add(i, 1, -1);
    add(0, 1, 2);
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

inline std::vector<DataflowSystem> union_systems()
{
    std::vector<DataflowSystem> all = dataflow_systems();
    all.push_back(dataflow_system_as_it_stands("worked example", worked_example()));
    all.push_back(dataflow_system_as_it_stands("comb", comb(200)));
    all.push_back(dataflow_system_as_it_stands("long segments", two_full_columns(3000)));
    if (!sanitized) all.push_back(dataflow_system_as_it_stands("the longest plain column", two_full_columns(65'535)));
    all.push_back(
        dataflow_system_as_it_stands("the shortest column that is too long for it", two_full_columns(65'536)));
    return all;
}

/// From none to all of what plain positions take.
inline std::vector<std::size_t> limits_of(const LuPattern& P)
{
    const std::size_t all = plan_union(P, 0, UnionIndex::plain).bytes;
    if (sanitized) return {all / 5, all};
    return {0, all / 20, all / 5, all / 2, all - std::min<std::size_t>(all, 1), all};
}

}  // namespace ilux::test
