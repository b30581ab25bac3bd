// PETSc's binary files, written by PETSc 3.18 of both kinds (make_files) and put together here.

#include <gtest/gtest.h>

#include "ilux/tests/base/io/foreign_files.hpp"

namespace ilux::test {
namespace {

CsrMatrix<double> sides_of(const std::string& name)
{
    return read_matrix(foreign_file(name), {.part = FilePart::right_sides});
}

TEST(PetscBinary, ReadsWhatPetscWritesAndTellsRealFromComplexByTheLength)
{
    expect_A<double>(read_any_matrix(foreign_file("real_system.petsc")), "real");
    expect_A<double>(read_any_matrix(foreign_file("int64.petsc")), "int64");
    expect_A<Complex>(read_any_matrix(foreign_file("complex_system.petsc")), "complex");
    for (const char* name : {"dense", "native", "vectors"}) {
        expect_B<double>(read_any_matrix(foreign_file(fmt::format("real_{}.petsc", name))), name);
        expect_B<Complex>(read_any_matrix(foreign_file(fmt::format("complex_{}.petsc", name))), name);
        expect_B<double>(sides_of(fmt::format("real_{}.petsc", name)), name);
    }
}

TEST(PetscBinary, TakesTheVectorBehindAMatrixAsItsRightHandSide)
{
    expect_dense<double>(sides_of("real_system.petsc"), {{5}, {6}, {7}, {-8}}, "real_system");
}

std::string big(std::initializer_list<std::int64_t> numbers, int bytes)
{
    std::string text;
    for (const std::int64_t number : numbers)
        for (int k = bytes - 1; k >= 0; --k) text += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * k));
    return text;
}

TEST(PetscBinary, RefusesWhatFitsNoPrecision)
{
    const auto refused = [](const std::string& bytes, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)parse_any_matrix(bytes, "t.petsc"); }, words);
    };
    const std::string values(8, '\0');
    refused(big({1211214, 3}, 4) + values, {"t.petsc", "16 bytes", "32-bit", "neither", "truncated"});
    refused(big({1211214, 1}, 8), {"64-bit"});
    refused(big({1211214, 2147483647}, 4) + values, {"neither"});
    refused(big({1211214, 0x7fffffffffffffff}, 8) + values, {"neither"});
    refused(big({1211214, -1}, 4) + values, {"neither"});
    refused(big({1211216, 1, 1, 2, 1, 0}, 4) + values, {"neither"});  // promises 2 entries, its row has 1
    refused(big({1211216, 2147483647, 2147483647, -1}, 4), {"neither"});
    refused(big({1211216, 2147483647, 2147483647, -1}, 4) + values, {"neither"});
    refused(big({1211216, 0, 0x7fffffffffffffff, -1}, 8), {"9223372036854775807"});
    refused(big({1211216, 1, 0x1000000000000000, -1}, 8) + values, {"neither"});
    refused(big({1211216, 2, 0x7fffffffffffffff, 8, 0x7f7f7f7f7f7f7f7f, 0x7f7f7f7f7f7f7f7f}, 8), {"neither"});
    refused(big({1211216, 1, 1, 1, 1, 7}, 4) + values, {"t.petsc", "row 1, column 8", "outside a 1 x 1"});
    refused(big({1211216, 1, 1, 1, 1, 0}, 4) + "\x7f\xf0" + std::string(6, '\0'), {"finite", "inf"});
    refused(big({1211214, 1}, 4) + values + big({1211214, 2}, 4) + values + values, {"1 and 2 values"});
    refused(big({1211218, 1, 0}, 4), {"index sets"});
    expect_refusal([] { (void)read_matrix(foreign_file("complex_dense.petsc")); },
                   {"complex_dense.petsc", "real values"});
    EXPECT_EQ(std::get<CsrMatrix<double>>(parse_any_matrix(big({1211216, 0, 0, 0}, 4), "t")).rows(), 0);
}

TEST(PetscBinary, SurvivesEveryTruncationAndEveryFlippedByte)
{
    for (const char* name : {"real_system.petsc", "complex_vectors.petsc", "int64.petsc", "real_native.petsc"})
        expect_survives_damage(name);
}

TEST(PetscBinary, SaysSoWhenMemoryRunsOutAnywhere)
{
    EXPECT_GE(fail_each_allocation([&] { (void)read_any_matrix(foreign_file("complex_system.petsc")); }), 5);
}

}  // namespace
}  // namespace ilux::test
