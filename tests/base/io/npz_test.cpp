// Files of SciPy and NumPy, written by these (make_files) and damaged here.

#include "ilux/base/io/npy.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/base/io/foreign_files.hpp"

namespace ilux::test {
namespace {

TEST(Npz, ReadsEveryLayoutThatSciPyWritesOfCsrCscAndCoo)
{
    for (const char* name : {"csr.npz", "csc.npz", "coo.npz", "coo_array.npz", "stored.npz", "int64.npz"})
        expect_A<double>(read_any_matrix(foreign_file(name)), name);
    expect_A<Complex>(read_any_matrix(foreign_file("complex.npz")), "complex.npz");
    expect_A<Complex>(read_matrix<Complex>(foreign_file("complex.npz")), "complex.npz");
    EXPECT_EQ(read_matrix<Complex>(foreign_file("csr.npz")).at(0, 2), Complex(-1.5));
    expect_B<double>(read_any_matrix(foreign_file("one_array.npz")), "one_array.npz");
}

TEST(Npz, ReadsSparseArraysOfOneDimensionAsAColumn)
{
    for (const char* name : {"coo_vector.npz", "csr_vector.npz", "row_vector.npz"})
        EXPECT_EQ(read_vector(foreign_file(name)), (std::vector<double>{1, 2, 0, 4})) << name;
    expect_A<double>(read_any_matrix(foreign_file("coords.npz")), "coords.npz");
}

TEST(Npy, ReadsArraysOfEveryOrderAndType)
{
    for (const char* name : {"rows.npy", "columns.npy", "big_endian.npy", "single.npy", "int16.npy"})
        expect_B<double>(read_any_matrix(foreign_file(name)), name);
    expect_B<Complex>(read_any_matrix(foreign_file("complex.npy")), "complex.npy");
    EXPECT_EQ(read_vector(foreign_file("vector.npy")), (std::vector<double>{5, 6, 7, -8}));
    EXPECT_EQ(read_vector(foreign_file("rows.npy"), 1), (std::vector<double>{5, 6, 7, -8}));
}

TEST(Npy, ComesBackBitForBit)
{
    const TempFolder folder;
    for (const Index n : {0, 1, 31, 32, 33}) {
        const auto x = random_vector(3 * n, 1);
        write_npy<double>(folder.file("x.npy"), n, x);
        if (n == 0) continue;
        for (Index j = 0; j < 3; ++j) {
            const auto column = read_vector(folder.file("x.npy"), j);
            EXPECT_TRUE(identical(column, std::span(x).subspan(static_cast<std::size_t>(j) * n, n))) << n;
        }
    }
    const std::vector<Complex> z{{1, -2}, {0, 3}};
    write_npy<Complex>(folder.file("z.npy"), 2, z);
    EXPECT_EQ(read_vector<Complex>(folder.file("z.npy")), z);
    EXPECT_THROW(write_npy<double>(folder.file("bad.npy"), 2, std::vector<double>(3)), InvalidInput);
}

TEST(Npz, RefusesOtherLayoutsWithTheWayToConvertThem)
{
    for (const char* name : {"bsr", "dia"})
        expect_refusal([&] { (void)read_any_matrix(foreign_file(fmt::format("{}.npz", name))); },
                       {name, ".tocsr()", "csr, csc and coo"});
    expect_refusal([] { (void)read_any_matrix(foreign_file("two_arrays.npz")); },
                   {"two_arrays.npz", "b, c", "save_npz"});
    expect_refusal([] { (void)read_any_matrix(foreign_file("half.npy")); }, {"half.npy", "f2", ".astype(float)"});
    expect_refusal([] { (void)read_matrix<double>(foreign_file("complex.npz")); }, {"complex.npz", "real values"});
    expect_refusal([] { (void)read_vector(foreign_file("rows.npy"), 2); }, {"2 columns"});
}

/// The text of a .npy file of doubles.
std::string npy(const std::string& head, std::size_t bytes)
{
    std::string text("\x93NUMPY\1\0", 8);
    text += static_cast<char>(head.size());
    text += '\0';
    return text + head + std::string(bytes, '\0');
}

TEST(Npy, RefusesHeadsThatPromiseWhatIsNotThere)
{
    const auto refused = [](const std::string& head, std::size_t bytes, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)parse_any_matrix(npy(head, bytes), "t.npy"); }, words);
    };
    const auto of = [](const std::string& type, const std::string& shape) {
        return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    };
    refused(of("<f8", "(2, 2)"), 24, {"t.npy", "24 bytes"});
    refused(of("<f8", "(2, 2)"), 40, {"40 bytes"});
    refused(of("<f8", "(4294967296, 4294967296)"), 0, {"0 bytes"});
    refused(of("<f8", "(9223372036854775807, 9)"), 8, {"8 bytes"});
    refused(of("<f8", "(3000000000, 0)"), 0, {"3000000000", "2147483647"});
    refused(of("<f8", "(2147483647, 0)"), 0, {"2147483647 rows"});
    refused(of("<f8", "(1, 1, 1)"), 8, {"3 dimensions"});
    refused(of("<f8", "()"), 8, {"0 dimensions"});
    refused(of("<f8", "(-1,)"), 8, {"shape"});
    refused(of("|O", "(1,)"), 8, {"Python objects"});
    refused(of("<f16", "(1,)"), 16, {"f16"});
    refused("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", 8, {"structures"});
    refused("{'fortran_order': False, 'shape': (1,), }", 8, {"descr"});
    refused("{'descr': '<f8'", 8, {"fortran_order"});
    std::string nan_value = npy(of("<f8", "(2,)"), 16);
    nan_value.replace(nan_value.size() - 2, 2, "\xf8\x7f");
    expect_refusal([&] { (void)parse_any_matrix(nan_value, "t.npy"); }, {"t.npy", "finite", "row 2, column 1", "nan"});
}

TEST(Npz, SurvivesEveryTruncationAndEveryFlippedByte)
{
    for (const char* name : {"csr.npz", "stored.npz", "complex.npz", "csc.npz", "rows.npy"})
        expect_survives_damage(name);
}

TEST(Npz, RefusesPromisesThatItsBytesCannotHoldBeforeAskingForMemory)
{
    std::string archive = read_bytes(foreign_file("csr.npz"));
    const auto  directory = archive.find("PK\1\2");
    archive.replace(directory + 24, 4, "\xff\xff\xff\x7f");  // 2 GB unpacked
    const AllocationCounter counter;
    expect_refusal([&] { (void)parse_any_matrix(archive, "t.npz"); }, {"t.npz", "cannot hold the 2147483647"});
    EXPECT_LT(counter.bytes(), 100'000U);
}

TEST(Npz, SaysSoWhenMemoryRunsOutAnywhere)
{
    for (const char* name : {"csr.npz", "csc.npz", "coo.npz", "complex.npz"})
        EXPECT_GE(fail_each_allocation([&] { (void)read_any_matrix(foreign_file(name)); }), 5) << name;
}

}  // namespace
}  // namespace ilux::test
