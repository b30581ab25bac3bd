// The calls of ilux.h as a C program makes them. x is measured here; bad calls are refused with words.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/c_api/c_system.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class CSolve : public testing::Test {};
using Values = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(CSolve, Values);

template <class S>
void analyse_and_factor(const CSolver& solver, CSystem<S>& A, int bits = 64)
{
    const ilux_csr csr = A.csr(bits);
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK) << ilux_message(solver.get());
}

TYPED_TEST(CSolve, EveryFormOfTheSameMatrix)
{
    using S = TypeParam;
    for (const std::int64_t n : {0, 1, 31, 32, 33, 200})
        for (const int bits : {32, 64})
            for (const bool shuffled : {false, true})
                for (const char* method : {"auto", "lu", "gmres", "bicg"}) {
                    SCOPED_TRACE(testing::Message() << n << " " << bits << shuffled << method);
                    auto       A = line<S>(n, shuffled);
                    const auto solver = c_solver(values_of<S>, {{"method", method}});
                    analyse_and_factor(solver, A, bits);
                    for (const int op : {ILUX_PLAIN, ILUX_TRANSPOSED, ILUX_ADJOINT}) {
                        const auto     b = right_hand_side<S>(n);
                        std::vector<S> x(b.size(), S(NAN));
                        ASSERT_EQ(ilux_solve(solver.get(), op, 1, b.data(), n, x.data(), n), ILUX_OK)
                            << ilux_message(solver.get());
                        EXPECT_LE(c_residual<S>(A, op, x, b), 1.01e-8);
                        EXPECT_STREQ(ilux_message(solver.get()), "");
                    }
                }
}

TYPED_TEST(CSolve, NewValuesComeInTheCallersOrder)
{
    using S = TypeParam;
    for (const bool shuffled : {false, true}) {
        auto       A = line<S>(40, shuffled);
        const auto solver = c_solver(values_of<S>);
        analyse_and_factor(solver, A);
        for (std::size_t p = 0; p < A.val.size(); ++p) A.val[p] *= 1 + 0.01 * double(p % 5);
        const auto given = A.val;
        ASSERT_EQ(ilux_refactor(solver.get(), given.data()), ILUX_OK) << ilux_message(solver.get());
        const auto     b = right_hand_side<S>(40);
        std::vector<S> x(b.size());
        ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 40, x.data(), 40), ILUX_OK);
        EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, x, b), 1e-8);
    }
}

TYPED_TEST(CSolve, TheFactorsAreTold)
{
    using S = TypeParam;
    auto         A = line<S>(200);
    ilux_factors facts{};
    facts.size = sizeof facts;
    for (const char* method : {"lu", "gmres"}) {
        const auto solver = c_solver(values_of<S>, {{"method", method}});
        EXPECT_EQ(ilux_factors_of(solver.get(), &facts), ILUX_BAD_INPUT);
        analyse_and_factor(solver, A);
        const bool direct = std::string(method) == "lu";
        for (int k = 0; k < 2; ++k) {
            ASSERT_EQ(ilux_factors_of(solver.get(), &facts), ILUX_OK) << ilux_message(solver.get());
            EXPECT_EQ(facts.direct, direct);
            EXPECT_EQ(facts.reused, k);
            EXPECT_EQ(facts.levels > 0, !direct);
            EXPECT_EQ(facts.deficiency, 0);
            EXPECT_GE(facts.bytes, 200 * static_cast<std::int64_t>(sizeof(S)));
            EXPECT_GT(facts.fill, 0);
            EXPECT_GE(facts.seconds, 0);
            ASSERT_EQ(ilux_refactor(solver.get(), A.val.data()), ILUX_OK);
        }
    }
    EXPECT_EQ(ilux_factors_of(nullptr, &facts), ILUX_BAD_INPUT);
}

TYPED_TEST(CSolve, StructsOfLaterVersionsAreFilledAndShorterOnesRefused)
{
    using S = TypeParam;
    const auto     solver = c_solver(values_of<S>);
    auto           A = line<S>(20);
    const auto     b = right_hand_side<S>(20);
    std::vector<S> x(20);
    analyse_and_factor(solver, A);
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 20, x.data(), 20), ILUX_OK);
    ilux_result unset{};
    EXPECT_EQ(ilux_result_of(solver.get(), 0, &unset), ILUX_BAD_INPUT);
    ilux_factors also_unset{};
    EXPECT_EQ(ilux_factors_of(solver.get(), &also_unset), ILUX_BAD_INPUT);
    EXPECT_NE(std::string(ilux_message(solver.get())).find("size"), std::string::npos);
    struct {
        ilux_result known;
        double      later = 7;
    } newer{};
    newer.known.size = sizeof newer;
    ASSERT_EQ(ilux_result_of(solver.get(), 0, &newer.known), ILUX_OK);
    EXPECT_EQ(newer.known.size, sizeof(newer));
    EXPECT_EQ(newer.later, 0);
    for (const std::size_t size : {std::size_t(1), offsetof(ilux_result, seconds), sizeof(ilux_result) - 1}) {
        ilux_result small{};
        small.size = size;
        small.seconds = -1;
        EXPECT_EQ(ilux_result_of(solver.get(), 0, &small), ILUX_BAD_INPUT);
        EXPECT_EQ(small.seconds, -1);
        EXPECT_NE(std::string(ilux_last_error()).find("sizeof(ilux_result)"), std::string::npos);
    }
}

TYPED_TEST(CSolve, WhereItIsAskedForEachSystemHasAPreconditionerOfItsOwn)
{
    using S = TypeParam;
    auto         A = line<S>(200);
    ilux_factors facts{};
    facts.size = sizeof facts;
    const auto solver =
        c_solver(values_of<S>, {{"method", "gmres"}, {"sequence.refresh_always", "true"}, {"precond.setup", "crout"}});
    analyse_and_factor(solver, A);
    const auto     r = right_hand_side<S>(200);
    std::vector<S> z(200), again(200);
    ASSERT_EQ(ilux_precondition(solver.get(), ILUX_PLAIN, 1, r.data(), 200, z.data(), 200), ILUX_OK);
    for (S& value : A.val) value *= 2.0;
    ASSERT_EQ(ilux_refactor(solver.get(), A.val.data()), ILUX_OK);
    ASSERT_EQ(ilux_factors_of(solver.get(), &facts), ILUX_OK);
    EXPECT_EQ(facts.reused, 0);
    ASSERT_EQ(ilux_precondition(solver.get(), ILUX_PLAIN, 1, r.data(), 200, again.data(), 200), ILUX_OK);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_EQ(2.0 * again[i], z[i]);
}

TYPED_TEST(CSolve, ColumnsWithGaps)
{
    using S = TypeParam;
    auto       A = line<S>(20);
    const auto solver = c_solver(values_of<S>);
    analyse_and_factor(solver, A);
    std::vector<S> B(3 * 23, S(7)), X(3 * 25, S(-1));
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 20; ++i) B[23 * k + i] = S(1 + i + 2 * k);
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 3, B.data(), 23, X.data(), 25), ILUX_OK);
    EXPECT_EQ(ilux_columns(solver.get()), 3);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, std::span(X).subspan(25 * k, 20), std::span(B).subspan(23 * k, 20)),
                  1e-8);
        for (std::size_t i = 20; i < 25; ++i) EXPECT_EQ(X[25 * k + i], S(-1));  // the gap is nobody's
        ilux_result result{};
        result.size = sizeof result;
        ASSERT_EQ(ilux_result_of(solver.get(), static_cast<std::int64_t>(k), &result), ILUX_OK);
        EXPECT_STREQ(ilux_outcome_name(result.outcome), "converged");
        EXPECT_LE(result.relative_residual, 1e-8);
        const auto report = nlohmann::json::parse(ilux_report(solver.get(), static_cast<std::int64_t>(k)));
        EXPECT_EQ(report["outcome"], "converged");
        EXPECT_EQ(report["version"], ilux_version());
        EXPECT_EQ(report["steps"], result.steps);
    }
    EXPECT_EQ(ilux_report(solver.get(), 3), nullptr);
    EXPECT_EQ(ilux_report(solver.get(), -1), nullptr);
    ilux_result result{};
    result.size = sizeof result;
    EXPECT_EQ(ilux_result_of(solver.get(), 3, &result), ILUX_BAD_INPUT);
    ASSERT_EQ(ilux_precondition(solver.get(), ILUX_PLAIN, 3, B.data(), 23, X.data(), 25), ILUX_OK);
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 0, nullptr, 20, nullptr, 20), ILUX_OK);
    EXPECT_EQ(ilux_columns(solver.get()), 0);
}

TYPED_TEST(CSolve, ABatchOfSystems)
{
    using S = TypeParam;
    auto       A = line<S>(30, true);
    const auto solver = c_solver(values_of<S>, {{"method", "lu"}});
    analyse_and_factor(solver, A);
    const auto     b = right_hand_side<S>(30);
    std::vector<S> values, B, X(5 * 30);
    for (int m = 0; m < 5; ++m) {
        for (const S value : A.val) values.push_back(value * (1 + 0.1 * m));
        B.insert(B.end(), b.begin(), b.end());
    }
    ASSERT_EQ(ilux_solve_batch(solver.get(), 5, values.data(), B.data(), X.data()), ILUX_OK)
        << ilux_message(solver.get());
    EXPECT_EQ(ilux_columns(solver.get()), 5);
    for (std::size_t m = 0; m < 5; ++m) {
        auto member = A;
        member.val.assign(values.begin() + static_cast<std::ptrdiff_t>(m * A.val.size()),
                          values.begin() + static_cast<std::ptrdiff_t>((m + 1) * A.val.size()));
        EXPECT_LE(c_residual<S>(member, ILUX_PLAIN, std::span(X).subspan(30 * m, 30), b), 1e-8);
    }
}

TEST(CSolve, AnswersThatAreNoneSaySo)
{
    auto       A = line<double>(300);
    const auto slow =
        c_solver(ILUX_REAL,
                 {{"method", "gmres"}, {"precond.kind", "none"}, {"krylov.max_steps", "3"}, {"retry", "off"}});
    analyse_and_factor(slow, A);
    const auto          b = right_hand_side<double>(300);
    std::vector<double> x(b.size());
    EXPECT_EQ(ilux_solve(slow.get(), ILUX_PLAIN, 1, b.data(), 300, x.data(), 300), ILUX_NOT_CONVERGED);
    EXPECT_NE(std::strstr(ilux_message(slow.get()), "max_steps"), nullptr) << ilux_message(slow.get());
    EXPECT_GT(x[0], 0);  // the best there is

    auto singular = line<double>(3);
    singular.val.assign(singular.val.size(), 1.0);
    singular.val[4] = 0;  // rows 0 and 1 are the same
    const auto     lu = c_solver(ILUX_REAL, {{"method", "lu"}});
    const ilux_csr csr = singular.csr();
    ASSERT_EQ(ilux_analyse(lu.get(), &csr, 1, 1), ILUX_OK);
    EXPECT_EQ(ilux_factor(lu.get(), nullptr), ILUX_SINGULAR);
    EXPECT_NE(std::strstr(ilux_message(lu.get()), "singular"), nullptr) << ilux_message(lu.get());
}

TEST(CSolve, OptionsByNameAndAsATree)
{
    const auto solver = c_solver(ILUX_REAL);
    EXPECT_EQ(ilux_set(solver.get(), "precond.drop_tol", "1e-4"), ILUX_OK);
    EXPECT_EQ(ilux_set(solver.get(), "precond.droptol", "1e-4"), ILUX_BAD_OPTION);
    EXPECT_NE(std::strstr(ilux_message(solver.get()), "precond.drop_tol"), nullptr) << ilux_message(solver.get());
    EXPECT_EQ(ilux_set(solver.get(), "krylov.rtol", "-1"), ILUX_BAD_OPTION);
    EXPECT_EQ(ilux_set(solver.get(), "krylov.rtol", nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_json(solver.get(), R"({"krylov": {"restart": 17}, "method": "fgmres"})"), ILUX_OK);
    EXPECT_EQ(ilux_set_json(solver.get(), R"({"krylov": {"restart": "many"}})"), ILUX_BAD_OPTION);
    EXPECT_EQ(ilux_set_json(solver.get(), "{"), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_json(solver.get(), nullptr), ILUX_BAD_INPUT);
    const auto all = nlohmann::json::parse(ilux_options(solver.get()));
    EXPECT_EQ(all["precond"]["drop_tol"], 1e-4);
    EXPECT_EQ(all["krylov"]["restart"], 17);
    EXPECT_EQ(all["method"], "fgmres");
    EXPECT_EQ(all["krylov"]["rtol"], 1e-8);  // what was refused changed nothing
}

TEST(CSolve, CallsThatMakeNoSenseAreRefused)
{
    const auto          solver = c_solver(ILUX_REAL);
    ilux_solver* const  s = solver.get();
    auto                A = line<double>(4);
    std::vector<double> b(8, 1.0), x(8);
    EXPECT_EQ(ilux_factor(s, nullptr), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(s), "ilux_analyse"), nullptr);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_precondition(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_analyse(s, nullptr, 1, 1), ILUX_BAD_INPUT);
    ilux_csr csr = A.csr();
    ASSERT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_OK);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);  // before factor
    ASSERT_EQ(ilux_factor(s, nullptr), ILUX_OK);
    EXPECT_EQ(ilux_refactor(s, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, 3, 1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, -1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, nullptr, 4, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, nullptr, 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 2, b.data(), 3, x.data(), 4), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, std::numeric_limits<std::int64_t>::max(), b.data(), 4, x.data(), 4),
              ILUX_BAD_INPUT);
    b[2] = NAN;
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_BAD_INPUT);
    b[2] = 1;
    EXPECT_EQ(ilux_solve(s, ILUX_PLAIN, 1, b.data(), 4, x.data(), 4), ILUX_OK);  // nothing of that has done harm
    EXPECT_EQ(ilux_solve_batch(s, -1, A.val.data(), b.data(), x.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve_batch(s, 1, nullptr, b.data(), x.data()), ILUX_BAD_INPUT);
}

TEST(CSolve, FactorWithoutValuesTakesThoseOfA)
{
    auto       A = line<double>(20);
    const auto solver = c_solver(ILUX_REAL);
    analyse_and_factor(solver, A);
    auto twice = A.val;
    for (double& value : twice) value *= 2;
    ASSERT_EQ(ilux_refactor(solver.get(), twice.data()), ILUX_OK);
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
    const auto          b = right_hand_side<double>(20);
    std::vector<double> x(20);
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 20, x.data(), 20), ILUX_OK);
    EXPECT_LE(c_residual<double>(A, ILUX_PLAIN, x, b), 1e-8);
}

TEST(CSolve, AFailedAnalysisLeavesNoMatrix)
{
    auto       A = line<double>(20);
    const auto solver = c_solver(ILUX_REAL);
    analyse_and_factor(solver, A);
    auto broken = A;
    broken.val[3] = NAN;
    const ilux_csr csr = broken.csr();
    EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_BAD_INPUT);
    std::vector<double> b(20, 1.0), x(20);
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 20, x.data(), 20), ILUX_BAD_INPUT);
}

struct Again {
    ilux_solver*   solver = nullptr;
    const ilux_csr csr;
    int            refused = 0, allowed = 0;
};

/// Calls of the solver whose call is under way.
int call_again(void* user, int phase, std::int64_t, std::int64_t, double)
{
    auto&  again = *static_cast<Again*>(user);
    double v[20] = {};
    if (phase != 1) return 0;
    ilux_factors facts{};
    facts.size = sizeof facts;
    for (const int status : {ilux_factor(again.solver, nullptr), ilux_analyse(again.solver, &again.csr, 1, 1),
                             ilux_solve(again.solver, ILUX_PLAIN, 1, v, 20, v, 20),
                             ilux_precondition(again.solver, ILUX_PLAIN, 1, v, 20, v, 20),
                             ilux_set(again.solver, "method", "lu"), ilux_set_json(again.solver, "{}"),
                             ilux_set_stream(again.solver, 0, v), ilux_factors_of(again.solver, &facts)})
        ++(status == ILUX_BAD_INPUT ? again.refused : again.allowed);
    EXPECT_NE(std::strstr(ilux_last_error(), "under way"), nullptr) << ilux_last_error();
    ilux_listen(again.solver, nullptr, nullptr);
    return 0;
}

TEST(CSolve, ACallFromItsOwnCallbackIsRefused)
{
    auto       A = line<double>(20);
    const auto solver = c_solver(ILUX_REAL, {{"method", "gmres"}});
    analyse_and_factor(solver, A);
    Again again{solver.get(), A.csr()};
    ilux_listen(solver.get(), call_again, &again);
    const auto          b = right_hand_side<double>(20);
    std::vector<double> x(20);
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 20, x.data(), 20), ILUX_OK)
        << ilux_message(solver.get());
    EXPECT_LE(c_residual<double>(A, ILUX_PLAIN, x, b), 1.01e-8);
    EXPECT_GE(again.refused, 8);
    EXPECT_EQ(again.allowed, 0);
}

TEST(CSolve, WithoutASolverNothingHappens)
{
    ilux_result result{};
    result.size = sizeof result;
    EXPECT_EQ(ilux_create(2, nullptr), ILUX_BAD_INPUT);
    ilux_solver* solver = nullptr;
    EXPECT_EQ(ilux_create(2, &solver), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_last_error(), "ILUX_COMPLEX"), nullptr);
    EXPECT_EQ(solver, nullptr);
    ilux_destroy(nullptr);
    ilux_cancel(nullptr);
    EXPECT_EQ(ilux_set(nullptr, "a", "b"), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_json(nullptr, "{}"), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_options(nullptr), nullptr);
    EXPECT_EQ(ilux_set_stream(nullptr, 0, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_null_space(nullptr, 0, 0, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_analyse(nullptr, nullptr, 1, 1), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_factor(nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_refactor(nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve(nullptr, 0, 1, nullptr, 0, nullptr, 0), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_precondition(nullptr, 0, 1, nullptr, 0, nullptr, 0), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve_batch(nullptr, 0, nullptr, nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve_operator(nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_apply_preconditioner(nullptr, 0, nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_listen(nullptr, nullptr, nullptr), ILUX_BAD_INPUT);
    EXPECT_STREQ(ilux_message(nullptr), "the solver is NULL");
    EXPECT_EQ(ilux_columns(nullptr), 0);
    EXPECT_EQ(ilux_result_of(nullptr, 0, &result), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_report(nullptr, 0), nullptr);
    EXPECT_STREQ(ilux_outcome_name(-1), "unknown");
    EXPECT_STREQ(ilux_outcome_name(1000), "unknown");
    EXPECT_EQ(ilux_api_version(), ILUX_API_VERSION);
}

struct Heard {
    int setups = 0, steps = 0, cancel_at = -1;
};

int listen(void* user, int phase, std::int64_t done, std::int64_t total, double residual)
{
    auto& heard = *static_cast<Heard*>(user);
    ++(phase == 1 ? heard.steps : heard.setups);
    EXPECT_LE(done, total);
    EXPECT_GE(residual, 0);
    return phase == 1 && heard.cancel_at >= 0 && done >= heard.cancel_at;
}

TEST(CSolve, ProgressIsToldAndMayCancel)
{
    auto       A = line<double>(2000);
    const auto solver = c_solver(ILUX_REAL, {{"method", "gmres"}, {"precond.kind", "jacobi"}});
    Heard      heard;
    ASSERT_EQ(ilux_listen(solver.get(), listen, &heard), ILUX_OK);
    analyse_and_factor(solver, A);
    const auto          b = right_hand_side<double>(2000);
    std::vector<double> x(b.size());
    heard.cancel_at = 5;
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 2000, x.data(), 2000), ILUX_CANCELLED);
    EXPECT_GT(heard.steps, 4);
    heard.cancel_at = -1;
    ilux_cancel(solver.get());  // there is no call under way
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 2000, x.data(), 2000), ILUX_OK)
        << ilux_message(solver.get());
    ilux_listen(solver.get(), nullptr, nullptr);
    heard.steps = 0;
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 2000, x.data(), 2000), ILUX_OK);
    EXPECT_EQ(heard.steps, 0);
}

TEST(CSolve, ADeviceThatIsNotThereIsTold)
{
    if (gpu_count() > 0) GTEST_SKIP()
    << "there is a GPU";
    auto       A = line<double>(5);
    const auto solver = c_solver(ILUX_REAL);
    ilux_csr   csr = A.csr();
    csr.memory = ILUX_DEVICE;
    EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_NO_DEVICE);
    EXPECT_STRNE(ilux_message(solver.get()), "");
}

}  // namespace
}  // namespace ilux
