#pragma once
// The middle of measured values.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ilux {

/// The middle of at least one value, or the mean of the two there.
inline double median(std::vector<double> values)
{
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace ilux
