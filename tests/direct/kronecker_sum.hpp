#pragma once
// A system whose pivots leave the diagonal that its order was made for.

#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::test {

/// I ⊗ T + T ⊗ I of T = tridiag(−1, d, −1) of order m, without the sum's zeros: indefinite, next to nothing on the
/// diagonal, n = m².
inline CsrMatrix<double> kronecker_sum(Index m, double d)
{
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    const auto          entry = [&](Index j, double v) {
        col.push_back(j);
        val.push_back(v);
    };
    for (Index i = 0; i < m * m; ++i) {
        const Index along = i % m, across = i / m;
        if (across > 0) entry(i - m, -1);
        if (along > 0) entry(i - 1, -1);
        entry(i, 2 * d);
        if (along + 1 < m) entry(i + 1, -1);
        if (across + 1 < m) entry(i + m, -1);
        ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<double>::from_sorted(m * m, m * m, std::move(ptr), std::move(col), std::move(val));
}

}  // namespace ilux::test
