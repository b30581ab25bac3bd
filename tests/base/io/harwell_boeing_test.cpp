// Harwell-Boeing and Rutherford-Boeing files, by hand and by SciPy (make_files).

#include <gtest/gtest.h>

#include "ilux/base/io/fortran_format.hpp"
#include "ilux/base/io/matrix_market_lines.hpp"
#include "ilux/tests/base/io/foreign_files.hpp"

namespace ilux::test {
namespace {

using detail::FortranField;

/// A of make_files by columns.
std::string file_of_A(const std::string& formats, const std::string& numbers, const std::string& type = "RUA")
{
    return "A title                                                                 KEY\n"
           "             3             1             1             1             0\n" +
           type + "                        4             4             8             0\n" + formats + "\n" + numbers;
}
const std::string places = "  1  3  5  7  9\n  1  3  2  4  1  3  2  4\n";

CsrMatrix<double> real_of(const std::string& text)
{
    return std::get<CsrMatrix<double>>(parse_any_matrix(text, "t.rua"));
}

TEST(HarwellBoeing, ReadsFixedFieldsWhetherBlanksPartThemOrNot)
{
    expect_A<double>(read_any_matrix(foreign_file("scipy.rua")), "scipy.rua");
    expect_A<double>(real_of(
                         file_of_A("(5I3)           (8I3)           (4E9.2)",
                                   places +
                                       " 4.00E+00 2.00E+00 3.00E+00-7.00E+00\n-1.50E+00 5.00E+00 1.00E-03 6.25E+00\n")),
                     "touching");
    expect_A<double>(
        real_of(
            file_of_A("(5I3)           (8I3)           (1P,4D10.2)",
                      places + "    4.00D0   2.D+00    3.0+00 -7.00D+00\n -1.50D+00 5.00D+000  1.00-003  6.25D+00\n")),
        "D and no letter");
    expect_A<double>(real_of(file_of_A("(5I3)           (8I3)           (2(1X,F5.2,F7.3))",
                                       places + "  4.00  2.000  3.00 -7.000\r\n -1.50  5.000  .001  6.250\r\n")),
                     "groups and CR");
    expect_A<double>(real_of(file_of_A("(5I3) (8I3) (8I3)", places + "  4  2  3 -7 -2  5  1  6\n", "IUA")).at(0, 2) ==
                             -2
                         ? real_of(file_of_A("(5I3) (8I3) (8F8.4)", places + "  4.  2.  3. -7. -1.5 5.  .001 6.25\n",
                                             "rua"))
                         : CsrMatrix<double>{},
                     "words, small letters");
}

TEST(HarwellBoeing, MirrorsByEveryTypeAndGivesPatternsOnes)
{
    const auto of = [](const std::string& type, const std::string& values) {
        return parse_any_matrix("t\n 3 1 1 1\n" + type + " 2 2 2 0\n(3I2) (2I2) (4F5.1)\n 1 3 3\n 1 2\n" + values,
                                "t.rb");
    };
    EXPECT_EQ(std::get<CsrMatrix<double>>(of("rsa", "  3.0  4.0\n")).at(0, 1), 4);
    EXPECT_EQ(std::get<CsrMatrix<double>>(of("psa", "")).at(0, 1), 1);
    EXPECT_EQ(std::get<CsrMatrix<double>>(of("rua", "  3.0  4.0\n")).at(0, 1), 0);
    EXPECT_EQ(std::get<CsrMatrix<double>>(of("rza", "  0.0  4.0\n")).at(0, 1), -4);
    EXPECT_EQ(std::get<CsrMatrix<Complex>>(of("csa", "  3.0  1.0  4.0  5.0\n")).at(0, 1), Complex(4, 5));
    EXPECT_EQ(std::get<CsrMatrix<Complex>>(of("cha", "  3.0  0.0  4.0  5.0\n")).at(0, 1), Complex(4, -5));
    expect_refusal([&] { (void)of("rza", "  3.0  4.0\n"); }, {"t.rb", "skew-symmetric", "found 3"});
    expect_refusal([&] { (void)of("cha", "  3.0  1.0  4.0  5.0\n"); }, {"t.rb", "hermitian"});
    expect_refusal([&] { (void)of("rse", "  3.0  4.0\n"); }, {"t.rb:3", "RSE", "not assembled"});
    expect_refusal([&] { (void)of("qsa", ""); }, {"t.rb:3", "another file"});
    expect_refusal(
        [] {
            (void)parse_any_matrix(
                "t\n 3 1 1 1\nrsa 2 2 4 0\n(3I2) (4I2) (4F5.1)\n 1 3 5\n 1 2 1 2\n"
                "  3.0  4.0  4.0  1.0\n",
                "t.rb");
        },
        {"one triangle"});
    EXPECT_EQ(std::get<CsrMatrix<double>>(
                  parse_any_matrix("t\n 3 1 1 1\nrra 3 1 1 0\n(2I2) (1I2) (F5.1)\n 1 2\n 3\n  7.0\n", "t"))
                  .at(2, 0),
              7);
}

TEST(HarwellBoeing, HandsOutItsRightHandSides)
{
    const std::string text =
        "t\n 6 1 1 1 2\nRUA 2 2 2 0\n(3I2) (2I2) (2F5.1) (2F5.1)\nFGX 2 0\n 1 2 3\n 1 2\n  3.0  4.0\n  1.0  2.0\n"
        "  5.0  6.0\n  9.0  9.0\n";
    expect_dense<double>(parse_any_matrix(text, "t.hb", {.part = FilePart::right_sides}), {{1, 5}, {2, 6}}, "sides");
    EXPECT_EQ(real_of(text).at(1, 1), 4);
    expect_refusal([] { (void)read_vector(foreign_file("scipy.rua")); }, {"scipy.rua", "without right-hand sides"});
    std::string many = text;
    many.replace(many.find("FGX 2"), 5, "FGX 2147483647");
    expect_refusal([&] { (void)parse_any_matrix(many, "t.hb", {.part = FilePart::right_sides}); }, {"t.hb:3"});
    std::string sparse = text;
    sparse.replace(sparse.find("FGX"), 3, "MGX");
    expect_refusal([&] { (void)parse_any_matrix(sparse, "t.hb", {.part = FilePart::right_sides}); }, {"t.hb:5", "MGX"});
}

TEST(HarwellBoeing, NamesFileAndLineInEveryRefusal)
{
    const auto refused = [](const std::string& formats, const std::string& numbers,
                            const std::vector<std::string>& words) {
        expect_refusal([&] { (void)real_of(file_of_A(formats, numbers)); }, words);
    };
    const std::string formats = "(5I3) (8I3) (8F6.2)", values = "  4.00  2.00  3.00 -7.00 -1.50  5.00   .01  6.25\n";
    refused("(5I3) (8I3)", places + values, {"t.rua:4", "formats"});
    refused("(5I3) (8I3) (8Q6.2)", places + values, {"t.rua:4", "'(8Q6.2)'"});
    refused("(5I3) (8I3) (8F0.2)", places + values, {"t.rua:4"});
    refused(formats, places + values.substr(0, 36) + "\n", {"t.rua:7", "blanks"});
    refused(formats, places + values.substr(0, 36), {"t.rua:7", "truncated"});
    refused(formats, places, {"t.rua:6", "8 values", "truncated"});
    refused(formats, "  1  3  5  7  8\n", {"t.rua", "truncated"});
    refused(formats, "  1  3  5  7  8\n" + places.substr(16) + values, {"t.rua", "8 entries"});
    refused(formats, "  1  5  3  7  9\n" + places.substr(16) + values, {"t.rua", "ascend"});
    refused(formats, "  1  3  5  7  9\n  1  3  2  4  1  3  2  5\n" + values, {"t.rua:6", "from 1 to 4", "5"});
    refused(formats, places + "  4.00  2.00  3.00   nan -1.50  5.00   .01  6.25\n", {"t.rua:7", "finite", "nan"});
    refused(formats, places + "  4.00  2.00  3.00  1e99 -1.50  5.00   .01     6\n", {"t.rua:7", "decimal point"});
    expect_refusal([] { (void)real_of("t\n 3 1 1 1\nRUA 4000000000 4 8 0\n(5I3) (8I3) (8F6.2)\n"); },
                   {"t.rua:3", "4000000000"});
    expect_refusal([] { (void)real_of("t\n 3 1 1 1\nRUA 4 4 8000000000 0\n(5I3) (8I3) (8F6.2)\n"); },
                   {"t.rua:3", "8000000000"});
    expect_refusal([] { (void)real_of("t\n 3 1 1 1\nRUA 2000000000 4 0 0\n(5I3) (8I3) (8F6.2)\n 1 1 1 1 1\n"); },
                   {"t.rua", "2000000000 rows"});
}

/// What is left of an exponent is a number, too: 3E-15 without its last digit is 3E-1.
TEST(HarwellBoeing, TakesNoPartOfANumberForIt)
{
    const std::string whole = "t\n 3 1 1 1\nRUA 1 1 1 0\n(2I3) (1I3) (1E12.4)\n  1  2\n  1\n  3.0000E-15\n";
    EXPECT_EQ(real_of(whole).val()[0], 3e-15);
    EXPECT_EQ(real_of(whole.substr(0, whole.size() - 1)).val()[0], 3e-15);
    for (std::size_t cut = 2; cut <= 13; ++cut)
        EXPECT_THROW((void)real_of(whole.substr(0, whole.size() - cut)), InvalidInput) << cut;
}

TEST(HarwellBoeing, SurvivesEveryTruncationAndEveryFlippedByte)
{
    expect_survives_damage("scipy.rua");
    expect_bytes_survive(
        "t\n 6 1 1 1 2\nRUA 2 2 2 0\n(3I2) (2I2) (2F5.1) (2F5.1)\nFGX 2 0\n 1 2 3\n 1 2\n  3.0  4.0\n"
        "  1.0  2.0\n  5.0  6.0\n",
        "t.hb");
}

TEST(FortranFormat, LaysFieldsOut)
{
    const auto fields = detail::parse_fortran_format("( 1P, 2(1X, E12.4E3), 3X, I5, f8.2 )");
    ASSERT_EQ(fields.size(), 4U);
    const std::size_t begins[] = {1, 14, 29, 34}, widths[] = {12, 12, 5, 8};
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(fields[k].begin, begins[k]);
        EXPECT_EQ(fields[k].width, widths[k]);
        EXPECT_EQ(fields[k].scale, 1);
    }
    EXPECT_TRUE(fields[2].whole);
    EXPECT_EQ(detail::parse_fortran_format("(1P5D16.9)").size(), 5U);
    for (const char* bad : {"", "(", "()", "5E16.8", "(5E16.8", "(5E16.8))", "(E)", "(0I5)", "(5A8)", "(99999999999I5)",
                            "(4000(4000(4000I4)))", "((((((I5))))))", "(I5 I5)", "(5E16.8,)", "(1X)"})
        EXPECT_THROW(detail::parse_fortran_format(bad), detail::BadLine) << bad;
}

TEST(FortranFormat, ReadsNumbersAsFortranDoes)
{
    const FortranField field{0, 20, 8, 0, false}, scaled{0, 20, 8, 2, false};
    const auto         number = [&](const char* text) { return detail::parse_fortran_number(text, field); };
    EXPECT_EQ(number("1.5E+03"), 1500);
    EXPECT_EQ(number("-1.5d3"), -1500);
    EXPECT_EQ(number("+1.5-103"), 1.5e-103);
    EXPECT_EQ(number(".5+2"), 50);
    EXPECT_EQ(number("-12."), -12);
    EXPECT_EQ(number("0"), 0);
    EXPECT_EQ(detail::parse_fortran_number("150.", scaled), 1.5);
    EXPECT_EQ(detail::parse_fortran_number("150.E0", scaled), 150);
    for (const char* bad :
         {"", "+", "-", "+-1.", "1.5X", "1.E", "1.E+9999", "12", "1.2.3", "nan", "inf", "1.5+", "--1."})
        EXPECT_THROW(number(bad), detail::BadLine) << bad;
}

TEST(HarwellBoeing, SaysSoWhenMemoryRunsOutAnywhere)
{
    EXPECT_GE(fail_each_allocation([&] { (void)read_any_matrix(foreign_file("scipy.rua")); }), 5);
}

}  // namespace
}  // namespace ilux::test
