#include "ilux/base/io/printable.hpp"

#include <gtest/gtest.h>

namespace ilux {
namespace {

TEST(Printable, LeavesTextAloneAndShowsWhatATerminalWouldObey)
{
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(printable("A b·1 ‖x‖ \\x1b 😀"), "A b·1 ‖x‖ \\x1b 😀");
    EXPECT_EQ(printable("a\x1b[31mb\nc\rd\te"), "a\\x1b[31mb\\x0ac\\x0dd\\x09e");
    EXPECT_EQ(printable(std::string_view("\0\x1f\x20\x7e\x7f", 5)), "\\x00\\x1f ~\\x7f");
    EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f\xc2\xa0");  // C1; a space
}

TEST(Printable, ShowsBytesThatAreNoUtf8)
{
    EXPECT_EQ(printable("\x9b"), "\\x9b");                    // C1 as one byte, which some terminals obey
    EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");           // never in UTF-8
    EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");           // broken off
    EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");           // a line end, too long
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; ++second) {
            const char        pair[] = {static_cast<char>(first), static_cast<char>(second)};
            const std::string shown = printable({pair, 2});
            EXPECT_EQ(printable(shown), shown) << first << ' ' << second;
            for (const char c : shown)
                EXPECT_TRUE((c & 0x80) != 0 || (c >= ' ' && c != 0x7f)) << first << ' ' << second;
        }
}

}  // namespace
}  // namespace ilux
