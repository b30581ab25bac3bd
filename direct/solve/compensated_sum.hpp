#pragma once
// Sums that carry their rounding errors along.

#include "ilux/base/scalar.hpp"

namespace ilux {

/// TwoSum [ogita05]: of any number of terms the result has the error of about one rounding, and those of the terms. Of
/// complex numbers the parts are added one by one.
template <class S = double>
struct CompensatedSum {
    S sum = 0, lost = 0;

    void add(S term)
    {
        const S next = sum + term, back = next - sum;
        lost += (sum - (next - back)) + (term - back);
        sum = next;
    }
    S value() const { return is_finite(sum) ? sum + lost : sum; }  // lost is NaN where sum overflowed
};

}  // namespace ilux
