#include "ilux/solver/frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using List = std::vector<double>;

void expect_near(const List& found, const List& wanted)
{
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-13 * wanted[k]) << k;
}

TEST(Frequencies, AreThoseOfTheTable)
{
    expect_near(parse_frequencies("1e3:1e6:log:4"), {1e3, 1e4, 1e5, 1e6});
    expect_near(parse_frequencies("1:4:log:3"), {1, 2, 4});
    expect_near(parse_frequencies("0:10:lin:5"), {0, 2.5, 5, 7.5, 10});
    expect_near(parse_frequencies("1:100:dec:2"), {1, std::sqrt(10.), 10, 10 * std::sqrt(10.), 100});
    expect_near(parse_frequencies("1:50:dec:1"), {1, 10});  // 100 is beyond LAST
    expect_near(parse_frequencies("5:5:log:1"), {5});
    expect_near(parse_frequencies("5:5:dec:7"), {5});
    EXPECT_EQ(parse_frequencies("3,0,1e3"), (List{3, 0, 1000}));
    EXPECT_EQ(parse_frequencies("1e6"), List{1e6});
}

TEST(Frequencies, EndExactlyWhereTheyAreTo)
{
    for (const int count : {2, 3, 7, 200, 1001}) {
        const auto text = [&](const char* spacing) {
            return "0.3:7.7e11:" + std::string(spacing) + ":" + std::to_string(count);
        };
        for (const char* spacing : {"log", "lin"}) {
            const auto all = parse_frequencies(text(spacing));
            ASSERT_EQ(all.size(), count);
            EXPECT_EQ(all.front(), 0.3);
            EXPECT_EQ(all.back(), 7.7e11);
            for (std::size_t k = 1; k < all.size(); ++k) EXPECT_LT(all[k - 1], all[k]);
        }
    }
    for (const int count : {1, 3, 7, 10, 50}) {  // COUNT a decade, of six
        const auto all = parse_frequencies("1e3:1e9:dec:" + std::to_string(count));
        ASSERT_EQ(all.size(), 6 * count + 1);
        EXPECT_EQ(all.back(), 1e9);
        for (int k = 0; k + count < std::ssize(all); ++k)
            EXPECT_NEAR(all[k + count] / all[k], 10, 1e-12) << count << " " << k;
    }
}

TEST(Frequencies, SpanAllDoublesWithoutOverflow)
{
    const auto all = parse_frequencies("1e-300:1e300:log:3");
    expect_near(all, {1e-300, 1, 1e300});
    EXPECT_EQ(parse_frequencies("1e-300:1e300:dec:1").size(), 601U);
}

TEST(Frequencies, RefuseWhatTheyDoNotUnderstandAndSayWhatIsExpected)
{
    const std::pair<const char*, const char*> bad[] = {
        {"", "''"},
        {"abc", "'abc' is no number of Hz"},
        {"1,,3", "'' is no number of Hz"},
        {"1,2,", "''"},
        {"1k", "'1k'"},
        {"1e3 ", "'1e3 '"},
        {"nan", "'nan'"},
        {"inf", "'inf'"},
        {"1,inf", "'inf'"},
        {"1e999", "'1e999'"},
        {"-1", "-1 is negative"},
        {"1,-2", "-2 is negative"},
        {"-1:5:lin:3", "-1 is negative"},
        {"1:2", "2 parts"},
        {"1:2:log", "3 parts"},
        {"1:2:log:3:4", "5 parts"},
        {"1:2:oct:3", "'oct' is none of log, lin and dec"},
        {"1:2:LOG:3", "'LOG'"},
        {"1:2::3", "''"},
        {"1:2:log:0", "COUNT is '0'"},
        {"1:2:log:-4", "COUNT is '-4'"},
        {"1:2:log:2.5", "COUNT is '2.5'"},
        {"1:2:log:", "COUNT is ''"},
        {"1:2:log:99999999999999999999", "COUNT"},
        {"1:2:log:99999999", "more than 1e+07"},
        {"1:1e9:dec:99999999", "more than 1e+07"},
        {"0:1e3:log:5", "FIRST is 0"},
        {"0:1e3:dec:5", "FIRST is 0"},
        {"5:1:lin:5", "LAST is below FIRST"},
        {"1:5:lin:1", "COUNT is 1"},
        {"5:5:log:2", "COUNT is 2"},
    };
    for (const auto& [text, words] : bad) {
        SCOPED_TRACE(text);
        expect_refusal<InvalidOption>([&, text = text] { (void)parse_frequencies(text); },
                                      {"frequencies " + std::string(text), words, "FIRST:LAST:log:COUNT",
                                       "1e3:1e9:log:200"});
    }
    EXPECT_EQ(std::signbit(parse_frequencies("-0")[0]), false);
}

TEST(Frequencies, OfAProgramAreRefusedToo)
{
    require_frequencies(List{0, 1, 1e300});
    expect_refusal([] { require_frequencies({}); }, {"no frequencies"});
    for (const double f : {-1., infinity, -infinity, nan})
        expect_refusal([&] { require_frequencies(List{1, f}); }, {"Hz", "0 or more"});
}

}  // namespace
}  // namespace ilux
