#pragma once
// Two matrices of one pattern, as a series has them, of any order; b. No diagonal entry is small beside its row.

#include <complex>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

template <Scalar S>
struct RivalSystems {
    CsrMatrix<S>   first, second;
    std::vector<S> b;

    explicit RivalSystems(Index n)
    {
        Random             random(static_cast<std::uint64_t>(n) + 1);
        std::vector<Index> row, col;
        std::vector<S>     val;
        for (Index i = 0; i < n; ++i) {
            for (const Index j : {(i + 1) % n, (7 * i + 3) % n}) {
                row.push_back(i);
                col.push_back(j);
                val.push_back(value(random));
            }
            row.push_back(i);
            col.push_back(i);
            val.push_back(S(4) + value(random));
            b.push_back(value(random));
        }
        first = CsrMatrix<S>::from_triplets(n, n, row, col, val);
        second = first;
        for (S& a : second.val()) a *= S(random.uniform(0.5, 1.5));
    }

private:
    static S value(Random& random)
    {
        const double re = random.uniform(-1, 1), im = random.uniform(-1, 1);
        if constexpr (is_complex<S>) return {re, im};
        else return re + 0 * im;
    }
};

}  // namespace ilux::test
