// A series of complex values, and of both.

#include <gtest/gtest.h>

#include <filesystem>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;

using Complex = std::complex<double>;
using ComplexList = std::vector<Complex>;

ComplexList list(std::span<const Complex> values) { return {values.begin(), values.end()}; }

/// As it is opened by who does not know its type.
SequenceInput<Complex> complex_input(const std::vector<std::string>& paths, const std::string& rhs = "auto")
{
    return std::get<SequenceInput<Complex>>(load_any_sequence(paths, rhs));
}

TEST(ComplexSequenceInput, GivesTheSystemsOfAComplexFolder)
{
    const TempFolder folder;
    const auto       path =
        write_complex_series(folder, {{1, 2}, 3, {0, 4}, 5, {6, -7}, 8, 9, {1, 1}}, {{1, 1}, 2, 3, {0, -4}});
    auto input = complex_input({path});
    EXPECT_EQ(input.systems(), 2);
    EXPECT_TRUE(input.facts().complex);
    input.read(1);
    EXPECT_EQ(list(input.A().val()), (ComplexList{{6, -7}, 8, 9, {1, 1}}));
    EXPECT_EQ(list(input.b()), (ComplexList{3, {0, -4}}));
    input.read(0);
    EXPECT_EQ(list(input.A().val()), (ComplexList{{1, 2}, 3, {0, 4}, 5}));
    EXPECT_EQ(list(input.b()), (ComplexList{{1, 1}, 2}));
    expect_refusal([&] { SequenceInput real({path}); }, {"complex values, where real ones are expected"});
    std::filesystem::remove(folder.file("meta.json"));
    EXPECT_EQ(complex_input({path}).systems(), 2);  // the name of the file tells
}

TEST(ComplexSequenceInput, TakesComplexValuesInTheOrderOfThePatternsLines)
{
    const TempFolder folder;
    folder.write("pattern.mtx", pattern_text(2, {{2, 2}, {1, 1}, {1, 2}}));
    folder.write("values.c128", bytes_of(ComplexList{{2, 2}, {1, 1}, {1, 2}}));
    auto input = complex_input({folder.path().string()});
    input.read(0);
    EXPECT_EQ(list(input.A().val()), (ComplexList{{1, 1}, {1, 2}, {2, 2}}));
    EXPECT_EQ(list(input.b()), (ComplexList{{2, 3}, {2, 2}}));  // A·1
    EXPECT_EQ(input.rhs(), "A1");
}

TEST(ComplexSequenceInput, TakesRealRightHandSidesOfComplexMatrices)
{
    const TempFolder folder;
    const auto       path = write_complex_series(folder, {{1, 2}, 3, {0, 4}, 5, {6, -7}, 8, 9, {1, 1}}, {});
    folder.write("rhs.f64", bytes_of({1., 2., 3., 4.}));
    auto input = complex_input({path});
    input.read(1);
    EXPECT_EQ(list(input.b()), (ComplexList{3, 4}));
    const TempFolder files;
    files.write("A_0.mtx", complex_2x2({1, 1}, 0, 0, 1));
    files.write("b_0.mtx", vector_2(5, 6));
    auto other = complex_input({files.path().string()});
    other.read(0);
    EXPECT_EQ(list(other.b()), (ComplexList{5, 6}));
    files.write("b_0.mtx", complex_vector_2({5, 1}, 6));
    auto again = complex_input({files.path().string()});
    again.read(0);
    EXPECT_EQ(list(again.b()), (ComplexList{{5, 1}, 6}));
}

TEST(ComplexSequenceInput, MakesComplexRightHandSides)
{
    const TempFolder  folder;
    const std::string path = write_complex_series(folder, {{1, 2}, 3, {0, 4}, 5, {6, -7}, 8, 9, {1, 1}}, {1, 1, 1, 1});
    const auto        b = [&](const std::string& rhs, Index k) {
        auto input = complex_input({path}, rhs);
        input.read(k);
        return list(input.b());
    };
    EXPECT_EQ(b("A1", 0), (ComplexList{{4, 2}, {5, 4}}));
    EXPECT_EQ(b("ones", 1), (ComplexList{1, 1}));
    EXPECT_EQ(b("random:4", 1), b("random:5", 0));
    EXPECT_NE(b("random:4", 0)[0].imag(), 0);
    const std::string one = folder.write("one.mtx", complex_vector_2({3, 1}, 4));
    EXPECT_EQ(b(one, 1), (ComplexList{{3, 1}, 4}));
    const TempFolder real;
    const auto       of_reals = write_series(real, {1, 2, 3, 4}, {1, 2});
    expect_refusal([&] { SequenceInput({of_reals}, one); }, {"one.mtx:1", "expected real values"});
}

TEST(ComplexSequenceInput, TellsFilesOfTheOtherTypeOfValues)
{
    const TempFolder folder;
    folder.write("A_0.mtx", complex_2x2(1, {0, 1}, 0, 2));
    folder.write("A_1.mtx", matrix_2x2(1, 1, 1, 2));
    folder.write("A_2.mtx", complex_2x2(2, {0, 1}, 0, 2));
    auto input = complex_input({folder.path().string()});
    input.read(0);
    expect_refusal([&] { input.read(1); }, {"A_1.mtx: real values", "A_0.mtx are complex"});
    input.read(2);
    EXPECT_EQ(input.A().at(0, 1), Complex(0, 1));

    folder.write("A_0.mtx", matrix_2x2(1, 1, 1, 2));
    folder.write("b_0.mtx", vector_2(1, 2));
    folder.write("b_1.mtx", complex_vector_2(1, 2));
    folder.write("b_2.mtx", vector_2(1, 2));
    auto real = std::get<SequenceInput<double>>(load_any_sequence({folder.path().string()}));
    real.read(0);
    expect_refusal([&] { real.read(1); }, {"b_1.mtx:1", "expected real values"});
    expect_refusal([&] { real.read(2); }, {"A_2.mtx: complex values", "A_0.mtx are real"});

    folder.write("A_0.mtx", "no matrix");  // the type is that of the first that can be used
    folder.write("A_1.mtx", complex_2x2(1, 1, 1, 2));
    auto second = complex_input({folder.path().string()});
    second.read(1);
    EXPECT_EQ(list(second.b()), (ComplexList{1, 2}));
}

TEST(ComplexSequenceInput, RefusesABrokenComplexFolderBeforeAnySystem)
{
    const auto refused = [](auto&& spoil, const std::vector<std::string>& words) {
        const TempFolder folder;
        write_complex_series(folder, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4});
        spoil(folder);
        expect_refusal([&] { (void)load_any_sequence({folder.path().string()}); }, words);
    };
    const auto cut = [](const char* file, std::uintmax_t bytes) {
        return [=](const TempFolder& folder) { std::filesystem::resize_file(folder.file(file), bytes); };
    };
    const auto put = [](const char* file, std::string text) {
        return [=](const TempFolder& folder) { folder.write(file, text); };
    };
    const auto meta = [&](const char* complex) {
        return put("meta.json", fmt::format(R"({{"n": 2, "nnz": 4, "k": 2{}}})", complex));
    };
    refused(cut("values.c128", 120), {"values.c128", "120 bytes", "multiple of 64", "complex numbers"});
    refused(cut("values.c128", 64), {"meta.json", "k is 2", "values.c128 say 1"});
    refused(cut("values.c128", 0), {"values.c128", "0 bytes"});
    refused(cut("rhs.c128", 63), {"rhs.c128", "63 bytes", "multiple of 32"});
    refused(cut("rhs.c128", 32), {"rhs.c128", "1 right-hand sides", "2 systems"});
    refused(put("rhs.f64", bytes_of({1., 2., 3., 4.})), {"rhs.f64", "rhs.c128", "both there"});
    refused(meta(R"(, "complex": false)"), {"values.c128", "are complex", R"("complex": false)"});
    refused(meta(R"(, "complex": 1)"), {"meta.json", "complex is 1", "true or false"});
}

TEST(ComplexSequenceInput, AsksWhichValuesCountWhereBothAreThere)
{
    const TempFolder folder;
    const auto       path = write_complex_series(folder, {1, 2, 3, {0, 4}}, {});
    folder.write("values.f64", bytes_of({1., 2., 3., 4.}));
    EXPECT_EQ(load_any_sequence({path}).index(), 1U);
    folder.write("meta.json", R"({"n": 2, "nnz": 4, "k": 1, "complex": false})");
    EXPECT_EQ(load_any_sequence({path}).index(), 0U);
    folder.write("meta.json", R"({"n": 2, "nnz": 4, "k": 1})");
    expect_refusal([&] { (void)load_any_sequence({path}); }, {"values.f64", "values.c128", "both there", "meta.json"});
    std::filesystem::remove(folder.file("values.c128"));
    folder.write("meta.json", R"({"n": 2, "nnz": 4, "k": 1, "complex": true})");
    expect_refusal([&] { (void)load_any_sequence({path}); }, {"values.f64", "are real", R"("complex": true)"});
    folder.write("meta.json", R"({"n": 2, "nnz": 4, "k": 1})");
    folder.write("rhs.c128", bytes_of(ComplexList{1, 2}));
    expect_refusal([&] { (void)load_any_sequence({path}); }, {"rhs.c128", "complex right-hand sides", "real"});
}

TEST(ComplexSequenceInput, NamesThePlaceOfAComplexNaN)
{
    const TempFolder folder;
    auto             matrix =
        complex_input({write_complex_series(folder, {1, 2, 3, 4, 5, 6, {7, ilux::test::nan}, 8}, {1, 2, 3, 4})});
    matrix.read(0);
    expect_refusal([&] { matrix.read(1); }, {"values.c128", "system 1", "row 2, column 1", "nan"});
    const TempFolder other;
    auto             side = complex_input({write_complex_series(other, {1, 2, 3, 4}, {1, {0, ilux::test::infinity}})});
    expect_refusal([&] { side.read(0); }, {"rhs.c128", "system 0", "row 2", "inf"});
}

}  // namespace
}  // namespace ilux::app
