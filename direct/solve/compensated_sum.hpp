#pragma once
// Sums that carry their rounding errors along.

#include <cmath>

namespace ilux {

/// TwoSum [ogita05]: of any number of terms the result has the error of about one rounding, and those of the terms.
struct CompensatedSum {
    double sum = 0, lost = 0;

    void add(double term)
    {
        const double next = sum + term, back = next - sum;
        lost += (sum - (next - back)) + (term - back);
        sum = next;
    }
    double value() const { return std::isfinite(sum) ? sum + lost : sum; }  // lost is NaN where sum overflowed
};

}  // namespace ilux
