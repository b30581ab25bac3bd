// Lu with numbers by supernodes: when it takes them, and what it does where pivots within them will not do.

#include "ilux/direct/supernodal/front_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux {
namespace {

const LuOptions with_fronts{.supernodes = LuSupernodes::on};

/// Solves A x = A·1, and says how far x is from ones.
double error_of(Lu<>& lu, const CsrMatrix<>& A, LuSolveReport* report = nullptr)
{
    std::vector<double> b(A.rows()), x(A.rows());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) b[i] += A.val()[p];
    const auto solved = lu.solve(b, x);
    if (report != nullptr) *report = solved;
    EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
    double error = 0;
    for (const double v : x) error = std::max(error, std::abs(v - 1));
    return error;
}

TEST(FrontChoice, MeshesAreStoredByFrontsAndCircuitsByEntries)
{
    Cpu        be(2);
    const auto mesh = analyse(view<double>(gallery::convdiff3d({.n = 16})));
    const auto taken = choose_fronts(be, *mesh, LuSupernodes::automatic);
    EXPECT_NE(taken.plan, nullptr);
    EXPECT_NE(taken.why.find("supernodes"), std::string::npos);
    EXPECT_EQ(choose_fronts(be, *mesh, LuSupernodes::off).plan, nullptr);

    const auto circuit = analyse(view<double>(gallery::mna_random({.n = 400, .decades = 4})));
    EXPECT_EQ(choose_fronts(be, *circuit, LuSupernodes::automatic).plan, nullptr);
    EXPECT_NE(choose_fronts(be, *circuit, LuSupernodes::on).plan, nullptr);
}

TEST(FrontChoice, ForManySystemsOnAGpuFrontsNeedMoreFlops)
{
    Cpu        be(2);
    const auto choice = [&](Index n, LuOrderFor order_for) {
        return choose_fronts(be, *analyse(view<double>(gallery::convdiff3d({.n = n})), {.order_for = order_for}),
                             LuSupernodes::automatic);
    };
    EXPECT_NE(choice(16, LuOrderFor::host).plan, nullptr);
    const auto small = choice(16, LuOrderFor::gpu);
    EXPECT_EQ(small.plan, nullptr);
    EXPECT_NE(small.why.find("on a GPU"), std::string::npos) << small.why;
    EXPECT_NE(choice(24, LuOrderFor::gpu).plan, nullptr);
}

TEST(FrontChoice, MethodsOfAGpuAreByEntries)
{
    Cpu be(1);
    for (const auto method : {RefactorMethod::left, RefactorMethod::glu1, RefactorMethod::glu3, RefactorMethod::islu}) {
        LuOptions options = with_fronts;
        options.refactor = method;
        const auto choice =
            choose_fronts(be, *analyse(view<double>(gallery::convdiff2d({.n = 9})), options), LuSupernodes::on);
        EXPECT_EQ(choice.plan, nullptr);
        EXPECT_EQ(choice.why, "by entries: lu.refactor=" + std::string(name(method)));
    }
}

TEST(FrontChoice, EverySystemIsSolvedByFronts)
{
    Cpu be(2);
    for (const auto& A : test::front_systems()) {
        Lu<> lu(be, analyse(view<double>(A), with_fronts));
        ASSERT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
        EXPECT_NE(lu.factors().fronts, nullptr);
        EXPECT_LT(error_of(lu, A), 1e-12);
        const auto again = lu.refactor_or_factor(A.val());
        EXPECT_EQ(again.action, LuAction::refactor);
        EXPECT_LT(error_of(lu, A), 1e-12);
        EXPECT_EQ(lu.status().method, "supernodes");
        EXPECT_EQ(lu.status().repivots, 0);
    }
}

TEST(FrontChoice, ZeroPivotsOfMostFrontsLeadToEntries)
{
    Cpu       be(1);
    LuOptions options = with_fronts;
    options.matching = LuMatching::off;
    options.ordering = LuOrdering::none;
    const auto good = test::leaves_of_a_dense_block(4), stale = test::leaves_of_a_dense_block(0);
    const auto symbolic = analyse(view<double>(good), options);
    Lu<>       first(be, symbolic), later(be, symbolic);
    ASSERT_EQ(first.factor(stale.val()).outcome, Outcome::converged);
    EXPECT_NE(first.status().storage.find("next to 0"), std::string::npos) << first.status().storage;
    EXPECT_LT(error_of(first, stale), 1e-12);

    ASSERT_EQ(later.factor(good.val()).outcome, Outcome::converged);
    ASSERT_NE(later.factors().fronts, nullptr);
    EXPECT_EQ(later.refactor_or_factor(stale.val()).action, LuAction::repivot);
    EXPECT_EQ(later.factors().fronts, nullptr);
    EXPECT_LT(error_of(later, stale), 1e-12);
}

TEST(FrontChoice, EntriesWhereFrontsWouldPassTheLimit)
{
    Cpu       be(1);
    LuOptions options = with_fronts;
    options.memory_limit.value = 2'500'000;
    const auto A = gallery::convdiff2d({.n = 60});
    Lu<>       lu(be, analyse(view<double>(A), options));
    EXPECT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    EXPECT_EQ(lu.factors().fronts, nullptr);
    EXPECT_NE(lu.status().storage.find("would take"), std::string::npos) << lu.status().storage;
}

TEST(FrontChoice, ASingularMatrixIsNoSuccess)
{
    Cpu        be(1);
    auto       A = gallery::convdiff2d({.n = 10});
    const auto symbolic = analyse(view<double>(A), with_fronts);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == 44) A.val()[p] = 0;
    Lu<>       lu(be, symbolic);
    const auto report = lu.factor(A.val());
    EXPECT_EQ(report.outcome, Outcome::singular);
    EXPECT_EQ(report.column, 44);
}

TEST(FrontChoice, NaNIsNamedAndTheNextValuesWork)
{
    Cpu                 be(1);
    const auto          A = gallery::convdiff2d({.n = 10});
    std::vector<double> values(A.val().begin(), A.val().end());
    Lu<>                lu(be, analyse(view<double>(A), with_fronts));
    ASSERT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    values[17] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(lu.refactor_or_factor(values).outcome, Outcome::not_finite);
    EXPECT_EQ(lu.refactor_or_factor(A.val()).outcome, Outcome::converged);
    EXPECT_LT(error_of(lu, A), 1e-12);
}

TEST(FrontChoice, StopsWhenTold)
{
    Cpu        be(2);
    const auto A = gallery::convdiff2d({.n = 40});
    Lu<>       lu(be, analyse(view<double>(A), with_fronts));
    lu.stop_by(StopToken().asking([] { return true; }));
    EXPECT_EQ(lu.factor(A.val()).outcome, Outcome::cancelled);
    lu.stop_by({});
    EXPECT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    EXPECT_LT(error_of(lu, A), 1e-11);
}

}  // namespace
}  // namespace ilux
