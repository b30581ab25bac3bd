#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";

/// The values of a small file, by rows.
std::vector<double> dense(const std::string& text) { return to_dense(parse_matrix(text, "t.mtx")).a; }

void expect_refused(const std::string& text, const std::vector<std::string>& words)
{
    SCOPED_TRACE("file: " + text.substr(0, 200));
    for (int threads : {1, 3}) expect_refusal([&] { parse_matrix(text, "t.mtx", {.threads = threads}); }, words);
}

TEST(MatrixMarket, ReadsCoordinateFiles)
{
    EXPECT_EQ(dense(real_general + "2 3 3\n1 1 1.5\n2 3 -2e-3\n1 2 7\n"),
              (std::vector<double>{1.5, 7, 0, 0, 0, -2e-3}));
    EXPECT_EQ(dense("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -3\n2 1 +4\n"),
              (std::vector<double>{0, -3, 4, 0}));
    EXPECT_EQ(dense("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n"),
              (std::vector<double>{0, 1, 1, 0}));
    EXPECT_EQ(dense("%%MatrixMarket matrix coordinate double general\n1 1 1\n1 1 3\n"), (std::vector<double>{3}));
}

TEST(MatrixMarket, MirrorsSymmetricKinds)
{
    const auto of = [](const std::string& kind, const std::string& body) {
        return dense("%%MatrixMarket matrix coordinate " + kind + "\n" + body);
    };
    EXPECT_EQ(of("real symmetric", "2 2 2\n1 1 4\n2 1 -1\n"), (std::vector<double>{4, -1, -1, 0}));
    EXPECT_EQ(of("real hermitian", "2 2 2\n1 1 4\n2 1 -1\n"), (std::vector<double>{4, -1, -1, 0}));
    EXPECT_EQ(of("real skew-symmetric", "2 2 1\n2 1 3\n"), (std::vector<double>{0, -3, 3, 0}));
    EXPECT_EQ(of("real skew-symmetric", "2 2 2\n2 1 3\n2 2 0\n"), (std::vector<double>{0, -3, 3, 0}));
    EXPECT_EQ(of("pattern symmetric", "2 2 1\n2 1\n"), (std::vector<double>{0, 1, 1, 0}));
    EXPECT_EQ(of("real symmetric", "2 2 2\n1 1 4\n1 2 -1\n"), (std::vector<double>{4, -1, -1, 0}))
        << "the upper triangle alone";
    EXPECT_EQ(of("real skew-symmetric", "2 2 1\n1 2 3\n"), (std::vector<double>{0, 3, -3, 0}));
}

TEST(MatrixMarket, ReadsArraysByColumnsAndDropsTheirZeros)
{
    const auto A = parse_matrix("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n-0\n", "t.mtx");
    EXPECT_EQ(to_dense(A).a, (std::vector<double>{1, 0, 5, 2, 4, 0}));
    EXPECT_EQ(A.nnz(), 4);
    EXPECT_EQ(dense("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
              (std::vector<double>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
    EXPECT_EQ(dense("%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n"),
              (std::vector<double>{0, -1, -2, 1, 0, -3, 2, 3, 0}));
    EXPECT_EQ(dense("%%MatrixMarket matrix array real skew-symmetric\n1 1\n"), (std::vector<double>{0}));
}

TEST(MatrixMarket, ReadsEveryWayOfWritingTheSameFile)
{
    const std::vector<double> expected{1000, 5, 0, 0.25};
    const auto&               header = real_general;
    for (const std::string& text : {
             header + "2 2 3\n1 1 1000\n1 2 5\n2 2 .25\n",
             header + "2 2 3\n1 1 1000\n1 2 5\n2 2 .25",  // no last line end
             header + "% words\n\n  \t\n%\n2 2 3\n% between\n1 1 1000\n\n1 2 5\n  % more\n2 2 .25\n\n\n% end\n",
             header + "  2\t2  3 \n\t1   1 1000 \n 1 2 5\t\n2 2 .25   \n",
             header + "+2 2 03\n+1 01 1.0D+3\n1 +2 +5\n2 2 2.5d-1\n",
             header + "2 2 3\n1 1 1.E3\n1 2 5.\n2 2 25e-2\n",
             header + "2 2 3\n1 1 1.0d3\n1 2 +5.0D0\n2 2 2.5D-01\n",
             header + "2 2 4\n1 2 2\n1 1 1000\n1 2 3\n2 2 0.25\n",
         }) {
        std::string crlf, cr = text, upper = text;
        for (char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
        std::ranges::replace(cr, '\n', '\r');
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        for (const auto& variant : {text, crlf, cr, upper, "\xef\xbb\xbf" + text, "  " + text})
            EXPECT_EQ(dense(variant), expected) << variant;
    }
}

TEST(MatrixMarket, ReportsTheHeaderAndSumsDuplicates)
{
    const auto file = parse_matrix_market(
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 5\n1 1 1\n2 1 5\n2 1 6\n1 1 2\n3 3 0\n", "t.mtx");
    EXPECT_EQ(file.header.symmetry, Symmetry::symmetric);
    EXPECT_EQ(name(file.header.symmetry), "symmetric");
    EXPECT_FALSE(file.header.array);
    EXPECT_FALSE(file.header.pattern);
    EXPECT_EQ(file.header.rows, 3);
    EXPECT_EQ(file.header.cols, 3);
    EXPECT_EQ(file.header.entries, 5);
    EXPECT_EQ(file.header.size_line, 3);
    EXPECT_EQ(file.duplicates, 3) << "1 1 once, 2 1 once and its mirror";
    EXPECT_EQ(to_dense(file.A).a, (std::vector<double>{3, 11, 0, 11, 0, 0, 0, 0, 0}));
    EXPECT_EQ(file.A.nnz(), 4) << "explicit zeros are kept";
}

TEST(MatrixMarket, MayBeEmptyOrRectangular)
{
    EXPECT_EQ(parse_matrix(real_general + "0 0 0\n", "t.mtx").rows(), 0);
    EXPECT_EQ(parse_matrix(real_general + "0 0 0", "t.mtx").rows(), 0);
    EXPECT_EQ(parse_matrix(real_general + "5 2000000000 0\n", "t.mtx").cols(), 2'000'000'000);
    EXPECT_EQ(parse_matrix("%%MatrixMarket matrix array real general\n0 4\n", "t.mtx").cols(), 4);
    EXPECT_EQ(parse_matrix(real_general + "1 2147483647 1\n1 2147483647 1\n", "t.mtx").nnz(), 1);
}

TEST(MatrixMarket, NamesFileLineAndWordInEveryRefusal)
{
    expect_refused("", {"t.mtx:1:", "empty", "%%MatrixMarket"});
    expect_refused(" \n", {"t.mtx:1:"});
    expect_refused("1 2 3\n", {"t.mtx:1:", "expected '%%MatrixMarket", "found '1'"});
    expect_refused("%%MatrixMarket tensor coordinate real general\n1 1 0\n",
                   {"t.mtx:1:", "'matrix'", "found 'tensor'"});
    expect_refused("%%MatrixMarket matrix sparse real general\n1 1 0\n", {"'coordinate' or 'array'", "found 'sparse'"});
    expect_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n",
                   {"t.mtx:1:", "real values: complex ones are not read here", "found 'complex'"});
    expect_refused("%%MatrixMarket matrix coordinate rational general\n1 1 0\n", {"found 'rational'"});
    expect_refused("%%MatrixMarket matrix coordinate real diagonal\n1 1 0\n", {"found 'diagonal'"});
    expect_refused("%%MatrixMarket matrix coordinate real\n1 1 0\n", {"found the end of the line"});
    expect_refused("%%MatrixMarket matrix coordinate real general really\n1 1 0\n", {"t.mtx:1:", "found 'really'"});
    expect_refused("%%MatrixMarket matrix array pattern general\n1 1\n", {"t.mtx:1:", "pattern"});
    expect_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", {"t.mtx:1:", "skew-symmetric"});
    expect_refused(real_general, {"t.mtx:2:", "before its size line"});
    expect_refused(real_general + "% only\n", {"before its size line"});
    expect_refused(real_general + "2 2\n", {"t.mtx:2:", "number of entries", "end of the line"});
    expect_refused(real_general + "2 x 1\n", {"t.mtx:2:", "number of columns", "'x'"});
    expect_refused(real_general + "-2 2 1\n", {"number of rows", "'-2'"});
    expect_refused(real_general + "2.0 2 1\n", {"'2.0'"});
    expect_refused(real_general + "2 2 1 1\n", {"t.mtx:2:", "end of the line", "'1'"});
    expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", {"t.mtx:2:", "square", "2 x 3"});
}

TEST(MatrixMarket, TakesWhatIsTooSmallForADoubleAsZero)
{
    const auto A = parse_matrix(real_general + "1 4 4\n1 1 1e-400\n1 2 -1e-400\n1 3 1d-400\n1 4 4e-324\n", "t.mtx");
    EXPECT_EQ(A.val()[0], 0);
    EXPECT_TRUE(A.val()[1] == 0 && std::signbit(A.val()[1]));
    EXPECT_EQ(A.val()[2], 0);
    EXPECT_EQ(A.val()[3], 5e-324);
}

TEST(MatrixMarket, NamesTheLineOfABadEntry)
{
    const std::string h = real_general + "% c\n3 4 2\n\n1 1 1\n";  // the second entry stands on line 6
    expect_refused(h + "4 1 1\n", {"t.mtx:6:", "row index from 1 to 3", "'4'"});
    expect_refused(h + "0 1 1\n", {"t.mtx:6:", "row index", "'0'"});
    expect_refused(h + "1 5 1\n", {"t.mtx:6:", "column index from 1 to 4", "'5'"});
    expect_refused(h + "1 0 1\n", {"column index", "'0'"});
    expect_refused(h + "-1 1 1\n", {"'-1'"});
    expect_refused(h + "1.0 1 1\n", {"'1.0'"});
    expect_refused(h + "99999999999999999999 1 1\n", {"t.mtx:6:", "'99999999999999999999'"});
    expect_refused(h + "18446744073709551617 1 1\n", {"'18446744073709551617'"});  // 1 modulo 2^64
    expect_refused(h + "4294967297 1 1\n", {"'4294967297'"});                      // 1 modulo 2^32
    expect_refused(h + "1 1\n", {"t.mtx:6:", "a number", "end of the line"});
    expect_refused(h + "1 1 1 1\n", {"t.mtx:6:", "the end of the line", "'1'"});
    for (const char* bad : {"x", "1.2.3", "1e", "--1", "+-1", "+", "0x10", "1,5", "1.0DD3", "1.0D", "D3", "1.0E3D2",
                            "1_000", "(1,2)", "\x01\x02"})
        expect_refused(h + "1 1 " + bad + "\n", {"t.mtx:6:", "expected a number"});
    for (const char* bad : {"nan", "NaN", "-nan", "inf", "-Infinity", "1e999", "-1e999", "1d999", "+inf"})
        expect_refused(h + "1 1 " + bad + "\n", {"t.mtx:6:", "expected a finite number", bad});
    expect_refused(h + "1 1 \x7f\x80z\n", {"'\\x7f\\x80z'"});
    expect_refused(h + "1 1 " + std::string(1000, 'y') + "\n", {"'" + std::string(40, 'y') + "...'"});
    expect_refused(h + std::string("1 1 \0\n", 6), {"t.mtx:6:", "'\\x00'"});
}

TEST(MatrixMarket, RefusesTheWrongNumberOfEntries)
{
    expect_refused(real_general + "2 2 3\n1 1 1\n2 2 1111111\n",
                   {"t.mtx:5:", "ends after 2 entries", "line 2 promises 3"});
    expect_refused(real_general + "2 2 1\n1 1 1\n% c\n2 2 1\n1 2 1\n",
                   {"t.mtx:5:", "after 1 entries (line 2)", "there are 3"});
    expect_refused(real_general + "2 2 0\n1 1 1\n", {"t.mtx:3:", "after 0 entries"});
    expect_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3.00000\n",
                   {"t.mtx:6:", "ends after 3 entries"});
    expect_refused("%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", {"t.mtx:5:", "after 2 entries"});
    expect_refused("%%MatrixMarket matrix array real general\n1 2\n1 2\n", {"t.mtx:3:", "end of the line"});
}

TEST(MatrixMarket, RefusesTwoTrianglesAndASkewDiagonal)
{
    const std::string h = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n";
    expect_refused(h + "1 1 1\n2 1 5\n1 2 5\n", {"t.mtx:5:", "above the diagonal", "line 4", "one triangle"});
    expect_refused(h + "1 3 1\n1 1 5\n3 1 5\n", {"t.mtx:5:", "below the diagonal", "line 3"});
    expect_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 5\n",
                   {"t.mtx:3:", "diagonal", "found 5 at row 2"});
}

TEST(MatrixMarket, RefusesHugePromisesBeforeAskingForMemory)
{
    const AllocationCounter counter;
    const auto              refused = [](const std::string& text, const std::string& word) {
        try {
            parse_matrix(text, "t.mtx", {.threads = 1});
        } catch (const InvalidInput& why) {
            return std::string(why.what()).find(word) != std::string::npos;
        }
        return false;
    };
    EXPECT_TRUE(refused(real_general + "10 10 10000000000\n1 1 1\n", "promises 10000000000 entries"));
    EXPECT_TRUE(refused(real_general + "10 10 99999999999999999999\n1 1 1\n", "'99999999999999999999'"));
    EXPECT_TRUE(refused(real_general + "2147483648 10 1\n1 1 1\n", "at most 2147483647 rows"));
    EXPECT_TRUE(refused(real_general + "10 2147483648 1\n1 1 1\n", "at most 2147483647 columns"));
    EXPECT_TRUE(refused(real_general + "2147483647 2147483647 1\n1 1 1\n", "promises 2147483647 rows"));
    EXPECT_TRUE(refused("%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n", "entries"));
    EXPECT_TRUE(refused("%%MatrixMarket matrix array real symmetric\n2147483647 2147483647\n1\n", "entries"));
    EXPECT_LT(counter.bytes(), 1'000'000U);
}

TEST(MatrixMarket, ShowsTheHeaderBeforeAskingForMemory)
{
    const std::string       text = real_general + "67108864 67108863 1\n1 1 1\n";
    MatrixMarketHeader      shown;
    const AllocationCounter counter;
    expect_refusal(
        [&] {
            parse_matrix(text, "t.mtx", {.threads = 1, .accept = [&](const MatrixMarketHeader& header) {
                                             shown = header;
                                             throw InvalidInput("t.mtx: not square");
                                         }});
        },
        {"t.mtx: not square"});
    EXPECT_EQ(shown.rows, 67108864);
    EXPECT_EQ(shown.cols, 67108863);
    EXPECT_EQ(shown.entries, 1);
    EXPECT_LT(counter.bytes(), 1'000'000U);
}

TEST(MatrixMarket, TellsWhereTheEntryOfEachLineIs)
{
    const auto order = [](const std::string& text) {
        return parse_matrix_market(text, "t.mtx", {.line_order = true}).line_order;
    };
    using Order = std::vector<Offset>;
    const std::string pattern = "%%MatrixMarket matrix coordinate pattern ";
    EXPECT_EQ(order(pattern + "general\n3 3 4\n3 1\n1 3\n2 2\n1 1\n"), (Order{3, 1, 2, 0}));
    EXPECT_EQ(order(pattern + "general\n2 2 3\n1 1\n1 2\n2 1\n"), Order{}) << "0, 1, 2";
    EXPECT_EQ(order(real_general + "2 2 4\n2 2 1\n1 1 1\n2 2 5\n2 1 1\n"), (Order{2, 0, 2, 1})) << "a duplicate";
    EXPECT_EQ(order(pattern + "symmetric\n2 2 2\n1 1\n2 1\n"), (Order{0, 2}));
    EXPECT_EQ(order("%%MatrixMarket matrix array real general\n2 1\n0\n1\n"), Order{});
    EXPECT_EQ(order(real_general + "0 0 0\n"), Order{});
    EXPECT_TRUE(parse_matrix_market(pattern + "general\n2 2 2\n2 2\n1 1\n", "t.mtx").line_order.empty())
        << "not asked for";
}

TEST(MatrixMarket, NamesTheFileWhenDuplicatesOverflow)
{
    expect_refused(real_general + "1 1 2\n1 1 1.7e308\n1 1 1.7e308\n",
                   {"t.mtx", "row 1, column 1 (counted from 1)", "inf"});
}

/// A file long enough to be split among threads: 3 entries a row, comments and blank lines strewn in.
std::string long_text(Index rows, bool symmetric = false)
{
    Random      random(1);
    std::string text = fmt::format("%%MatrixMarket matrix coordinate real {}\n{} {} {}\n",
                                   symmetric ? "symmetric" : "general", rows, rows, 3 * rows);
    for (Index k = 0; k < 3 * rows; ++k) {
        const Index i = random.below(rows), j = random.below(symmetric ? i + 1 : rows);
        text += fmt::format("{} {} {}\n", i + 1, j + 1, random.uniform());
        if (k % 1000 == 0) text += "% comment\n\n";
    }
    return text;
}

TEST(MatrixMarket, GivesTheSameBitsForAnyNumberOfThreads)
{
    for (bool symmetric : {false, true}) {
        const auto text = long_text(30'000, symmetric);
        ASSERT_GT(text.size(), 8U << 18) << "shorter texts are not split";
        const auto expected = parse_matrix_market(text, "t.mtx", {.threads = 1});
        EXPECT_EQ(broken_invariant(expected.A), "");
        for (int threads : {2, 3, 8}) {
            const auto file = parse_matrix_market(text, "t.mtx", {.threads = threads});
            EXPECT_TRUE(identical(file.A, expected.A)) << threads << " threads";
            EXPECT_EQ(file.duplicates, expected.duplicates);
        }
    }
}

TEST(MatrixMarket, TellsTheOrderOfLinesOfAnyNumberOfThreads)
{
    for (bool symmetric : {false, true}) {
        const auto         text = long_text(30'000, symmetric);
        std::istringstream in(text);
        std::string        line;
        std::getline(in, line);
        std::getline(in, line);
        std::vector<std::pair<Index, Index>> places;  // as the lines say
        while (std::getline(in, line)) {
            std::pair<Index, Index> place;
            if (std::istringstream(line) >> place.first >> place.second) places.push_back(place);
        }
        ASSERT_EQ(places.size(), 90'000U);
        for (int threads : {1, 2, 8}) {
            const auto file = parse_matrix_market(text, "t.mtx", {.threads = threads, .line_order = true});
            ASSERT_EQ(file.line_order.size(), places.size());
            Index wrong = 0;
            for (std::size_t k = 0; k < places.size(); ++k) {
                const auto [i, j] = places[k];
                const auto p = file.line_order[k];
                wrong += p < file.A.row_ptr()[i - 1] || p >= file.A.row_ptr()[i] || file.A.col()[p] != j - 1;
            }
            EXPECT_EQ(wrong, 0);
        }
    }
}

TEST(MatrixMarket, CountsLinesAcrossTheChunksOfThreads)
{
    auto       text = long_text(30'000);
    const auto at = text.find('\n', text.size() * 9 / 10) + 1;
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
    text.insert(at, "1 1 oops\n");
    const auto early = text.find('\n', text.size() / 10) + 1;
    const auto early_line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(early), '\n') + 1;
    auto       two_faults = text;
    two_faults.insert(early, "0 1 1\n");
    for (int threads : {1, 2, 3, 8}) {
        expect_refusal([&] { parse_matrix(text, "t.mtx", {.threads = threads}); },
                       {fmt::format("t.mtx:{}:", line), "'oops'"});
        expect_refusal([&] { parse_matrix(two_faults, "t.mtx", {.threads = threads}); },
                       {fmt::format("t.mtx:{}:", early_line), "'0'"});
    }
    auto       extra = long_text(30'000);
    const auto lines = std::count(extra.begin(), extra.end(), '\n');
    extra += "1 1 1\n1 1 1\n";
    for (int threads : {1, 2, 8})
        expect_refusal([&] { parse_matrix(extra, "t.mtx", {.threads = threads}); },
                       {fmt::format("t.mtx:{}:", lines + 1), "there are 90002"});
}

TEST(MatrixMarket, WritesWhatItReadsBackBitForBit)
{
    EXPECT_TRUE(rc::check("read(write(A)) = A", [] {
        const auto rows = *rc::gen::inRange<Index>(0, 40), cols = *rc::gen::inRange<Index>(0, 40);
        auto       A = random_matrix(rows, cols, *rc::gen::inRange<Index>(0, 10), *rc::gen::arbitrary<std::uint64_t>());
        for (double& value : A.val()) {
            const double drawn = *rc::gen::arbitrary<double>();
            value = std::isfinite(drawn) ? drawn : -0.;
        }
        RC_ASSERT(identical(parse_matrix(matrix_text(A, {.comment = "one\ntwo\r\n"}), "t.mtx"), A));
    }));
    for (double value : {5e-324, std::numeric_limits<double>::max(), -std::numeric_limits<double>::min(), 0.1, -0.,
                         1e22, 123456789012345678.}) {
        const auto A = CsrMatrix<double>::from_arrays(1, 1, {0, 1}, {0}, {value});
        EXPECT_TRUE(identical(parse_matrix(matrix_text(A), "t.mtx"), A)) << matrix_text(A);
    }
}

TEST(MatrixMarket, WritesTheShortestDigitsAndOneTriangleOnRequest)
{
    const auto A = CsrMatrix<double>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.1, -2, -2, 1e100});
    EXPECT_EQ(matrix_text(A, {.comment = "by hand"}),
              "%%MatrixMarket matrix coordinate real general\n% by hand\n2 2 4\n1 1 0.1\n1 2 -2\n2 1 -2\n2 2 1e+100\n");
    EXPECT_EQ(matrix_text(A, {.symmetry = Symmetry::symmetric}),
              "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0.1\n2 1 -2\n2 2 1e+100\n");
    EXPECT_TRUE(identical(parse_matrix(matrix_text(A, {.symmetry = Symmetry::symmetric}), "t.mtx"), A));
    expect_refusal([] { matrix_text(random_matrix(3, 3, 2, 1), {.symmetry = Symmetry::symmetric}); },
                   {"3 x 3", "not symmetric"});
    const auto S = random_spd(33, 3, 1);
    EXPECT_TRUE(identical(parse_matrix(matrix_text(S, {.symmetry = Symmetry::symmetric}), "t.mtx"), S));
}

TEST(MatrixMarketVector, IsAColumnOfAnArrayOrCoordinateFile)
{
    const TempFolder folder;
    const auto array = folder.write("array.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n0\n3\n4\n5\n6\n");
    EXPECT_EQ(read_vector(array), (std::vector<double>{1, 0, 3}));
    EXPECT_EQ(read_vector(array, 1), (std::vector<double>{4, 5, 6}));
    expect_refusal([&] { read_vector(array, 2); }, {"array.mtx", "2 columns", "column 2"});
    expect_refusal([&] { read_vector(array, -1); }, {"column -1"});
    EXPECT_EQ(read_vector(folder.write("coo.mtx", real_general + "3 2 2\n2 2 7\n3 1 8\n"), 1),
              (std::vector<double>{0, 7, 0}));
    for (Index n : {0, 1, 33, 50'000}) {
        const auto x = random_vector(n, 3);
        write_vector(folder.file("x.mtx.gz"), x, {.comment = "a solution"});
        EXPECT_TRUE(identical(read_vector(folder.file("x.mtx.gz")), x)) << "n = " << n;
    }
}

TEST(MatrixMarket, SaysSoWhenMemoryRunsOutAnywhere)
{
    const auto text = long_text(9'000);
    EXPECT_GE(fail_each_allocation([&] { parse_matrix(text, "t.mtx", {.threads = 2}); }), 5);
}

TEST(MatrixMarket, ReadsRealMatrices)
{
    ILUX_SKIP_WITHOUT_MATRICES();
    const TempFolder folder;
    const auto       bus = read_matrix_market(real_matrix("494_bus", folder));
    EXPECT_EQ(bus.A.rows(), 494);
    EXPECT_EQ(bus.A.nnz(), 1666);
    EXPECT_EQ(bus.header.entries, 1080);
    EXPECT_EQ(bus.header.symmetry, Symmetry::symmetric);
    EXPECT_TRUE(is_symmetric(bus.A));
}

}  // namespace
}  // namespace ilux::test
