#include "ilux/base/io/decimal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace {

struct Read {
    double      value;
    std::size_t length;  // 0: no number
};

Read read(std::string_view text)
{
    double            value = -7;
    const char* const end = ilux::detail::parse_decimal(text.data(), text.data() + text.size(), value);
    return {value, end ? static_cast<std::size_t>(end - text.data()) : 0};
}

TEST(Decimal, TakesTheNearestDoubleAlsoOutOfRange)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(read("1e-400").value, 0);
    EXPECT_TRUE(std::signbit(read("-1e-400").value));
    EXPECT_EQ(read("4e-324").value, 5e-324);
    EXPECT_EQ(read("1e999").value, infinity);
    EXPECT_EQ(read("-1e999 ").value, -infinity);
    EXPECT_EQ(read("-1e999 ").length, 6u);
    EXPECT_EQ(read("0.1x").value, 0.1);
    EXPECT_EQ(read("0.1x").length, 3u);
}

TEST(Decimal, TellsWhatIsNoNumber)
{
    for (const char* bad : {"", "x", "-", "+1", " 1", ".", "e5"}) EXPECT_EQ(read(bad).length, 0u) << bad;
}

}  // namespace
