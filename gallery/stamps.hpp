#pragma once
// Circuit elements as entries of an MNA matrix, for networks too irregular to write row by row.

#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::gallery {

/// Collects stamps; node −1 is ground, where nothing is stamped.
class Stamps {
public:
    explicit Stamps(double entries)
    {
        const auto room = static_cast<std::size_t>(entries);
        row_.reserve(room);
        col_.reserve(room);
        val_.reserve(room);
    }
    void entry(Index i, Index j, double value)
    {
        if (i < 0 || j < 0) return;
        row_.push_back(i);
        col_.push_back(j);
        val_.push_back(value);
    }
    void conductance(Index a, Index b, double g)
    {
        entry(a, a, g);
        entry(b, b, g);
        entry(a, b, -g);
        entry(b, a, -g);
    }
    /// Current g (v_c − v_d) flows from a to b.
    void controlled_current(Index a, Index b, Index c, Index d, double g)
    {
        entry(a, c, g);
        entry(a, d, -g);
        entry(b, c, -g);
        entry(b, d, g);
    }
    /// v_a − v_b given, the source's current being unknown k.
    void voltage_source(Index a, Index b, Index k)
    {
        entry(a, k, 1);
        entry(k, a, 1);
        entry(b, k, -1);
        entry(k, b, -1);
    }
    CsrMatrix<double> matrix(Index n) const { return CsrMatrix<double>::from_triplets(n, n, row_, col_, val_); }

private:
    std::vector<Index>  row_, col_;
    std::vector<double> val_;
};

}  // namespace ilux::gallery
