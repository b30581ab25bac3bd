// MATLAB's files: those of other programs, and files of level 5 made here byte by byte, whole and damaged.

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>

#include "ilux/tests/base/io/foreign_files.hpp"

namespace ilux::test {
namespace {

/// Numbers as a little- or big-endian machine has them.
template <class E>
std::string raw(const std::vector<double>& numbers, std::endian order)
{
    std::string all;
    for (const double number : numbers) {
        const auto  value = static_cast<E>(number);
        std::string bytes(reinterpret_cast<const char*>(&value), sizeof(E));
        if (order != std::endian::native) std::ranges::reverse(bytes);
        all += bytes;
    }
    return all;
}

/// Elements of level 5, as MathWorks' "MAT-File Format" has them.
struct Level5 {
    std::endian order = std::endian::little;

    std::string words(const std::vector<double>& numbers) const { return raw<std::uint32_t>(numbers, order); }
    std::string element(double type, std::string data) const
    {
        const std::string head = words({type, static_cast<double>(data.size())});
        data.resize((data.size() + 7) / 8 * 8);
        return head + data;
    }
    /// Of up to four bytes, in eight.
    std::string small(double type, std::string data) const
    {
        const std::string head = words({static_cast<double>(data.size() << 16) + type});
        data.resize(4);
        return head + data;
    }
    std::string ints(const std::vector<double>& numbers) const { return element(5, raw<std::int32_t>(numbers, order)); }
    std::string doubles(const std::vector<double>& numbers) const { return element(9, raw<double>(numbers, order)); }
    std::string bytes(const std::vector<double>& numbers) const
    {
        return element(2, raw<std::uint8_t>(numbers, order));
    }

    /// @param kind  2 structure, 4 text, 5 sparse, 6 double, 9 uint8, …
    std::string variable(double kind, const std::vector<double>& sizes, const std::string& name,
                         const std::string& values, double flags = 0, double room = 0) const
    {
        return element(14, element(6, words({flags + kind, room})) + ints(sizes) + element(1, name) + values);
    }
    std::string packed(const std::string& variable) const
    {
        uLongf      size = compressBound(variable.size());
        std::string all(size, '\0');
        compress(reinterpret_cast<Bytef*>(all.data()), &size, reinterpret_cast<const Bytef*>(variable.data()),
                 variable.size());
        all.resize(size);
        return words({15, static_cast<double>(size)}) + all;
    }
    std::string file(const std::string& variables) const
    {
        std::string head = "MATLAB 5.0 MAT-file, made by a test";
        head.resize(124, ' ');
        return head + raw<std::uint16_t>({0x0100, 0x4d49}, order) + variables;
    }

    /// The matrix of expect_A(), with room for `room` entries.
    std::string sparse_A(const std::string& name, std::size_t room = 8) const
    {
        std::vector<double> row{0, 2, 1, 3, 0, 2, 1, 3}, val{4, 2, 3, -7, -1.5, 5, 1e-3, 6.25};
        row.resize(room), val.resize(room);
        return variable(5, {4, 4}, name, ints(row) + ints({0, 2, 4, 6, 8}) + doubles(val), 0, double(room));
    }
    std::string dense_B(const std::string& name) const
    {
        return variable(6, {4, 2}, name, doubles({1, 2, 0, 4, 5, 6, 7, -8}));
    }
    std::string problem() const  // as files of the SuiteSparse Matrix Collection have it
    {
        std::string names("title\0\0\0A\0\0\0\0\0\0\0b\0\0\0\0\0\0\0", 24);
        return variable(2, {1, 1}, "Problem",
                        small(5, raw<std::int32_t>({8}, order)) + element(1, names) +
                            variable(4, {1, 1}, "", small(4, raw<std::uint16_t>({'t'}, order))) + sparse_A("") +
                            dense_B(""));
    }
};

void expect_system(const std::string& bytes, const std::string& what)
{
    expect_A<double>(parse_any_matrix(bytes, what), what);
    expect_B<double>(parse_any_matrix(bytes, what, {.part = FilePart::right_sides}), what);
}

TEST(MatlabFile, ReadsWhatOtherProgramsWriteAtEveryLevel)
{
    for (const char* name : {"level_4.mat", "level_5.mat", "collection.mat"})
        expect_system(read_bytes(foreign_file(name)), name);
    expect_A<Complex>(read_any_matrix(foreign_file("packed.mat")), "packed.mat");
    expect_A<Complex>(read_any_matrix(foreign_file("complex_4.mat")), "complex_4.mat");
    EXPECT_EQ(read_matrix(foreign_file("logical.mat")).nnz(), 6);
    expect_refusal([] { (void)read_matrix(foreign_file("packed.mat")); }, {"packed.mat", "real values"});
    expect_refusal([] { (void)read_vector(foreign_file("logical.mat")); }, {"logical.mat", "M, text", "variable b"});
}

TEST(MatlabFile, ReadsVersion73WhereHdf5IsThereAndElseSaysWhatIsMissing)
{
#ifdef ILUX_WITH_HDF5
    expect_A<double>(read_any_matrix(foreign_file("level_7_3.mat")), "level_7_3.mat");
    expect_system(read_bytes(foreign_file("collection_7_3.mat")), "collection_7_3.mat");
    expect_A<Complex>(read_any_matrix(foreign_file("complex_7_3.mat")), "complex_7_3.mat");
    expect_B<Complex>(read_any_matrix(foreign_file("complex_7_3.mat"), {.part = FilePart::right_sides}), "complex");
    const std::string bytes = read_bytes(foreign_file("collection_7_3.mat"));
    for (std::size_t size = 20; size < bytes.size(); size += 7)
        EXPECT_THROW((void)parse_any_matrix(bytes.substr(0, size), "t.mat"), InvalidInput) << size;
#else
    expect_refusal([] { (void)read_any_matrix(foreign_file("level_7_3.mat")); },
                   {"level_7_3.mat", "7.3", "ILUX_HDF5", "without -v7.3"});
#endif
}

TEST(MatlabFile, ReadsEitherByteOrderPackedOrNot)
{
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        const Level5 at{order};
        const auto   A = at.sparse_A("A"), b = at.dense_B("b"), wide = at.sparse_A("A", 20);
        expect_system(at.file(A + b), "plain");
        expect_system(at.file(at.packed(A) + at.packed(b)), "packed");
        expect_system(at.file(at.packed(b) + wide), "with room for more entries, and b in front");
        expect_system(at.file(at.problem()), "a structure");
        expect_system(at.file(at.packed(at.problem())), "a packed structure");
        expect_system(at.file(at.sparse_A("stiffness") + at.dense_B("load")), "under other names");
    }
}

std::vector<double> read_back(const std::string& bytes)
{
    const auto  any = parse_any_matrix(bytes, "b", {.part = FilePart::right_sides});
    const auto& b = std::get<CsrMatrix<double>>(any);
    return {b.val().begin(), b.val().end()};
}

TEST(MatlabFile, ReadsNumbersOfEveryTypeAndLength)
{
    const Level5 at;
    const auto   of = [&](double kind, const std::string& values) {
        return read_back(at.file(at.variable(kind, {2, 1}, "b", values)));
    };
    const std::vector<double> hand{3, 7};
    EXPECT_EQ(of(6, at.bytes(hand)), hand) << "a double array that fits bytes is stored as such";
    EXPECT_EQ(of(6, at.small(2, std::string("\3\7"))), hand) << "and inside its own head";
    EXPECT_EQ(of(7, at.element(7, raw<float>(hand, at.order))), hand);
    EXPECT_EQ(of(10, at.element(3, raw<std::int16_t>({-3, 7}, at.order))), (std::vector<double>{-3, 7}));
    EXPECT_EQ(of(14, at.element(12, raw<std::int64_t>({-3, 7}, at.order))), (std::vector<double>{-3, 7}));
    const auto any =
        parse_any_matrix(at.file(at.variable(6, {2, 1}, "b", at.doubles(hand) + at.doubles({-1, 0}), 0x800)), "complex",
                         {.part = FilePart::right_sides});
    EXPECT_EQ(std::get<CsrMatrix<Complex>>(any).at(0, 0), Complex(3, -1));
}

TEST(MatlabFile, LeavesVariablesWithoutANameAlone)
{
    const Level5 at;
    expect_system(at.file(at.sparse_A("stiffness") + at.dense_B("load") +
                          at.variable(9, {1, 3}, "", at.bytes({1, 2, 3}))),
                  "MATLAB's own data");
    expect_refusal([&] { (void)parse_any_matrix(at.file(at.sparse_A("")), "nameless.mat"); },
                   {"nameless.mat", "nothing", "variable A"});
    const std::string opaque = at.element(14, at.element(6, at.words({17, 0})) + at.element(1, "text") + "MCOS");
    expect_system(at.file(opaque + at.sparse_A("A") + at.dense_B("b")), "beside an object");
}

TEST(MatlabFile, AnyFlippedBitOfAPackedFileIsRefusedOrChangesNoValue)
{
    const Level5      at;
    const std::string whole = at.file(at.packed(at.sparse_A("A")) + at.packed(at.dense_B("b")));
    const auto        A = std::get<CsrMatrix<double>>(parse_any_matrix(whole, "whole"));
    const auto B = std::get<CsrMatrix<double>>(parse_any_matrix(whole, "whole", {.part = FilePart::right_sides}));
    int        refused = 0, unpacked_bits = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string damaged = whole;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        unpacked_bits += bit / 8 < 128;
        for (const FilePart part : {FilePart::matrix, FilePart::right_sides}) try {
                const auto  any = parse_any_matrix(damaged, "damaged", {.part = part});
                const auto& good = part == FilePart::matrix ? A : B;
                const auto* read = std::get_if<CsrMatrix<double>>(&any);
                ASSERT_NE(read, nullptr) << "bit " << bit;
                EXPECT_TRUE(identical(read->val(), good.val()) && std::ranges::equal(read->col(), good.col()) &&
                            std::ranges::equal(read->row_ptr(), good.row_ptr()))
                    << "bit " << bit;
            } catch (const InvalidInput& why) {
                EXPECT_TRUE(std::string(why.what()).starts_with("damaged")) << why.what();
                ++refused;
            }
    }
    EXPECT_GE(refused, 2 * (8 * static_cast<int>(whole.size()) - unpacked_bits)) << "all but those of the head";
}

TEST(MatlabFile, RefusesEveryBeginningAndSurvivesAnyDamage)
{
    const Level5 at;
    const auto   parts = at.packed(at.sparse_A("A")) + at.dense_B("b");
    const auto   whole = at.file(parts);
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW((void)parse_any_matrix(whole.substr(0, size), "t.mat", {.part = FilePart::right_sides}),
                     InvalidInput)
            << size;
    expect_bytes_survive(whole, "t.mat");
    expect_bytes_survive(at.file(at.problem()), "t.mat");
    for (const char* name : {"level_4.mat", "complex_4.mat", "collection.mat"}) expect_survives_damage(name);
}

TEST(MatlabFile, RefusesANameThatEndsAfterTheFileEvenOfNothing)
{
    const auto words = [](const std::vector<double>& all) { return raw<std::uint32_t>(all, std::endian::little); };
    const std::string A = words({0, 1, 1, 0, 2}) + std::string("A\0", 2) + raw<double>({4}, std::endian::little);
    for (const std::size_t bytes : {0, 1, 8})
        expect_refusal(
            [&] {
                (void)parse_any_matrix(A + words({0, 0, 0, 0, 9}) + std::string(bytes, 'b'), "t.mat");
            },
            {"t.mat", "byte 30", "ends early"});
}

TEST(MatlabFile, SaysWhatIsWrongWithADamagedOne)
{
    const Level5 at;
    const auto   refused = [&](const std::string& variables, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)parse_any_matrix(at.file(variables), "t.mat"); }, words);
    };
    refused("", {"t.mat", "nothing"});
    refused(at.packed(at.sparse_A("A")) + "1234567", {"t.mat", "truncated"});
    refused(at.variable(6, {2, 2}, "A", at.doubles({1, 2, 3})), {"t.mat", "3", "4"});
    refused(at.variable(6, {2, 2}, "A", at.doubles({1, 2, 3, 4, 5})), {"t.mat", "5 values of 2 × 2"});
    refused(at.variable(5, {2, 2}, "A", at.ints({0, 5}) + at.ints({0, 1, 2}) + at.doubles({1, 2})),
            {"t.mat", "row 6", "outside"});
    refused(at.variable(5, {2, 2}, "A", at.ints({0, 1}) + at.ints({0, 2, 1}) + at.doubles({1, 2})),
            {"t.mat", "columns"});
    refused(at.variable(5, {2, 2}, "A", at.ints({0, 1}) + at.ints({0, 1, 900}) + at.doubles({1, 2})),
            {"t.mat", "columns"});
    std::string far = at.packed(at.sparse_A("A"));
    far[far.size() - 1] = static_cast<char>(far[far.size() - 1] ^ 1);
    refused(far, {"t.mat", "incorrect data check"});
}

}  // namespace
}  // namespace ilux::test
