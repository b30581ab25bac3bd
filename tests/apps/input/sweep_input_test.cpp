#include "ilux/apps/input/sweep_input.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;
using Complex = std::complex<double>;

class SweepInputs : public testing::Test {
protected:
    TempFolder  folder;
    std::string G = folder.write("G.mtx", matrix_2x2(1, 2, 3, 4));
    std::string C = folder.write("C.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 2 5\n");
};

TEST_F(SweepInputs, GiveASystemForEachFrequencyInAnyOrder)
{
    SweepInput input(G, C, {0, 1, 1e3}, "auto");
    EXPECT_EQ(input.systems(), 3);
    EXPECT_EQ(input.rhs(), "ones");
    EXPECT_EQ(input.label(2), "1000 Hz");
    for (const Index k : {2, 0, 1}) {
        input.read(k);
        const double omega = 2 * std::numbers::pi * input.frequency(k);
        EXPECT_EQ(input.A().at(0, 1), Complex(2));
        EXPECT_EQ(input.A().at(1, 1), Complex(4, omega * 5));
        EXPECT_EQ(input.b()[1], Complex(1));
    }
    EXPECT_THROW(input.read(3), InvalidInput);
    EXPECT_THROW(input.read(-1), InvalidInput);
    const SequenceFacts facts = input.facts();
    EXPECT_EQ(facts.n, 2);
    EXPECT_EQ(facts.nnz, 4);
    EXPECT_TRUE(facts.complex);
    EXPECT_EQ(facts.frequencies, "0 to 1000 Hz");
}

TEST_F(SweepInputs, HaveTheRightHandSideThatWasAskedFor)
{
    const auto b = [&](const std::string& rhs, Index k) {
        SweepInput input(G, C, {1, 2}, rhs);
        input.read(k);
        return std::vector<Complex>(input.b().begin(), input.b().end());
    };
    EXPECT_EQ(b("A1", 1), (std::vector<Complex>{3, {7, 2 * std::numbers::pi * 2 * 5}}));
    EXPECT_EQ(b("random:3", 0), b("random:3", 1));
    EXPECT_EQ(b(folder.write("b.mtx", vector_2(6, 7)), 1), (std::vector<Complex>{6, 7}));
    EXPECT_EQ(b(folder.write("c.mtx", complex_vector_2({6, 1}, 7)), 0), (std::vector<Complex>{{6, 1}, 7}));
    expect_refusal([&] { b(folder.write("d.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"), 0); },
                   {"d.mtx", "3 values", "2 rows"});
    expect_refusal<InvalidOption>([&] { b("one", 0); }, {"rhs=one"});
}

TEST_F(SweepInputs, RefuseMatricesThatDoNotFit)
{
    const std::string head = "%%MatrixMarket matrix coordinate real general\n";
    const auto        refused = [&](const std::string& G_file, const std::string& C_file,
                             const std::vector<std::string>& words) {
        expect_refusal([&] { SweepInput(G_file, C_file, {1}, "auto"); }, words);
    };
    refused(G, folder.write("3.mtx", head + "3 3 1\n1 1 1\n"), {"3.mtx: 3 × 3", "G.mtx is 2 × 2"});
    refused(folder.write("tall.mtx", head + "3 2 1\n1 1 1\n"), C, {"tall.mtx: 3 rows and 2 columns", "square"});
    refused(folder.write("none.mtx", head + "0 0 0\n"), C, {"none.mtx", "0 rows"});
    refused(folder.write("z.mtx", complex_2x2(1, 2, 3, {4, 1})), C, {"z.mtx:1", "expected real values"});
    refused(G, folder.write("zc.mtx", complex_2x2(1, 2, 3, 4)), {"zc.mtx:1", "expected real values"});
    refused(G, folder.write("nan.mtx", matrix_2x2(1, 2, nan, 4)), {"nan.mtx:5", "finite"});
    refused(G, folder.write("cut.mtx", head + "2 2 2\n1 1 1\n"), {"cut.mtx"});
    refused(G, folder.file("nowhere.mtx"), {"nowhere.mtx"});
    expect_refusal(
        [&] {
            SweepInput(G, folder.write("huge.mtx", matrix_2x2(1, 2, 1e300, 4)), {1, 1e12}, "auto");
        },
        {"overflows at 1e+12 Hz", "row 2, column 1"});
    expect_refusal([&] { SweepInput(G, C, {}, "auto"); }, {"no frequencies"});
    expect_refusal([&] { SweepInput(G, C, {-1}, "auto"); }, {"-1 Hz"});
    expect_refusal<InvalidOption>([&] { SweepInput("-", "-", {1}, "auto"); }, {"standard input"});
    expect_refusal<InvalidOption>([&] { SweepInput("-", C, {1}, "-"); }, {"standard input"});
}

TEST_F(SweepInputs, TakeAnEmptyCAndModelProblems)
{
    const auto none = folder.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 0\n");
    SweepInput input(G, none, {1e9}, "auto");
    input.read(0);
    EXPECT_EQ(input.A().at(1, 1), Complex(4));
    EXPECT_EQ(SweepInput("gallery:poisson2d:n=3", "gallery:poisson2d:n=3", {1}, "auto").facts().n, 9);
}

TEST_F(SweepInputs, AreReadWithinTheTimeLimit)
{
    StopSource source;
    source.request_stop();
    expect_refusal<Cancelled>([&] { SweepInput(G, C, {1}, "auto", {.stop = source.token()}); }, {});
}

}  // namespace
}  // namespace ilux::app
