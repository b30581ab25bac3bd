// Files of any kind through the one function that reads them all.

#include "ilux/base/io/matrix_file.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "ilux/tests/base/io/foreign_files.hpp"

namespace ilux::test {
namespace {

TEST(MatrixFile, GoesByTheFirstBytesAndNotByTheName)
{
    const TempFolder folder;
    for (const char* name : {"csr.npz", "real_system.petsc", "scipy.rua"})
        expect_A<double>(read_any_matrix(folder.write("A.mtx", read_bytes(foreign_file(name)))), name);
    EXPECT_EQ(read_matrix(folder.write("A.npz", "%%MatrixMarket matrix array real general\n1 1\n7\n")).at(0, 0), 7);
}

TEST(MatrixFile, UndoesGzipOfEveryKind)
{
    const TempFolder folder;
    for (const char* name : {"stored.npz", "real_system.petsc", "scipy.rua"}) {
        const std::string bytes = read_bytes(foreign_file(name)), path = folder.file("A.gz");
        gzFile            file = gzopen(path.c_str(), "wb");
        gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
        gzclose(file);
        expect_A<double>(read_any_matrix(path), name);
    }
}

TEST(MatrixFile, NamesOtherKindsWithWhatToDoAboutThem)
{
    const auto refused = [](const std::string& bytes, const std::string& name, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)parse_any_matrix(bytes, name); }, words);
    };
    refused("\x28\xb5\x2f\xfd....", "A.mtx.zst", {"A.mtx.zst", "zstd -d"});
    refused(std::string("\xfd"
                        "7zXZ\0",
                        6),
            "A", {"xz -dk"});
    refused("BZh91", "A", {"bzip2"});
    refused(std::string(257, 'x') + "ustar", "A.tar", {"tar xf"});
    refused(std::string("\x89HDF\r\n\x1a\n", 8), "A.h5", {"HDF5", "h5py"});
    refused("\x80\x04xx", "A.pkl", {"pickle"});
    refused("hello", "A.npz", {"A.npz", "not a SciPy matrix", "damaged"});
    refused("hello", "A.txt", {"A.txt:1:", "'%%MatrixMarket"});
    refused("", "A.npz", {"A.npz"});
    refused("", "A.mtx", {"A.mtx:1:", "empty"});
}

TEST(MatrixFile, ShowsTheHeaderOfEveryKindBeforeItTakesMemory)
{
    for (const char* name : {"csr.npz", "csc.npz", "rows.npy", "real_system.petsc", "scipy.rua"}) {
        MatrixMarketHeader shown;
        EXPECT_THROW((void)read_any_matrix(foreign_file(name), {.accept =
                                                                    [&](const MatrixMarketHeader& header) {
                                                                        shown = header;
                                                                        throw OutOfTime("enough");
                                                                    }}),
                     OutOfTime)
            << name;
        EXPECT_EQ(shown.rows, 4) << name;
        EXPECT_EQ(shown.entries, 8) << name;
    }
}

TEST(MatrixFile, TellsEndingsOfNames)
{
    for (const char* name : {"A.mtx", "A.mtx.gz", "A.npz", "A.npy", "A.mat", "A.rua", "A.petsc"}) {
        EXPECT_TRUE(names_matrix_file(name)) << name;
        EXPECT_EQ(without_file_ending(name), "A") << name;
    }
    for (const char* name : {"A", "A.gz", "A.html", "values.f64"}) EXPECT_FALSE(names_matrix_file(name)) << name;
}

TEST(MatrixFile, WritesSolutionsForMatrixMarketAndNumPyBitForBit)
{
    const TempFolder folder;
    const auto       X = random_vector(99, 1);
    for (const char* name : {"x.mtx", "x.npy", "x.mtx.gz", "x.npy.gz"}) {
        write_solution<double>(folder.file(name), 33, X, "a comment");
        for (Index j = 0; j < 3; ++j)
            EXPECT_TRUE(identical(read_vector(folder.file(name), j), std::span(X).subspan(33 * j, 33))) << name;
    }
}

}  // namespace
}  // namespace ilux::test
