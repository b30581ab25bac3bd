// ilux_info and ilux_compare: what they tell, and what they leave as it was.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux::test {
namespace {

using Json = nlohmann::json;

template <class S>
class Facts : public testing::Test {};
using Scalars = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(Facts, Scalars);

TYPED_TEST(Facts, TellOfAMatrixWhateverTheOrderOfItsEntries)
{
    for (const std::int64_t n : {0, 1, 31, 32, 33})
        for (const bool shuffled : {false, true}) {
            const CSolver solver = c_solver(values_of<TypeParam>);
            auto          A = line<TypeParam>(n, shuffled);
            const auto    csr = A.csr(shuffled ? 32 : 64);
            const char*   text = nullptr;
            ASSERT_EQ(ilux_info(solver.get(), &csr, 1, &text), ILUX_OK) << ilux_message(solver.get());
            const Json json = Json::parse(text);
            EXPECT_EQ(json["version"], ilux_version());
            EXPECT_EQ(json["matrix"]["rows"], n);
            EXPECT_EQ(json["matrix"]["nnz"], n == 0 ? 0 : 3 * n - 2);
            EXPECT_EQ(json["matrix"]["complex"], values_of<TypeParam> == ILUX_COMPLEX);
            EXPECT_EQ(json["matching"]["structural_rank"], n);
            EXPECT_EQ(json["diagonal"]["dominant_rows"], n);
        }
}

TYPED_TEST(Facts, CompareBothStrategiesAndLeaveTheAnalysedSystem)
{
    const CSolver solver = c_solver(values_of<TypeParam>);
    auto          A = line<TypeParam>(200), other = line<TypeParam>(33, true);
    const auto    csr = A.csr(), other_csr = other.csr(32);
    const auto    b = right_hand_side<TypeParam>(200), other_b = right_hand_side<TypeParam>(33);
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK);
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
    const char* text = nullptr;
    ASSERT_EQ(ilux_compare(solver.get(), &other_csr, other_b.data(), nullptr, 2, &text), ILUX_OK)
        << ilux_message(solver.get());
    const Json json = Json::parse(text);
    EXPECT_EQ(json["rtol"], 1e-8);
    ASSERT_EQ(json["rows"].size(), 2u);
    for (const Json& row : json["rows"]) {
        EXPECT_EQ(row["outcome"], "converged") << row;
        EXPECT_LE(row["relative_residual"].template get<double>(), 1e-8);
    }
    std::vector<TypeParam> x(200);
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 200, x.data(), 200), ILUX_OK);
    EXPECT_LE(c_residual<TypeParam>(A, ILUX_PLAIN, x, b), 1e-8);
}

TEST(FactsRefusals, SayWhy)
{
    const CSolver solver = c_solver(ILUX_REAL);
    auto          A = line<double>(4);
    auto          csr = A.csr();
    const auto    b = right_hand_side<double>(4);
    const char*   text = "before";
    const auto    refused = [&](int status, int expected, const char* word) {
        EXPECT_EQ(status, expected);
        EXPECT_EQ(text, nullptr);
        EXPECT_NE(std::string(ilux_message(solver.get())).find(word), std::string::npos) << ilux_message(solver.get());
        text = "before";
    };
    refused(ilux_info(solver.get(), nullptr, 0, &text), ILUX_BAD_INPUT, "NULL");
    refused(ilux_compare(solver.get(), &csr, nullptr, nullptr, 1, &text), ILUX_BAD_INPUT, "NULL");
    refused(ilux_compare(solver.get(), &csr, b.data(), "direct,cusp", 1, &text), ILUX_BAD_OPTION, "'cusp'");
    refused(ilux_compare(solver.get(), &csr, b.data(), "", 1, &text), ILUX_BAD_OPTION, "''");
    refused(ilux_compare(solver.get(), &csr, b.data(), "direct", 0, &text), ILUX_BAD_INPUT, "repeats");
    EXPECT_EQ(ilux_set(solver.get(), "method", "lu"), ILUX_OK);
    refused(ilux_compare(solver.get(), &csr, b.data(), nullptr, 1, &text), ILUX_BAD_OPTION, "method=lu");
    A.col[1] = 7;
    refused(ilux_info(solver.get(), &csr, 0, &text), ILUX_BAD_INPUT, "7");
    EXPECT_EQ(ilux_info(nullptr, &csr, 0, &text), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_info(solver.get(), &csr, 0, nullptr), ILUX_BAD_INPUT);
}

TEST(FactsRefusals, ACallbackMayNotAsk)
{
    const CSolver solver = c_solver(ILUX_REAL, {{"method", "gmres"}});
    struct Inner {
        ilux_solver* solver;
        ilux_csr     A;
        int          status = ILUX_OK;
    };
    auto        A = line<double>(100);
    const auto  csr = A.csr();
    Inner       inner{solver.get(), csr};
    const char* text = nullptr;
    ilux_listen(
        solver.get(),
        [](void* user, int, std::int64_t, std::int64_t, double) {
            auto&       one = *static_cast<Inner*>(user);
            const char* unheard = nullptr;
            one.status = ilux_info(one.solver, &one.A, 0, &unheard);
            return 0;
        },
        &inner);
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK);
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
    EXPECT_EQ(inner.status, ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_info(solver.get(), &csr, 0, &text), ILUX_OK);
}

}  // namespace
}  // namespace ilux::test
