// How far x may move along a vector, by hand; and in which words that is told.

#include "ilux/engine/witness/undetermined.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// What is found of x along t, with b = A x as a double has it.
Undetermined along(const CsrMatrix<double>& A, const std::vector<double>& t, const std::vector<double>& x,
                   const std::vector<double>& b)
{
    Cpu      serial(1);
    Residual residual;
    (void)measure(serial, A, x, b, residual);
    return undetermined_along<double>(A, t, x, residual);
}

TEST(UndeterminedAlong, IsWithoutBoundForAVectorThatIsTakenToZero)
{
    const auto two = along(to_csr({2, 2, {1, 1, 1, 1}}), {1, -1}, {1, 1}, {2, 2});
    EXPECT_TRUE(std::isinf(two.share));
    EXPECT_EQ(two.count, 2);
    EXPECT_EQ(two.unknowns, (std::vector<Index>{0, 1}));
    // The third unknown is determined.
    const auto three = along(to_csr({3, 3, {1, 0, -1, 0, 1, 0, -1, 0, 1}}), {1, 0, 1}, {2, 5, 3}, {-1, 5, 1});
    EXPECT_TRUE(std::isinf(three.share));
    EXPECT_EQ(three.count, 2);
    EXPECT_EQ(three.unknowns, (std::vector<Index>{0, 2}));
}

TEST(UndeterminedAlong, IsByHandWhatRoundingHidesOfANearlySingularMatrix)
{
    // A t = (0, 2⁻⁴⁴), less 2⁻⁵⁰ of its terms, 2⁻⁴⁹; the second row of A x has terms of 6. So x = 3 moves by 2⁻⁵⁰ · 6 /
    // (31/32 · 2⁻⁴⁴).
    const auto A = to_csr({2, 2, {1, -1, -1, 1 + 0x1p-44}});
    const auto found = along(A, {1, 1}, {3, 3}, {0, 3 * 0x1p-44});
    EXPECT_NEAR(found.share, 1. / 31, 1e-9);
    EXPECT_EQ(found.count, 2);
    EXPECT_EQ(found.unknowns, (std::vector<Index>{0, 1}));
    // t may have any length.
    EXPECT_NEAR(along(A, {0x1p90, 0x1p90}, {3, 3}, {0, 3 * 0x1p-44}).share, 1. / 31, 1e-9);
    // With 2⁻³⁴ the change is below 1 %: 2⁻¹⁶ · 6 / 3, all but 2⁻¹⁵.
    const auto better = along(to_csr({2, 2, {1, -1, -1, 1 + 0x1p-34}}), {1, 1}, {3, 3}, {0, 3 * 0x1p-34});
    EXPECT_NEAR(better.share, 2 * 0x1p-16 / (1 - 0x1p-15), 1e-9);
    EXPECT_FALSE(better.any());
    EXPECT_TRUE(better.unknowns.empty());
}

TEST(UndeterminedAlong, CountsOnlyUnknownsThatMoveAndAreNotTiny)
{
    // As above, beside an unknown that t leaves alone.
    const auto A = to_csr({3, 3, {1, -1, 0, -1, 1 + 0x1p-44, 0, 0, 0, 1}});
    const auto found = along(A, {1, 1, 0}, {3, 3, 1e-3}, {0, 3 * 0x1p-44, 1e-3});
    EXPECT_EQ(found.unknowns, (std::vector<Index>{0, 1}));
    // An unknown below 1e-12 of the largest does not count: 2⁻⁶⁰ of it.
    const auto scaled = to_csr({3, 3, {0x1p60, -1, 0, -0x1p60, 1 + 0x1p-44, 0, 0, 0, 1}});
    const auto other = along(scaled, {0x1p-60, 1, 0}, {3 * 0x1p-60, 3, 3}, {0, 3 * 0x1p-44, 3});
    EXPECT_EQ(other.unknowns, (std::vector<Index>{1}));
    EXPECT_NEAR(other.share, 1. / 31, 1e-9);
}

TEST(UndeterminedAlong, IsRoundingForARegularMatrix)
{
    // A t = t, terms of a row are 2: 2⁻⁵⁰ · 2.
    const auto found = along(to_csr({3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}}), {1, 0, 0}, {1, 1, 1}, {1, 1, 1});
    EXPECT_NEAR(found.share * 0x1p49, 1, 1e-9);
    EXPECT_EQ(found.count, 0);
    EXPECT_FALSE(found.any());
}

TEST(UndeterminedAlong, IsNothingForAnXOfZerosUnlessAIsSingular)
{
    const std::vector<double> zero{0, 0};
    EXPECT_FALSE(along(to_csr({2, 2, {2, 1, 1, 2}}), {1, -1}, zero, zero).any());
    EXPECT_TRUE(along(to_csr({2, 2, {1, 1, 1, 1}}), {1, -1}, zero, zero).any());
}

TEST(UndeterminedAlong, IsNothingForAVectorThatIsZeroOrNotFinite)
{
    const auto A = to_csr({2, 2, {1, 1, 1, 1}});
    EXPECT_FALSE(along(A, {0, 0}, {1, 1}, {2, 2}).any());
    EXPECT_FALSE(along(A, {infinity, -infinity}, {1, 1}, {2, 2}).any());
}

TEST(UndeterminedAlong, NamesTheFirstTen)
{
    // Six floating pairs.
    Dense               A{12, 12, std::vector<double>(144)};
    std::vector<double> x(12, 1.), b(12, 0.);
    for (Index i = 0; i < 12; ++i) A(i, i) = 1, A(i, i ^ 1) = -1;
    const auto found = along(to_csr(A), x, x, b);
    EXPECT_EQ(found.count, 12);
    EXPECT_EQ(found.unknowns, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    const std::string text = undetermined_text(found, 12);
    EXPECT_NE(text.find("singular"), std::string::npos) << text;
    EXPECT_NE(text.find("12 of 12"), std::string::npos) << text;
    EXPECT_NE(text.find("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... (counted from 1)"), std::string::npos) << text;
    EXPECT_EQ(text.find("11"), std::string::npos) << text;
}

TEST(UndeterminedText, CountsFromOne)
{
    const std::string text = undetermined_text({.share = infinity, .count = 2, .unknowns = {0, 6}}, 9);
    EXPECT_NE(text.find("2 of 9"), std::string::npos) << text;
    EXPECT_NE(text.find(": 1, 7 (counted from 1)"), std::string::npos) << text;
    EXPECT_EQ(text.find("..."), std::string::npos) << text;
    EXPECT_EQ(undetermined_text(Undetermined{}, 9), "");
}

TEST(UndeterminedText, DoesNotCallSingularWhatLeavesXItsSize)
{
    const std::string text = undetermined_text({.share = .25, .count = 1, .unknowns = {4}}, 9);
    EXPECT_NE(text.find("nearly singular"), std::string::npos) << text;
    EXPECT_EQ(text.find("one of many"), std::string::npos) << text;
    EXPECT_NE(text.find(": 5 (counted from 1)"), std::string::npos) << text;
}

TEST(UndeterminedText, SaysUpToWhatXIsDetermined)
{
    const LooseSet                     whole{.members = {0, 1, 2}}, one{.members = {0, 2}}, other{.members = {1}};
    const LooseSet                     pressure{.kind = UnknownKind::zero_diagonal, .members = {1, 2}};
    const std::vector<const LooseSet*> none{}, all{&whole}, parts{&one, &other}, part{&one}, pressures{&pressure};
    EXPECT_EQ(undetermined_text(none, infinity, 3), "");
    const auto has = [](const std::string& text, const char* words) {
        EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    has(undetermined_text(all, infinity, 3), "x is determined up to a constant");
    has(undetermined_text(parts, infinity, 3), "in each of 2 parts");
    has(undetermined_text(part, infinity, 3), "in 2 of 3 unknowns, the first of them 1 (counted from 1)");
    has(undetermined_text(pressures, infinity, 3), "zero diagonal");
    has(undetermined_text(pressures, infinity, 3), "the first of them 2 (counted from 1)");
    has(undetermined_text(all, .5, 3), "0.5 times its size");
}

TEST(UndeterminedText, NamesTheFirstTenOfManySets)
{
    std::vector<LooseSet>        sets;
    std::vector<const LooseSet*> each;
    for (Index i = 0; i < 12; ++i) sets.push_back({.members = {20 * i, 20 * i + 1}});
    for (const LooseSet& set : sets) each.push_back(&set);
    const std::string text = undetermined_text(each, infinity, 300);
    EXPECT_NE(text.find("each of 12 sets, 24 of 300"), std::string::npos) << text;
    EXPECT_NE(text.find("1, 21, 41, 61, 81, 101, 121, 141, 161, 181, ... (counted from 1)"), std::string::npos) << text;
    EXPECT_EQ(text.find("201"), std::string::npos) << text;
}

}  // namespace
}  // namespace ilux
