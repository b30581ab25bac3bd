#pragma once
// Two pivot monitors that saw the same.

#include <gtest/gtest.h>

#include "ilux/direct/factor/pivot_monitor.hpp"

namespace ilux::test {

inline void expect_same_monitor(const PivotMonitor& found, const PivotMonitor& expected)
{
    EXPECT_EQ(found.bad_column, expected.bad_column);
    EXPECT_EQ(found.not_finite, expected.not_finite);
    EXPECT_EQ(found.stopped, expected.stopped);
    EXPECT_EQ(found.min_pivot, expected.min_pivot);
    EXPECT_EQ(found.max_pivot, expected.max_pivot);
    EXPECT_EQ(found.rgrowth, expected.rgrowth);
    EXPECT_EQ(found.growth_column, expected.growth_column);
    EXPECT_EQ(found.max_multiplier, expected.max_multiplier);
    EXPECT_EQ(found.multiplier_column, expected.multiplier_column);
}

}  // namespace ilux::test
