#include "ilux/apps/input/problem.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;

constexpr const char* banner = "%%MatrixMarket matrix coordinate real general\n";

TEST(Problem, IsRefusedByItsSizesBeforeMemoryIsAskedFor)
{
    const TempFolder  folder;
    const std::string A = folder.write("A.mtx", matrix_2x2(1, 0, 0, 1)),
                      tall = folder.write("tall.mtx", std::string(banner) + "67108864 1 1\n1 1 1\n"),
                      huge = folder.write("huge.mtx", std::string(banner) + "67108864 67108864 1\n1 1 1\n");
    const auto refused = [](auto&& load, const std::vector<std::string>& words) {
        const AllocationCounter counter;
        expect_refusal(load, words);
        EXPECT_LT(counter.bytes(), 1'000'000U);
    };
    refused([&] { load_problem(tall, "A1"); }, {"tall.mtx", "67108864 rows and 1 columns", "square"});
    refused([&] { load_problem(A, tall); }, {"tall.mtx", "67108864 values", "2 rows"});
    refused([&] { load_problem(A, huge); }, {"huge.mtx", "67108864 values", "2 rows"});
    refused([&] { SequenceInput({tall}); }, {"tall.mtx", "square"});
    refused([&] { SequenceInput({A}, tall); }, {"tall.mtx", "67108864 values", "2 rows"});
    SequenceInput series({A, huge});
    refused([&] { series.read(1); }, {"huge.mtx: 67108864 × 67108864, but", "2 × 2"});
    folder.write("pattern.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n67108864 67108864 1\n1 1\n");
    refused([&] { SequenceInput({folder.path().string()}); }, {"pattern.mtx", "general"});
}

TEST(Problem, OfTheGalleryHasTheValuesOfItsKind)
{
    using Complex = std::complex<double>;
    EXPECT_TRUE(std::holds_alternative<Problem<>>(load_any_problem("gallery:poisson2d:n=3", "A1")));
    const auto  any = load_any_problem("gallery:ac_mesh:n=3", "random:5");
    const auto& problem = std::get<Problem<Complex>>(any);
    EXPECT_TRUE(problem.complex && problem.symmetric && !problem.hermitian);
    EXPECT_EQ(problem.b, gallery::random_vector<Complex>(9, 5));
    EXPECT_NE(problem.about.find("complex"), std::string::npos);
    const auto sums = std::get<Problem<Complex>>(load_any_problem("gallery:maxwell3d:n=2", "A1")).b;
    ASSERT_EQ(sums.size(), 6U);
    const double  squared = gallery::ten_points * gallery::ten_points;
    const Complex spokes = 4. - squared * Complex(1, -0.1);  // the others cancel
    for (const Complex& sum : sums) EXPECT_NEAR(std::abs(sum - spokes), 0, 1e-14);
    expect_refusal<InvalidOption>([] { load_problem("gallery:ac_mesh:n=3", "A1"); }, {"ac_mesh:n=3", "complex"});
    EXPECT_TRUE(std::holds_alternative<CsrMatrix<Complex>>(load_any_matrix("gallery:ac_mesh:n=3").A));
}

TEST(Problem, IsReadWithinItsTime)
{
    const auto never = ReadLimit{}.of("A.mtx");
    EXPECT_FALSE(never.possible());
    const auto limit = ReadLimit{.seconds = 0.02}.of("A.mtx");
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    expect_refusal<OutOfTime>([&] { limit.check(); }, {"A.mtx", "time limit of 0.02 s", "--time-limit"});
    expect_refusal<OutOfTime>([&] { limit.check(); }, {"A.mtx"});
}

TEST(Problem, OfALongFileIsGivenUpAtTheTimeLimit)
{
    const TempFolder folder;
    std::string      text = std::string(banner) + "1 1 1\n1 1 1\n";
    for (int line = 0; line < 200'000; ++line) text += "% a comment\n";
    const std::string A = folder.write("A.mtx", text);
    EXPECT_EQ(load_problem(A, "A1", {.seconds = 100}).A.nnz(), 1);
    expect_refusal<OutOfTime>([&] { load_problem(A, "A1", {.seconds = 1e-9}); }, {"A.mtx", "time limit"});
    expect_refusal<OutOfTime>([&] { SequenceInput({A}, "auto", {.seconds = 1e-9}); }, {"A.mtx", "time limit"});
}

}  // namespace
}  // namespace ilux::app
