#pragma once
// Systems of one pattern: the members of a batch.

#include <span>
#include <vector>

#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"

namespace ilux::test {

/// Member after member; member 0 has the values given, the others are near.
inline std::vector<double> member_values(std::span<const double> values, Index members)
{
    Random              random(11);
    std::vector<double> all(values.begin(), values.end());
    for (Index m = 1; m < members; ++m)
        for (const double value : values) all.push_back(value * (1 + 1e-3 * random.uniform()));
    return all;
}

inline std::span<const double> member_of(std::span<const double> all, Index members, Index m)
{
    const std::size_t count = all.size() / members;
    return all.subspan(m * count, count);
}

}  // namespace ilux::test
