#pragma once
// A matrix entry by entry, in any order.

#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::test {

/// EntryList of one place add up.
struct EntryList {
    void add(Index i, Index j, double a)
    {
        row.push_back(i);
        col.push_back(j);
        val.push_back(a);
    }
    CsrMatrix<double> matrix(Index rows, Index cols) const
    {
        return CsrMatrix<double>::from_triplets(rows, cols, row, col, val);
    }

    std::vector<Index>  row, col;
    std::vector<double> val;
};

}  // namespace ilux::test
