#include "ilux/base/fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

enum class Colour { red, dark_green };
constexpr auto names(Colour) { return words("red", "dark_green"); }

struct Inner {
    double drop_tol = 0.5;
    Colour colour = Colour::red;
};
template <class Visit>
void fields(Inner& o, Visit&& visit)
{
    visit("drop_tol", o.drop_tol, within(0, 1), "how much is dropped");
    visit("colour", o.colour, anything(), "a name");
}

struct Outer {
    Index       restart = 30;
    Offset      steps = 1000;
    bool        verbose = false;
    std::string label = "none";
    Bytes       memory_limit;
    Inner       precond;
};
template <class Visit>
void fields(Outer& o, Visit&& visit)
{
    visit("restart", o.restart, at_least(1), "dimension");
    visit("steps", o.steps, at_least(0), "steps in all");
    visit("verbose", o.verbose, anything(), "talk");
    visit("label", o.label, anything(), "any text");
    visit("memory_limit", o.memory_limit, anything(), "bytes");
    visit("precond", o.precond, anything(), "nested");
}

namespace {

std::vector<std::string> texts(Outer o)
{
    std::vector<std::string> all;
    for_each_field(o, [&](const std::string& name, auto& field, Range, std::string_view) {
        all.push_back(name + "=" + field_text(field));
    });
    return all;
}

void expect_set_refusal(const std::string& path, const std::string& text, std::vector<std::string> words)
{
    Outer o;
    expect_refusal<InvalidOption>([&] { set_field(o, path, text); }, words);
    EXPECT_EQ(texts(o), texts(Outer{})) << "a refused value was kept";
}

TEST(Fields, AreReachedByDottedPathsInOrder)
{
    EXPECT_EQ(field_names<Outer>(), (std::vector<std::string>{"restart", "steps", "verbose", "label", "memory_limit",
                                                              "precond.drop_tol", "precond.colour"}));
}

TEST(Fields, AreSetFromText)
{
    Outer o;
    set_field(o, "restart", "7");
    set_field(o, "steps", "3000000000");
    set_field(o, "verbose", "on");
    set_field(o, "label", "two words");
    set_field(o, "memory_limit", "2.5G");
    set_field(o, "precond.drop_tol", "1e-3");
    set_field(o, "precond.colour", "dark_green");
    EXPECT_EQ(o.restart, 7);
    EXPECT_EQ(o.steps, 3'000'000'000);
    EXPECT_TRUE(o.verbose);
    EXPECT_EQ(o.label, "two words");
    EXPECT_EQ(o.memory_limit.value, 5ULL << 29);
    EXPECT_EQ(o.precond.drop_tol, 1e-3);
    EXPECT_EQ(o.precond.colour, Colour::dark_green);
}

TEST(Fields, RefuseWhatIsOutOfRangeOrNoValueAndStayUnchanged)
{
    expect_set_refusal("restart", "0", {"restart=0", "at least 1"});
    expect_set_refusal("restart", "3.5", {"3.5", "a whole number"});
    expect_set_refusal("restart", "", {"restart="});
    expect_set_refusal("restart", " 3", {"a whole number"});
    expect_set_refusal("restart", "3 ", {"a whole number"});
    expect_set_refusal("restart", "0x10", {"a whole number"});
    expect_set_refusal("restart", "3000000000", {"fits"});
    expect_set_refusal("steps", "99999999999999999999", {"fits"});
    expect_set_refusal("precond.drop_tol", "1.5", {"precond.drop_tol=1.5", "from 0 to 1"});
    expect_set_refusal("precond.drop_tol", "-1e-300", {"from 0 to 1"});
    expect_set_refusal("precond.drop_tol", "nan", {"a number"});
    expect_set_refusal("precond.drop_tol", "inf", {"from 0 to 1"});
    expect_set_refusal("precond.drop_tol", "0,5", {"a number"});
    expect_set_refusal("precond.drop_tol", "1e999", {"fits"});
    expect_set_refusal("precond.colour", "blue", {"red|dark_green"});
    expect_set_refusal("precond.colour", "RED", {"red|dark_green"});
    expect_set_refusal("verbose", "1", {"on or off"});
    for (const char* text : {"", "G", "-1", "-1G", "12X", "nan", "inf", "1e30T", "512 M", "0x5G"})
        expect_set_refusal("memory_limit", text, {"memory_limit"});
}

TEST(Fields, NameTheNearestWhenThereIsNoSuchOption)
{
    expect_set_refusal("restrat", "3", {"'restrat'", "did you mean 'restart'"});
    expect_set_refusal("precond.drop_tl", "0", {"did you mean 'precond.drop_tol'"});
    expect_set_refusal("drop_tol", "0", {"did you mean 'precond.drop_tol'"});
    expect_set_refusal("precond", "3", {"there is no option 'precond'"});
}

TEST(Fields, NameAllWhereThereAreFewAndNoneIsNear)
{
    const auto said = [](const std::vector<std::string>& names) -> std::string {
        try {
            throw_unknown_field("something_else_entirely", names);
        } catch (const InvalidOption& why) {
            return why.what();
        }
        return "";
    };
    EXPECT_EQ(said({"n", "ny"}), "there is no option 'something_else_entirely'; there are n, ny");
    EXPECT_EQ(said({}), "there is no option 'something_else_entirely'");
    EXPECT_EQ(said(std::vector<std::string>(13, "n")), "there is no option 'something_else_entirely'");
}

TEST(NearestName, PrefersTheSmallestEditDistance)
{
    const std::vector<std::string> names{"max_steps", "rtol", "atol"};
    EXPECT_EQ(nearest_name("rtl", names), "rtol");
    EXPECT_EQ(nearest_name("atoll", names), "atol");
    EXPECT_EQ(nearest_name("max-step", names), "max_steps");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("rtol", std::span<const std::string>()), "");
}

TEST(Fields, OfAWholeStructAreValidated)
{
    Outer o;
    EXPECT_NO_THROW(validate(o));
    o.precond.drop_tol = 2;
    EXPECT_THROW(validate(o), InvalidOption);
    o.precond.drop_tol = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(validate(o), InvalidOption);
}

TEST(FieldText, ReadsBackToTheSameValue)
{
    EXPECT_TRUE(rc::check("parse(text(x)) = x", [](double x, std::int32_t i, std::int64_t k, bool flag) {
        double       x_back = 0;
        std::int32_t i_back = 0;
        std::int64_t k_back = 0;
        bool         flag_back = !flag;
        parse_field("x", field_text(x), x_back);
        parse_field("i", field_text(i), i_back);
        parse_field("k", field_text(k), k_back);
        parse_field("flag", field_text(flag), flag_back);
        RC_ASSERT(x_back == x && i_back == i && k_back == k && flag_back == flag);
    }));
    for (std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1536ULL, 3ULL << 30, 1ULL << 40, (1ULL << 50) + 1}) {
        Bytes back;
        parse_field("memory", field_text(Bytes{bytes}), back);
        EXPECT_EQ(back.value, bytes) << field_text(Bytes{bytes});
    }
    EXPECT_EQ(field_text(Bytes{3ULL << 30}), "3G");
    EXPECT_EQ(field_text(Bytes{1536}), "1536");
    EXPECT_EQ(field_text(0.1), "0.1");
    EXPECT_EQ(field_text(Colour::dark_green), "dark_green");
}

TEST(Bytes, OfLessThanOneAreNotNoLimit)
{
    Bytes bytes;
    parse_field("memory", "0.5", bytes);
    EXPECT_EQ(bytes.value, 1U);
    parse_field("memory", "0", bytes);
    EXPECT_EQ(bytes.value, 0U);
}

}  // namespace
}  // namespace ilux::test
