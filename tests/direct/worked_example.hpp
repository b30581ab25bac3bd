#pragma once
// The 8 x 8 example of GLU 3.0's figure, with values of our own: 26 entries, 29 after elimination.

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

inline CsrMatrix<double> worked_example()
{
    return to_csr({8, 8, {4, 0, 2,  0, 0, 0, 0, 4,  //
                          2, 2, 3,  0, 0, 0, 0, 0,  //
                          4, 2, 8,  0, 2, 0, 0, 5,  //
                          0, 0, 0,  2, 0, 0, 4, 0,  //
                          0, 4, 0,  0, 3, 0, 0, 1,  //
                          0, 0, 0,  1, 0, 4, 0, 0,  //
                          0, 0, 0,  0, 0, 0, 5, 0,  //
                          8, 0, 10, 2, 6, 4, 3, 9}});
}

}  // namespace ilux::test
