#pragma once
// Dense matrices of a few rows, held by rows or by columns, and an analysis that leaves them as they are.

#include <string>
#include <vector>

#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux::test {

/// Pivots start on the diagonal, in the order given.
inline const LuOptions as_given{.ordering = LuOrdering::none,
                                .matching = LuMatching::off,
                                .scaling = LuScaling::none,
                                .blocks = false};

/// A dense matrix by rows or by columns, as a caller holds it: `val` is row by row in either case.
struct Small {
    Small(std::vector<std::vector<double>> rows, MatrixLayout layout)
        : layout(layout), n(static_cast<Index>(rows.size()))
    {
        for (Index k = 0; k < n; ++k)
            for (Index m = 0; m < n; ++m) {
                idx.push_back(m);
                val.push_back(layout == MatrixLayout::rows ? rows[k][m] : rows[m][k]);
            }
        for (Index k = 0; k <= n; ++k) ptr.push_back(static_cast<Offset>(k) * n);
    }
    MatrixView<> view() const { return {n, ptr, idx, val, layout}; }

    MatrixLayout        layout;
    Index               n;
    std::vector<Offset> ptr;
    std::vector<Index>  idx;
    std::vector<double> val;
};

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace ilux::test
