// What ilux_analyse is told of the work ahead, and the file in which the option `plan` keeps what an LU prepares.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "ilux/tests/c_api/c_system.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

using Json = nlohmann::json;

TEST(CAnalyse, CountsThatAreNoneAreRefused)
{
    auto                A = line<double>(4);
    const ilux_csr      csr = A.csr();
    const auto          solver = c_solver(ILUX_REAL);
    ilux_solver* const  s = solver.get();
    std::vector<double> b(4, 1.0), x(4);
    constexpr double    inf = std::numeric_limits<double>::infinity();
    for (const double wrong : {0.0, -1.0, 0.5, double(NAN), inf, -inf}) {
        EXPECT_EQ(ilux_analyse(s, &csr, wrong, 1), ILUX_BAD_INPUT) << wrong;
        EXPECT_EQ(std::strncmp(ilux_message(s), "systems is ", 11), 0) << ilux_message(s);
        EXPECT_EQ(ilux_analyse(s, &csr, 1, wrong), ILUX_BAD_INPUT) << wrong;
        EXPECT_EQ(std::strncmp(ilux_message(s), "columns is ", 11), 0) << ilux_message(s);
        EXPECT_EQ(ilux_factor(s, nullptr), ILUX_BAD_INPUT);  // the former matrix is forgotten
        ASSERT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_OK) << ilux_message(s);
        ASSERT_EQ(ilux_factor(s, nullptr), ILUX_OK);
        EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_OK);
    }
    for (const double many : {1.5, 1e300}) EXPECT_EQ(ilux_analyse(s, &csr, many, many), ILUX_OK) << ilux_message(s);
}

/// What was chosen at first, and why; a slow machine may have done otherwise in the end.
std::string choice(const ilux_csr& A, double systems, double columns)
{
    const auto solver = c_solver(ILUX_REAL);
    EXPECT_EQ(ilux_analyse(solver.get(), &A, systems, columns), ILUX_OK) << ilux_message(solver.get());
    EXPECT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
    const std::vector<double> b(static_cast<std::size_t>(A.n), 1.0);
    std::vector<double>       x(b.size());
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, x.data(), A.n), ILUX_OK);
    return Json::parse(ilux_report(solver.get(), 0))["decisions"][0].get<std::string>();
}

/// Forecasts of this matrix on one thread: LU 188 ms, an iteration 164 ms.
TEST(CAnalyse, ManyRightHandSidesSpeakForAnLu)
{
    ilux_matrix* matrix = nullptr;
    ASSERT_EQ(ilux_gallery("convdiff3d:n=26", &matrix), ILUX_OK) << ilux_last_error();
    const std::unique_ptr<ilux_matrix, decltype(&ilux_matrix_free)> owner(matrix, ilux_matrix_free);
    ilux_csr                                                        csr{};
    ASSERT_EQ(ilux_matrix_csr(matrix, &csr), ILUX_OK);
    const std::string of_one = choice(csr, 1, 1), of_many = choice(csr, 1, 100), of_series = choice(csr, 3, 100);
    EXPECT_TRUE(of_one.starts_with("iterative:")) << of_one;
    EXPECT_TRUE(of_many.starts_with("direct:")) << of_many;
    EXPECT_NE(of_many.find("for 100 right-hand sides"), std::string::npos) << of_many;
    EXPECT_TRUE(of_series.starts_with("direct:")) << of_series;
    EXPECT_NE(of_series.find("for 3 systems of 100 right-hand sides each"), std::string::npos) << of_series;
}

template <class S>
struct WithPlan {
    std::vector<S> x;
    ilux_factors   factors{};
    std::string    decisions;
};

/// The first system of a solver of its own, by LU.
template <class S>
WithPlan<S> solve_with_plan(CSystem<S>& A, const std::string& file, int bits = 64)
{
    WithPlan<S>    one;
    const auto     b = right_hand_side<S>(A.n);
    const ilux_csr csr = A.csr(bits);
    const auto     solver = c_solver(values_of<S>, {{"method", "lu"}, {"plan", file.c_str()}});
    one.x.resize(b.size());
    EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
    EXPECT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK) << ilux_message(solver.get());
    one.factors.size = sizeof one.factors;
    EXPECT_EQ(ilux_factors_of(solver.get(), &one.factors), ILUX_OK);
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, one.x.data(), A.n), ILUX_OK);
    EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, one.x, b), 1e-12);
    one.decisions = Json::parse(ilux_report(solver.get(), 0))["decisions"].dump();
    return one;
}

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0);
}

template <class S>
class CPlan : public testing::Test {
protected:
    TempFolder  folder;
    std::string file = folder.file("kept.plan");
};
using ValuesOfPlans = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(CPlan, ValuesOfPlans);

TYPED_TEST(CPlan, IsWrittenByTheFirstSolverAndLoadedByTheSecond)
{
    using S = TypeParam;
    for (const std::int64_t n : {0, 1, 31, 32, 33, 200}) {
        SCOPED_TRACE(n);
        std::filesystem::remove(this->file);
        auto              A = line<S>(n), shuffled = line<S>(n, true);
        const auto        never = solve_with_plan(A, ""), first = solve_with_plan(A, this->file);
        const std::string bytes = read_bytes(this->file);
        const auto        second = solve_with_plan(A, this->file);
        const auto        third = solve_with_plan(shuffled, this->file, 32);  // the same matrix in other arrays
        EXPECT_NE(first.decisions.find("plan: written to " + this->file), std::string::npos) << first.decisions;
        EXPECT_FALSE(first.factors.reused);
        for (const auto& later : {second, third}) {
            EXPECT_NE(later.decisions.find("plan: loaded from " + this->file), std::string::npos) << later.decisions;
            EXPECT_TRUE(later.factors.reused);
            EXPECT_TRUE(same_bits(never.x, later.x));
        }
        EXPECT_TRUE(same_bits(never.x, first.x));
        EXPECT_EQ(read_bytes(this->file), bytes);
    }
}

TYPED_TEST(CPlan, OfAnotherPatternOrOptionsOrDamagedIsRefused)
{
    using S = TypeParam;
    auto A = line<S>(33), other = line<S>(32);
    (void)solve_with_plan(A, this->file);
    const std::string bytes = read_bytes(this->file);
    const auto        refused = [&](CSystem<S>& system, const char* option, const char* value, const char* why) {
        const ilux_csr csr = system.csr();
        const auto solver = c_solver(values_of<S>, {{"plan", this->file.c_str()}, {"method", "lu"}, {option, value}});
        EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_BAD_INPUT) << why;
        const std::string told = ilux_message(solver.get());
        EXPECT_NE(told.find(this->file), std::string::npos) << told;
        EXPECT_NE(told.find(why), std::string::npos) << told;
        EXPECT_EQ(ilux_factor(solver.get(), nullptr), ILUX_BAD_INPUT);
    };
    refused(other, "threads", "1", "another pattern");
    refused(A, "lu.ordering", "metis", "made with another");
    EXPECT_EQ(read_bytes(this->file), bytes);
    this->folder.write("kept.plan", bytes.substr(0, bytes.size() / 2));
    refused(A, "threads", "1", "");
}

TYPED_TEST(CPlan, ThatCannotBeWrittenIsRefused)
{
    using S = TypeParam;
    auto           A = line<S>(33);
    const ilux_csr csr = A.csr();
    for (const std::string& file : {this->folder.file("no/such/kept.plan"), this->folder.path().string()}) {
        const auto solver = c_solver(values_of<S>, {{"method", "lu"}, {"plan", file.c_str()}});
        EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_BAD_INPUT);
        EXPECT_NE(std::strstr(ilux_message(solver.get()), file.c_str()), nullptr) << ilux_message(solver.get());
    }
}

TYPED_TEST(CPlan, ForWhatHasNoLuIsRefused)
{
    using S = TypeParam;
    auto           A = line<S>(33);
    const ilux_csr csr = A.csr();
    const auto     solver = c_solver(values_of<S>, {{"method", "gmres"}, {"plan", this->file.c_str()}});
    const auto     b = right_hand_side<S>(33);
    std::vector<S> x(b.size());
    const char*    json = nullptr;
    EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_BAD_OPTION);
    EXPECT_EQ(ilux_solve_operator(
                  solver.get(), 33, [](void*, int, const void*, void*) { return 1; }, nullptr, nullptr, nullptr,
                  b.data(), x.data()),
              ILUX_BAD_OPTION);
    EXPECT_EQ(ilux_compare(solver.get(), &csr, b.data(), nullptr, 1, &json), ILUX_BAD_OPTION);
    EXPECT_NE(std::strstr(ilux_message(solver.get()), "plan"), nullptr);
    EXPECT_FALSE(std::filesystem::exists(this->file));
}

}  // namespace
}  // namespace ilux::test
