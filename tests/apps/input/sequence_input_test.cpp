#include "ilux/apps/input/sequence_input.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include <algorithm>
#include <functional>
#include <tuple>

#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;

using ilux::test::nan;

std::vector<double> list(std::span<const double> values) { return {values.begin(), values.end()}; }

TEST(SequenceInput, GivesTheSystemsOfAFolderInAnyOrder)
{
    const TempFolder folder;
    SequenceInput    input({write_series(folder, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 2, 3, 4, 5, 6})});
    EXPECT_EQ(input.systems(), 3);
    EXPECT_EQ(input.rhs(), "auto");
    EXPECT_EQ(input.label(2), "2");
    for (const Index k : {2, 0, 1, 1}) {
        input.read(k);
        EXPECT_EQ(list(input.A().val()), (std::vector<double>{4.0 * k + 1, 4.0 * k + 2, 4.0 * k + 3, 4.0 * k + 4}));
        EXPECT_EQ(list(input.b()), (std::vector<double>{2.0 * k + 1, 2.0 * k + 2}));
    }
    EXPECT_EQ(input.A().at(1, 0), 7);
    EXPECT_THROW(input.read(3), InvalidInput);
    EXPECT_THROW(input.read(-1), InvalidInput);
}

TEST(SequenceInput, TakesValuesInTheOrderOfThePatternsLines)
{
    const TempFolder folder;
    std::string      pattern = pattern_text(3, {{3, 1}, {1, 1}, {2, 3}, {2, 2}, {1, 3}});
    for (const std::string ends : {"\n", "\r\n", "\r"}) {
        std::string text = pattern + "  % a comment, and blank lines\n\n";
        for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + ends.size()))
            text.replace(at, 1, ends);
        folder.write("pattern.mtx", text);
        folder.write("values.f64", bytes_of({31, 11, 23, 22, 13}));
        SequenceInput input({folder.path().string()});
        input.read(0);
        EXPECT_EQ(list(input.A().val()), (std::vector<double>{11, 13, 22, 23, 31}));
        EXPECT_EQ(list(input.b()), (std::vector<double>{24, 45, 31}));  // there is no rhs.f64: A·1
        EXPECT_EQ(input.rhs(), "A1");
    }
}

TEST(SequenceInput, ReadsAPatternAsAnyMatrixIsRead)
{
    const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
    const std::string entries = "1 1\n2 2\n3 3\n1 3\n";
    const auto        read = [](const std::string& pattern) {
        const TempFolder folder;
        folder.write("pattern.mtx", pattern);
        folder.write("values.f64", bytes_of({2, 3, 4, 1}));
        SequenceInput input({folder.path().string()});
        input.read(0);
        return to_dense(input.A()).a;
    };
    const std::vector<double> A{2, 0, 1, 0, 3, 0, 0, 0, 4};
    EXPECT_EQ(read("\xef\xbb\xbf" + banner + "3 3 4\n" + entries), A) << "a byte order mark";
    for (const std::string size : {"\v3 3 4\n", "3\v3\v4\v\n", "\f3 3 4\n", "3 3\r4\n", "\r3 3 4\n", "+3 003 4\n"})
        EXPECT_EQ(read(banner + size + entries), A) << size;
    for (const std::string body :
         {"\v1 1\n2\v2\n3 3\f\n\r1 3\n", "1 1\n2\r2\n3 3\n1\r3\n", "1 1\n% a comment\r9 9\n2 2\n3 3\n1 3\n",
          "1 1\n\v% a comment\n2 2\n\r\n\v\n3 3\n \r % 2 2\n1 3", "+1 01\n2 +2\n3 3\r\n1 3\r\n"})
        EXPECT_EQ(read(banner + "3 3 4\n" + body), A) << body;
    std::string cr_lines = "\xef\xbb\xbf" + banner + "% a comment\n3 3 4\n" + entries;
    std::ranges::replace(cr_lines, '\n', '\r');
    EXPECT_EQ(read(cr_lines), A);
    expect_refusal([&] { read(banner + "3 3 4\n1 1\r2 2\n3 3\n1 3\n"); }, {"pattern.mtx:3", "'2'"});
    expect_refusal([&] { read(banner + "3 3\n4\n" + entries); }, {"pattern.mtx:2", "number of entries"});
}

TEST(SequenceInput, PairsNumberedFilesAndSortsThemByNumber)
{
    const TempFolder folder;
    for (const int k : {10, 9, 2}) {
        folder.write(fmt::format("A_{}.mtx", k), matrix_2x2(k, 1, 1, 2));
        folder.write(fmt::format("b_{}.mtx", k), vector_2(k, 0));
    }
    folder.write("notes.txt", "not a matrix");
    folder.write("Ax_1.mtx", "nor this");
    SequenceInput input({folder.path().string()});
    ASSERT_EQ(input.systems(), 3);
    const double first[] = {2, 9, 10};
    for (Index k = 0; k < 3; ++k) {
        input.read(k);
        EXPECT_EQ(input.label(k), fmt::format("A_{}.mtx", first[k]));
        EXPECT_EQ(input.A().at(0, 0), first[k]);
        EXPECT_EQ(input.b()[0], first[k]);
    }
}

TEST(SequenceInput, TakesFilesInTheOrderGivenAndLeavesOutTheirRightHandSides)
{
    const TempFolder  folder;
    const std::string two = folder.write("A_2.mtx", matrix_2x2(2, 0, 0, 1)),
                      one = folder.write("A_1.mtx", matrix_2x2(1, 0, 0, 1));
    const std::string b2 = folder.write("b_2.mtx", vector_2(7, 8)), b1 = folder.write("b_1.mtx", vector_2(5, 6));
    SequenceInput     input({two, one, b1, b2});
    ASSERT_EQ(input.systems(), 2);
    input.read(0);
    EXPECT_EQ(list(input.b()), (std::vector<double>{7, 8}));
    input.read(1);
    EXPECT_EQ(list(input.b()), (std::vector<double>{5, 6}));
}

TEST(SequenceInput, PairsByNumberHoweverItIsWritten)
{
    const TempFolder  folder;
    const std::string A1 = folder.write("A_1.mtx", matrix_2x2(1, 0, 0, 1)),
                      A2 = folder.write("A2.mtx", matrix_2x2(1, 0, 0, 1)),
                      A0 = folder.write("A_00.mtx", matrix_2x2(1, 0, 0, 1));
    folder.write("b_001.mtx", vector_2(1, 0));
    folder.write("b_02.mtx", vector_2(2, 0));
    folder.write("b0.mtx", vector_2(0, 0));
    folder.write("bridge.mtx", "no right-hand side");
    for (const auto& paths : {std::vector{folder.path().string()}, {A0, A1, A2}}) {
        SequenceInput input(paths);
        ASSERT_EQ(input.systems(), 3);
        ASSERT_EQ(input.rhs(), "auto");
        for (Index k = 0; k < 3; ++k) {
            input.read(k);
            EXPECT_EQ(input.b()[0], k);
        }
    }
    folder.write("b_1.mtx", vector_2(3, 0));
    for (const auto& paths : {std::vector{folder.path().string()}, {A1}})
        expect_refusal([&] { SequenceInput input(paths); }, {"b_1.mtx", "b_001.mtx", "one number"});
    const TempFolder named;  // by the rest of the name where that is no number
    const auto       mesh = named.write("A_mesh.mtx", matrix_2x2(1, 0, 0, 1));
    named.write("b_mesh.mtx", vector_2(7, 8));
    SequenceInput input({mesh});
    input.read(0);
    EXPECT_EQ(list(input.b()), (std::vector<double>{7, 8}));
}

TEST(SequenceInput, RefusesARightHandSideOfNoMatrixAmongFiles)
{
    const TempFolder  folder;
    const std::string one = folder.write("A_1.mtx", matrix_2x2(1, 0, 0, 1)),
                      b7 = folder.write("b_7.mtx", vector_2(1, 1));
    expect_refusal([&] { SequenceInput({one, b7}); }, {"b_7.mtx", "no matrix goes with it"});
    EXPECT_EQ(SequenceInput({one}).rhs(), "A1");  // not asked for
    const std::string b8 = folder.write("b_8.mtx", matrix_2x2(1, 0, 0, 1)),
                      b9 = folder.write("b_9.mtx", matrix_2x2(1, 0, 0, 1));
    EXPECT_EQ(SequenceInput({b8, b9}).systems(), 2);  // whoever names matrices so
}

TEST(SequenceInput, AFirstFileThatCannotBeUsedIsRefusedInItsTurn)
{
    const TempFolder  folder;
    const std::string good = matrix_2x2(3, 1, 1, 2);
    const std::string bads[] = {matrix_2x2(nan, 1, 1, 2),
                                "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n",
                                good.substr(0, good.size() - 6)};
    for (const std::string& bad : bads) {
        folder.write("A_0.mtx", bad);
        folder.write("A_1.mtx", good);
        folder.write("A_2.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n");
        SequenceInput input({folder.path().string()});
        ASSERT_EQ(input.systems(), 3);
        expect_refusal([&] { input.read(0); }, {"A_0.mtx"});
        input.read(1);
        EXPECT_EQ(input.A().at(0, 0), 3);
        EXPECT_EQ(list(input.b()), (std::vector<double>{4, 3}));
        expect_refusal([&] { input.read(2); }, {"A_2.mtx: 3 × 3, but", "A_1.mtx is 2 × 2"});
        folder.write("A_1.mtx", bad);
        folder.write("A_2.mtx", bad);
        expect_refusal([&] { SequenceInput({folder.path().string()}); }, {"A_0.mtx"});
    }
}

/// Entries of a 3×3 matrix, counted from 1.
std::string matrix_3x3(const std::vector<std::tuple<int, int, double>>& entries)
{
    std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n3 3 {}\n", entries.size());
    for (const auto& [i, j, value] : entries) text += fmt::format("{} {} {}\n", i, j, value);
    return text;
}

TEST(SequenceInput, AMemberIsReadOnTheUnionOfThePatternsSoFar)
{
    const TempFolder folder;
    folder.write("A_0.mtx", matrix_3x3({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}));
    folder.write("A_1.mtx", matrix_3x3({{1, 1, 4}, {2, 1, 5}, {2, 2, 6}, {3, 3, 7}}));  // one more
    folder.write("A_2.mtx", matrix_3x3({{1, 1, 8}, {3, 3, 9}}));                        // fewer
    folder.write("A_3.mtx", matrix_3x3({{1, 3, 1}, {2, 2, 1}, {3, 1, 1}}));             // both
    SequenceInput             input({folder.path().string()});
    const auto                dense = [&] { return to_dense(input.A()).a; };
    const auto&               none = std::vector<Offset>{};
    const auto                text = [&] { return input.remarks().empty() ? std::string() : input.remarks().front(); };
    const std::vector<double> A0{1, 0, 0, 0, 2, 0, 0, 0, 3}, A1{4, 0, 0, 5, 6, 0, 0, 0, 7},
        A2{8, 0, 0, 0, 0, 0, 0, 0, 9}, A3{0, 0, 1, 0, 1, 0, 1, 0, 0};
    input.read(0);
    EXPECT_EQ(dense(), A0);
    EXPECT_EQ(input.take_growth(), none);
    EXPECT_EQ(text(), "");
    input.read(1);
    EXPECT_EQ(dense(), A1);
    EXPECT_EQ(input.take_growth(), (std::vector<Offset>{0, 2, 3}));
    EXPECT_EQ(input.take_growth(), none);
    EXPECT_NE(text().find("A_1.mtx: another pattern than"), std::string::npos) << text();
    EXPECT_NE(text().find("row 2, column 1 (counted from 1) is new"), std::string::npos) << text();
    input.read(2);
    EXPECT_EQ(dense(), A2);
    EXPECT_EQ(list(input.b()), (std::vector<double>{8, 0, 9}));  // A·1
    EXPECT_EQ(input.take_growth(), none);
    input.read(3);
    EXPECT_EQ(dense(), A3);
    EXPECT_EQ(input.A().nnz(), 6);
    input.read(0);
    EXPECT_EQ(dense(), A0);
    EXPECT_EQ(input.A().nnz(), 6);
    EXPECT_EQ(input.take_growth(), (std::vector<Offset>{0, 2, 3, 5}));
    EXPECT_EQ(input.remarks().size(), 1U) << "said once";
}

TEST(SequenceInput, FilesOfOtherNamesThatDifferInANumberAreASeries)
{
    using Names = std::function<std::string(int)>;
    const std::pair<Names, Names> names[] = {{[](int k) { return fmt::format("study_Jacobian_N300_{:02}.mtx", k); },
                                              [](int k) { return fmt::format("study_Residual_N300_{:02}.mtx", k); }},
                                             {[](int k) { return fmt::format("matrix_CASE10k_AC_{}.mtx", k); },
                                              [](int k) { return fmt::format("rhs_CASE10k_AC_{}.mtx", k); }},
                                             {[](int k) { return fmt::format("mat_t={:.4f}.mtx", 1e-3 * k); },
                                              [](int k) { return fmt::format("vec_t={:.4f}.mtx", 1e-3 * k); }},
                                             {[](int k) { return fmt::format("J{}e-05s.mtx", k); },
                                              [](int k) { return fmt::format("F{}e-05s.mtx", k); }}};
    for (const auto& [A, b] : names) {
        const TempFolder folder;
        for (const int k : {11, 2, 10, 0}) {
            folder.write(A(k), matrix_2x2(1 + k, 1, 1, 2));
            folder.write(b(k), vector_2(k, 7));
            folder.write(fmt::format("x_{:03}.mtx", k), vector_2(0, 0));  // of a former run
        }
        folder.write("notes.txt", "not a matrix");
        SequenceInput input({folder.path().string()});
        ASSERT_EQ(input.systems(), 4);
        const int order[] = {0, 2, 10, 11};
        for (Index k = 0; k < 4; ++k) {
            input.read(k);
            EXPECT_EQ(input.label(k), A(order[k]));
            EXPECT_EQ(input.A().at(0, 0), 1 + order[k]);
            EXPECT_EQ(input.b()[0], order[k]);
        }
        folder.write(b(5), vector_2(1, 1));
        expect_refusal([&] { SequenceInput({folder.path().string()}); }, {b(5), "no matrix goes with it"});
        std::filesystem::remove(folder.file(b(5)));
        folder.write("mass_3.mtx", matrix_2x2(1, 0, 0, 1));
        expect_refusal([&] { SequenceInput({folder.path().string()}); },
                       {"2 series of matrices", "mass_#", "files of one"});
    }
    const TempFolder empty;
    empty.write("b_7.mtx", vector_2(1, 2));
    expect_refusal([&] { SequenceInput({empty.path().string()}); }, {"pattern.mtx", "A_000.mtx", "differ in a number"});
}

TEST(SequenceInput, OneMatrixServesManyRightHandSides)
{
    for (const std::string name : {"A.mtx", "A_0.mtx", "A_7.mtx", "stiffness.mtx"}) {
        const TempFolder         folder;
        std::vector<std::string> paths{folder.write(name, matrix_2x2(3, 1, 1, 2))};
        for (const int k : {0, 2, 10}) paths.push_back(folder.write(fmt::format("b_{}.mtx", k), vector_2(k, 7)));
        for (const auto& given : {std::vector{folder.path().string()}, paths}) {
            if (given.size() > 1 && !name.starts_with("A")) continue;  // files of other names are matrices each
            SequenceInput input(given);
            ASSERT_EQ(input.systems(), 3) << name;
            const int order[] = {0, 2, 10};
            for (Index k = 0; k < 3; ++k) {
                input.read(k);
                EXPECT_EQ(input.label(k), fmt::format("b_{}.mtx", order[k]));
                EXPECT_EQ(input.A().at(0, 0), 3);
                EXPECT_EQ(list(input.b()), (std::vector<double>{double(order[k]), 7}));
            }
            EXPECT_NE(input.remarks().front().find(name + " serves all 3"), std::string::npos);
        }
    }
}

TEST(SequenceInput, ARowOfNValuesIsTakenAsAColumnAndSaysSo)
{
    const TempFolder  folder;
    const std::string row = "%%MatrixMarket matrix array real general\n1 2\n7\n8\n";
    folder.write("A_0.mtx", matrix_2x2(3, 1, 1, 2));
    const std::string b = folder.write("b_0.mtx", row);
    for (const std::string rhs : {"auto", b.c_str()}) {
        SequenceInput input({folder.path().string()}, rhs);
        input.read(0);
        EXPECT_EQ(list(input.b()), (std::vector<double>{7, 8}));
        ASSERT_EQ(input.remarks().size(), 1U);
        EXPECT_NE(input.remarks()[0].find("b_0.mtx: a row of 2 values, taken as a column"), std::string::npos);
    }
}

TEST(SequenceInput, MakesTheRightHandSidesItIsAskedFor)
{
    const TempFolder  folder;
    const std::string path = write_series(folder, {1, 2, 3, 4, 5, 6, 7, 8}, {9, 9, 9, 9});
    const auto        b = [&](const std::string& rhs, Index k) {
        SequenceInput input({path}, rhs);
        input.read(k);
        return list(input.b());
    };
    EXPECT_EQ(b("A1", 1), (std::vector<double>{11, 15}));
    EXPECT_EQ(b("ones", 1), (std::vector<double>{1, 1}));
    EXPECT_EQ(b("random:4", 1), b("random:5", 0));
    EXPECT_NE(b("random:4", 1), b("random:4", 0));
    const std::string one = folder.write("one.mtx", vector_2(3, 4));
    EXPECT_EQ(b(one, 0), b(one, 1));
    EXPECT_EQ(b(one, 1), (std::vector<double>{3, 4}));
    const std::string each = folder.write("each.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    EXPECT_EQ(b(each, 0), (std::vector<double>{1, 2}));
    EXPECT_EQ(b(each, 1), (std::vector<double>{3, 4}));
    expect_refusal([&] { b(folder.write("long.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"), 0); },
                   {"long.mtx", "3 values", "2 rows"});
    expect_refusal<InvalidOption>([&] { b("one", 0); }, {"rhs=one", "did you mean 'ones'"});
    expect_refusal<InvalidOption>([&] { b("random:x", 0); }, {"random:SEED"});
}

TEST(SequenceInput, RefusesABrokenFolderBeforeAnySystem)
{
    const auto refused = [](auto&& spoil, const std::vector<std::string>& words) {
        const TempFolder folder;
        write_series(folder, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4});
        spoil(folder);
        expect_refusal([&] { SequenceInput input({folder.path().string()}); }, words);
    };
    const auto cut = [](const char* file, std::uintmax_t bytes) {
        return [=](const TempFolder& folder) { std::filesystem::resize_file(folder.file(file), bytes); };
    };
    const auto put = [](const char* file, std::string text) {
        return [=](const TempFolder& folder) { folder.write(file, text); };
    };
    const auto drop = [](const char* file) {
        return [=](const TempFolder& folder) { std::filesystem::remove(folder.file(file)); };
    };
    refused(cut("values.f64", 60), {"values.f64", "60 bytes", "multiple of 32"});
    refused(cut("values.f64", 32), {"meta.json", "k is 2", "say 1"});
    refused(cut("values.f64", 0), {"values.f64", "0 bytes"});
    refused(cut("rhs.f64", 31), {"rhs.f64", "31 bytes"});
    refused(cut("rhs.f64", 16), {"rhs.f64", "1 right-hand sides", "2 systems"});
    refused(drop("values.f64"), {"values.f64"});
    refused(drop("pattern.mtx"), {"neither pattern.mtx"});
    refused(put("meta.json", R"({"n": 3, "nnz": 4, "k": 2})"), {"meta.json", "n is 3", "say 2"});
    refused(put("meta.json", R"({"n": 2, "nnz": 4})"), {"meta.json", "k is null"});
    refused(put("meta.json", "{"), {"meta.json", "not a JSON object"});
    refused(put("pattern.mtx", pattern_text(2, {{1, 1}, {1, 1}, {2, 1}, {2, 2}})), {"pattern.mtx", "stand twice"});
    refused(put("pattern.mtx", pattern_text(2, {{1, 1}, {2, 3}})), {"pattern.mtx:5"});
    refused(put("pattern.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"), {"general"});
    refused(put("pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 1\n"),
            {"2 rows and 3 columns"});
}

TEST(SequenceInput, NamesThePlaceOfANaN)
{
    const TempFolder folder;
    SequenceInput    matrix({write_series(folder, {1, 2, 3, 4, 5, 6, nan, 8}, {1, 2, 3, 4})});
    matrix.read(0);
    expect_refusal([&] { matrix.read(1); }, {"values.f64", "system 1", "row 2, column 1", "nan"});
    const TempFolder other;
    SequenceInput    side({write_series(other, {1, 2, 3, 4, 5, 6, 7, 8}, {1, INFINITY, 3, 4})});
    expect_refusal([&] { side.read(0); }, {"rhs.f64", "system 0", "row 2", "inf"});
    side.read(1);
    EXPECT_EQ(list(side.b()), (std::vector<double>{3, 4}));
}

TEST(SequenceInput, NamesTheEntryByWhichPatternsDifferAndRefusesAnotherOrder)
{
    const TempFolder                          folder;
    const std::string                         banner = "%%MatrixMarket matrix coordinate real general\n";
    const std::string                         first = folder.write("A_0.mtx", banner + "3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
    const std::pair<std::string, std::string> others[] = {
        {banner + "3 3 4\n1 1 1\n2 1 1\n2 2 1\n3 3 1\n", "the entry at row 2, column 1 (counted from 1) is new"},
        {banner + "3 3 2\n1 1 1\n3 3 1\n", "row 2, column 2 (counted from 1) is missing"},
        {banner + "3 3 3\n1 1 1\n2 2 1\n3 2 1\n", "row 3, column 2 (counted from 1) is new"},
    };
    for (const auto& [text, words] : others) {
        SequenceInput input({first, folder.write("A_1.mtx", text), first});
        input.read(0);
        input.read(1);
        ASSERT_EQ(input.remarks().size(), 1U);
        EXPECT_NE(input.remarks()[0].find("A_1.mtx: another pattern than"), std::string::npos);
        EXPECT_NE(input.remarks()[0].find(words), std::string::npos) << input.remarks()[0];
        input.read(2);
        EXPECT_EQ(to_dense(input.A()).a, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
    }
    SequenceInput input({first, folder.write("A_1.mtx", banner + "2 2 2\n1 1 1\n2 2 1\n"), first});
    expect_refusal([&] { input.read(1); }, {"A_1.mtx", "2 × 2"});
    input.read(2);
    EXPECT_EQ(input.A().nnz(), 3);
}

TEST(SequenceInput, RefusesFilesThatContradictOneAnother)
{
    const TempFolder  folder;
    const std::string one = folder.write("A_1.mtx", matrix_2x2(1, 0, 0, 1)),
                      two = folder.write("A_2.mtx", matrix_2x2(1, 0, 0, 1));
    folder.write("b_1.mtx", vector_2(1, 1));
    expect_refusal([&] { SequenceInput({folder.path().string()}); }, {"A_2.mtx", "no right-hand side"});
    expect_refusal([&] { SequenceInput({one, folder.path().string()}); }, {"a series is one folder, or files alone"});
    expect_refusal([&] { SequenceInput({folder.file("A_7.mtx")}); }, {"A_7.mtx", "no such file"});
    expect_refusal([&] { SequenceInput(std::vector<std::string>{}); }, {});
    folder.write("b_2.mtx", vector_2(1, 1));
    folder.write("b_3.mtx", vector_2(1, 1));
    expect_refusal([&] { SequenceInput({folder.path().string()}); }, {"b_3.mtx", "no matrix"});
    std::filesystem::remove(folder.file("b_3.mtx"));
    folder.write("A_01.mtx", matrix_2x2(1, 0, 0, 1));
    expect_refusal([&] { SequenceInput({folder.path().string()}); }, {"A_01.mtx", "A_1.mtx", "one number"});
}

}  // namespace
}  // namespace ilux::app
