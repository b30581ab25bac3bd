// Strategies of ours side by side. x is judged by products in twice the precision; times are looked at for their sums
// alone.
#include "ilux/solver/compare/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "ilux/gallery/gallery.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

template <Scalar S>
struct System {
    CsrMatrix<S>   A;
    std::vector<S> b = gallery::random_vector<S>(A.rows());

    SystemToMeasure<S> on_cpu(SolverOptions options = {}) const
    {
        options.device = DeviceChoice::cpu;
        options.threads = 1;
        return {.A = A, .b = b, .options = options, .repeats = 2};
    }
};

template <Scalar S>
Json rows_of(const SystemToMeasure<S>& system, const std::vector<std::string>& names = {"direct", "iterative"})
{
    return compare<S>(system, names);
}

System<double> convection() { return {gallery::build("convdiff2d:n=16")}; }

template <Scalar S>
void expect_both_solve(const System<S>& system)
{
    const Json rows = rows_of(system.on_cpu());
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["method"], "lu");
    EXPECT_EQ(rows[1]["strategy"], "iterative");
    for (const Json& row : rows) {
        SCOPED_TRACE(row.dump());
        EXPECT_EQ(row["outcome"], "converged");
        EXPECT_EQ(row["device"], "cpu");
        EXPECT_LE(row["relative_residual"].template get<double>(), 1e-8);
        const Json& seconds = row["seconds"];
        EXPECT_DOUBLE_EQ(seconds["total"].template get<double>(),
                         seconds["setup"].template get<double>() + seconds["solve"].template get<double>());
    }
    EXPECT_GT(rows[0]["seconds"]["refactor"].template get<double>(), 0);
}

TEST(Compare, BothStrategiesSolveRealAndComplexSystems)
{
    expect_both_solve(convection());
    expect_both_solve(System<std::complex<double>>{
        std::get<CsrMatrix<std::complex<double>>>(gallery::build_any("helmholtz2d_open:n=16"))});
}

TEST(Compare, ACoarseSpaceIsOfTheIteration)
{
    const System<double> system{gallery::build("elasticity2d:n=16")};
    SolverOptions        options{.method = MethodChoice::cg};
    options.precond.coarse = CoarseChoice::on;
    const Json rows = rows_of(system.on_cpu(options));
    options.precond.coarse = CoarseChoice::off;
    const Json without = rows_of(system.on_cpu(options));
    ASSERT_EQ(rows.size(), 2u);
    for (const Json& row : rows) EXPECT_EQ(row["outcome"], "converged") << row.dump();
    EXPECT_LT(rows[1]["fill"], without[1]["fill"]);  // M beside it drops more
}

TEST(Compare, TakesTheStrategiesAskedForInTheirOrder)
{
    const System<double> system = convection();
    const Json           rows = rows_of(system.on_cpu(), {"iterative", "direct", "iterative"});
    ASSERT_EQ(rows.size(), 3u);
    for (std::size_t k : {0u, 1u, 2u}) EXPECT_EQ(rows[k]["strategy"], k == 1 ? "direct" : "iterative");
    EXPECT_EQ(rows_of(system.on_cpu(), {}).size(), 0u);
}

TEST(Compare, WhatDoesNotConvergeIsARowWithItsReason)
{
    const System<double> system{gallery::build("poisson2d:n=40")};
    SolverOptions        options;
    options.precond.kind = PrecondKind::none;
    options.krylov.max_steps = 3;
    options.retry = false;
    const Json row = rows_of(system.on_cpu(options), {"iterative"})[0];
    EXPECT_EQ(row["outcome"], "max_steps");
    EXPECT_EQ(row["steps"], 3);
    EXPECT_GT(row["relative_residual"].get<double>(), 1e-8);
}

TEST(Compare, ASingularMatrixIsARowOfItsOwnOutcome)
{
    const System<double> system{CsrMatrix<double>::from_triplets(2, 2, std::vector<Index>{0, 1},
                                                                 std::vector<Index>{0, 0}, std::vector<double>{1, 1})};
    const Json           row = rows_of(system.on_cpu(), {"direct"})[0];
    EXPECT_EQ(row["outcome"], "singular");
    EXPECT_FALSE(row["detail"].get<std::string>().empty());
}

TEST(Compare, RefusesWhatMakesNoSense)
{
    const System<double> system = convection();
    EXPECT_THROW(rows_of(system.on_cpu(), {"cusp"}), InvalidOption);
    EXPECT_THROW(rows_of(system.on_cpu({.method = MethodChoice::lu})), InvalidOption);
    EXPECT_THROW(rows_of(system.on_cpu({.mode = SolverMode::direct})), InvalidOption);
    SystemToMeasure<double> none = system.on_cpu(), short_b = system.on_cpu();
    none.repeats = 0;
    EXPECT_THROW(rows_of(none), InvalidInput);
    SystemToMeasure<double> not_finite = system.on_cpu();
    std::vector<double>     b(not_finite.b.begin(), not_finite.b.end());
    b.back() = std::nan("");
    not_finite.b = b;
    EXPECT_THROW(rows_of(not_finite), InvalidInput);
    short_b.b = short_b.b.subspan(1);
    EXPECT_EQ(rows_of(short_b, {"direct"})[0]["outcome"], "failed");
}

TEST(Compare, EndsWhenItIsCancelledAndGoesOnAfterATimeLimit)
{
    const System<double>    system{gallery::build("convdiff3d:n=24")};
    SystemToMeasure<double> cancelled = system.on_cpu();
    cancelled.stop = StopToken().asking([] { return true; });
    EXPECT_THROW(rows_of(cancelled), Cancelled);
    SystemToMeasure<double> late = system.on_cpu();
    late.options.time_limit = 1e-6;
    for (const Json& row : rows_of(late)) EXPECT_EQ(row["outcome"], "time_limit") << row;
}

TEST(GpuCompareStrategies, RunsEachOnBothDevices)
{
    const System<double>    system = convection();
    SystemToMeasure<double> both = system.on_cpu();
    both.options.device = DeviceChoice::automatic;
    if (gpu_count() == 0) GTEST_SKIP()
    << "no GPU";
    const Json rows = rows_of(both);
    ASSERT_EQ(rows.size(), 4u);
    for (const Json& row : rows) EXPECT_EQ(row["outcome"], "converged") << row;
}

}  // namespace
}  // namespace ilux
