// The multilevel ILU set up in rounds on a GPU, against the host's rounds and against identities.

#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_fixture.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

TEST_F(GpuRoundsTest, IsExactWithoutDropping)
{
    MlIluOptions options = with_small_end();
    options.schur_drop_tol = 0;
    options.compensation = Compensation::off;
    options.growth_bound = 0;
    int made = 0, of_several_levels = 0;
    for (double kappa : {3., 6., 1e300}) {
        options.inverse_bound = kappa;
        for (const auto& [name, A] : matrices()) {
            const auto rounds = build(A, options);
            if (!rounds.made()) {  // without dropping rows fill up, and a level may stall
                EXPECT_NE(rounds.why_not().find("rounds found"), std::string::npos) << name << rounds.why_not();
                continue;
            }
            ++made;
            of_several_levels += rounds.report().levels.size() > 2;
            const Vector x = test::random_vector(A.rows(), 3);
            Vector       b(x.size());
            spmv(cpu, 1, A, x, 0, b);
            EXPECT_LE(distance_of(applied(rounds, b), x), 1e-9) << name << ", bound " << kappa;
        }
    }
    EXPECT_GE(made, 8);
    EXPECT_GE(of_several_levels, 3);
}

/// Inverts matrices that are a dense end, but for few rows.
class GpuRoundsInverse : public GpuRoundsTest {
protected:
    void expect_inverse(const CsrMatrix<>& A, const MlIluOptions& options)
    {
        const auto rounds = build(A, options);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        EXPECT_GE(rounds.dense_order(), 0.9 * A.rows());
        const Vector x = test::random_vector(A.rows(), 3);
        Vector       b(x.size());
        spmv(cpu, 1, A, x, 0, b);
        EXPECT_LE(distance_of(applied(rounds, b), x), 1e-10) << A.rows();
    }
};

/// Of the host's and the device's rounds: both choose the same pivots, and results differ by rounding.
class GpuRoundsTwins : public GpuRoundsTest {
protected:
    void expect_twins_of(const CsrMatrix<>& A, const MlIluOptions& options, const std::string& where)
    {
        const auto rounds = build(A, options);
        ASSERT_TRUE(rounds.made()) << where << ": " << rounds.why_not();
        const auto host = MlIlu<>::build(cpu, A, options);
        expect_twins(rounds.report(), host.report(), where);
        const Vector          r = test::random_vector(A.rows(), 5);
        MlIluPreconditioner<> M(host);
        EXPECT_LE(distance_of(applied(rounds, r), test::precond::applied(M, r)), 1e-8) << where;
    }
};

TEST_F(GpuRoundsTwins, OfTheDefaultTestVector)
{
    for (Compensation compensation : {Compensation::on, Compensation::off, Compensation::lumped})
        for (double kappa : {1.713, 5., 1e300})
            for (const auto& [name, A] : matrices()) {
                MlIluOptions options = with_small_end();
                options.compensation = compensation;
                options.inverse_bound = kappa;
                expect_twins_of(A, options, name + ", bound " + std::to_string(kappa));
            }
}

/// Vectors whose values are no powers of two, and of both signs where there is one.
TEST_F(GpuRoundsTwins, OfTheCallersTestVectors)
{
    for (Index count : {1, 2, 3})
        for (const auto& [name, A] : matrices()) {
            Vector t = test::random_vector(A.rows() * count, 7);
            for (double& value : t) value = value < 0 && count == 1 ? value - 3 : value + 3;
            MlIluOptions options = with_small_end();
            options.compensation = Compensation::on;
            options.weak_coupling = 0;
            options.near_null = std::make_shared<const Vector>(t);
            expect_twins_of(A, options, name + ", vectors: " + std::to_string(count));
            options.near_null = std::make_shared<const Vector>(A.rows() * count, 0.);
            EXPECT_THROW(build(A, options), InvalidInput);
        }
}

/// Unknowns of two kinds, each with a vector of its own: rows are as dominant as for a constant, and weak couplings
/// between kinds weigh 0.
TEST_F(GpuRoundsTwins, OfTwoTestVectorsAndWeakCouplings)
{
    for (const auto& [name, A] : matrices()) {
        MlIluOptions options = with_small_end();
        options.compensation = Compensation::on;
        Vector kinds;
        for (Index i = 0; i < A.rows(); ++i) kinds.insert(kinds.end(), {1. - i % 2, 1. * (i % 2)});
        options.near_null = std::make_shared<const Vector>(kinds);
        expect_twins_of(A, options, name);
    }
}

TEST_F(GpuRoundsTwins, OfASaddlePointThatWaits)
{
    for (const double unit : {0x1p-13, 1.})  // others round, and then the signs of estimates that cancel differ
        for (const double tau : {0.02, 0.001}) {
            MlIluOptions options = with_small_end();
            options.matching = MatchingChoice::wait;
            options.schur_drop_tol = tau;
            const auto A = with_pressures_in(unit, gallery::stokes2d({.n = 40}));
            expect_twins_of(A, options, "stokes2d, unit " + std::to_string(unit));
        }
}

TEST_F(GpuRoundsTest, WeakCouplingsCostAsFewStepsAsOnTheHost)
{
    for (const auto& [name, A] : matrices()) {
        const Vector b = test::random_vector(A.rows(), 9);
        const auto   rounds = build(A, with_small_end());
        ASSERT_TRUE(rounds.made()) << name << ": " << rounds.why_not();
        const auto host = MlIlu<>::build(cpu, A, with_small_end());
        EXPECT_NEAR(steps(A, rounds, b), steps_on_host(A, host, b), 3) << name;
        EXPECT_NEAR(rounds.report().fill, host.report().fill, 0.05 * host.report().fill) << name;
    }
}

TEST_F(GpuRoundsTest, StoresInSinglePrecision)
{
    const auto   A = gallery::convdiff3d({.n = 14});
    const auto   in_double = build(A, with_small_end()), in_single = build(A, with_small_end(), true);
    const Vector r = test::random_vector(A.rows(), 5);
    EXPECT_TRUE(in_single.in_single());
    EXPECT_LT(in_single.bytes(), in_double.bytes());
    const double difference = distance_of(applied(in_single, r), applied(in_double, r));
    EXPECT_LE(difference, 1e-5);
    EXPECT_GT(difference, 0);
}

/// Set up and solved without a value of A, b or x on the host.
TEST_F(GpuRoundsTest, SolvesWhatIsOnTheDevice)
{
    const auto           A = gallery::convdiff3d({.n = 14});
    DeviceBuffer<Offset> row_ptr(A.row_ptr().size());
    DeviceBuffer<Index>  col(A.col().size());
    DeviceBuffer<double> val(A.val().size()), b(A.rows()), x(A.rows());
    upload<Offset>(gpu(), A.row_ptr(), row_ptr);
    upload<Index>(gpu(), A.col(), col);
    upload<double>(gpu(), A.val(), val);
    upload<double>(gpu(), test::random_vector(A.rows(), 5), b);

    const GpuMatrixOperator op(DeviceCsr<double>(gpu(), A.rows(), A.cols(), row_ptr, col, val));
    const auto          M = GpuRounds<>::build(cpu, gpu(), op.matrix(), with_small_end(), false).preconditioner(gpu());
    const KrylovOptions options{.rtol = 1e-10, .restart = 30};
    GmresWorkspace<Gpu> ws(A.rows(), options);
    EXPECT_EQ(gmres<Gpu>(gpu(), op, *M, b, x, ws, options).outcome, Outcome::converged);
    Vector solution(A.rows()), Ax(A.rows());
    download<double>(gpu(), x, solution);
    spmv(cpu, 1, A, solution, 0, Ax);
    EXPECT_LE(distance_of(Ax, test::random_vector(A.rows(), 5)), 1e-8);
}

TEST_F(GpuRoundsTest, BitsRepeat)
{
    const auto   A = with_hub(gallery::convdiff3d({.n = 16}), 2);
    const Vector r = test::random_vector(A.rows(), 5);
    const auto   first = applied(build(A, with_small_end()), r);
    for (int run = 1; run < 100; ++run) ASSERT_TRUE(identical(applied(build(A, with_small_end()), r), first)) << run;
}

TEST_F(GpuRoundsTest, SymmetricStaysSymmetric)
{
    const auto   A = gallery::poisson2d(50, 41);
    MlIluOptions options = with_small_end();
    options.definite = true;
    const auto rounds = build(A, options);
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    const Vector u = test::random_vector(A.rows(), 1), v = test::random_vector(A.rows(), 2);
    const Vector Mu = applied(rounds, u), Mv = applied(rounds, v);
    double       uMv = 0, vMu = 0, uMu = 0;
    for (std::size_t i = 0; i < u.size(); ++i) uMv += u[i] * Mv[i], vMu += v[i] * Mu[i], uMu += u[i] * Mu[i];
    EXPECT_NEAR(uMv, vMu, 1e-11 * uMu);
    EXPECT_GT(uMu, 0);
}

TEST_F(GpuRoundsInverse, OfAWholeMatrixThatIsSmall)
{
    for (Index n : {64, 100, 766, 1500, 1891, 2049, 4000}) {  // from some 1900 on by halves
        MlIluOptions options = with_small_end();
        options.dense_order = 4000;
        const auto A = test::random_dominant(n, 3, 5);
        EXPECT_EQ(build(A, options).dense_order(), n);
        expect_inverse(A, options);
    }
}

TEST_F(GpuRoundsInverse, OfWhatSeesTooMuchOfItselfForRounds)
{
    for (Index n : {1000, 2500})
        for (const bool positive : {false, true}) {
            auto A = test::random_dominant(n, n / 8, 5);
            if (positive) A = mean_with_image<double>(A, Mirror::hermitian);
            MlIluOptions options = with_small_end();
            options.definite = positive;
            options.schur_drop_tol = 0;
            options.weak_coupling = 0;
            expect_inverse(A, options);
            const auto first = build(A, options), again = rebuilt(A, first, options);
            EXPECT_TRUE(test::mentions(first.report().decisions, "the rest is inverted")) << n;
            const Vector r = test::random_vector(n, 4);
            EXPECT_TRUE(again.report().replayed) << n;
            EXPECT_TRUE(identical(applied(again, r), applied(first, r))) << n;
        }
}

/// [0 B; Bᵀ 0] has a first half that is singular, and [δ B; Bᵀ δ] one that loses the digits: the host takes over.
TEST_F(GpuRoundsInverse, OfHalvesThatLackRankIsTheHosts)
{
    const Index half = 1250;
    const auto  B = test::random_dominant(half, 3, 5);
    for (const double delta : {0., 1e-9}) {
        test::EntryList entries;
        for (Index i = 0; i < half; ++i) {
            for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p) {
                entries.add(i, half + B.col()[p], B.val()[p]);
                entries.add(half + B.col()[p], i, B.val()[p]);
            }
            if (delta > 0) entries.add(i, i, delta), entries.add(half + i, half + i, delta);
        }
        MlIluOptions options = with_small_end();
        options.dense_order = 4000;
        options.matching = MatchingChoice::off;
        options.scaling = false;
        expect_inverse(entries.matrix(2 * half, 2 * half), options);
        EXPECT_TRUE(test::mentions(build(entries.matrix(2 * half, 2 * half), options).report().decisions,
                                   "the host factors the dense end"))
            << delta;
    }
}

TEST_F(GpuRoundsTest, SaysWhyTheHostShouldDoIt)
{
    const auto small = build(gallery::poisson2d(3, 3), with_small_end());
    EXPECT_FALSE(small.made());
    EXPECT_NE(small.why_not().find("too few"), std::string::npos) << small.why_not();
    EXPECT_FALSE(build(CsrMatrix<>(), with_small_end()).made());

    MlIluOptions options;
    options.ordering = Ordering::none;  // an option of Crout's sweep
    const auto by_crout = build(random_regular(5000, 4, 3, true), options);
    EXPECT_FALSE(by_crout.made());
    EXPECT_EQ(by_crout.why_not(), "");

    options = with_small_end();
    options.definite = true;
    EXPECT_THROW(build(gallery::convdiff3d({.n = 10}), options), InvalidInput);
    EXPECT_THROW(GpuRounds<>::build(cpu, gpu(),
                                    DeviceCsr<>(gpu(), CsrMatrix<>::from_triplets(3, 4, std::vector<Index>{0},
                                                                                  std::vector<Index>{0}, Vector{1.})),
                                    {}, false),
                 InvalidInput);
}

TEST_F(GpuRoundsTest, LeavesRowsThatAreTooWideToTheHost)
{
    const auto rounds = build(with_hub(gallery::poisson2d(250, 250), 1), with_small_end());
    EXPECT_FALSE(rounds.made());
    EXPECT_NE(rounds.why_not().find("a row"), std::string::npos) << rounds.why_not();
}

TEST_F(GpuRoundsTest, HasNoMForNumbersThatAreNotFinite)
{
    for (double bad : {std::nan(""), HUGE_VAL}) {
        CsrMatrix<> A = gallery::convdiff3d({.n = 12});
        A.val()[A.row_ptr()[700]] = bad;
        const auto rounds = build(A, with_small_end());
        EXPECT_FALSE(rounds.made());
        EXPECT_NE(rounds.why_not(), "");
    }
}

TEST_F(GpuRoundsTest, KeepsToTheMemoryLimit)
{
    const auto   A = gallery::convdiff3d({.n = 16});
    MlIluOptions options = with_small_end();
    options.memory_limit = {static_cast<std::uint64_t>(A.bytes() + 400'000)};
    const auto rounds = build(A, options);
    EXPECT_FALSE(rounds.made());
    EXPECT_NE(rounds.why_not().find("memory limit"), std::string::npos) << rounds.why_not();
}

/// Fewer than are solved together, as many, and more.
TEST_F(GpuRoundsTest, SolvesSeveralColumnsAsEachAlone)
{
    for (const auto& [name, A] : matrices())
        for (bool in_single : {false, true}) {
            const auto rounds = build(A, with_small_end(), in_single);
            const auto M = rounds.preconditioner(gpu());
            const auto n = static_cast<std::size_t>(A.rows());
            for (std::size_t columns : {0, 1, 7, 8, 9, 17}) {
                const Vector         R = test::random_vector(A.rows() * static_cast<Index>(columns), 4);
                DeviceBuffer<double> dR(R.size()), dZ(R.size());
                upload<double>(gpu(), R, dR);
                Vector first, again(R.size());
                for (Vector* Z : {&first, &again}) {
                    Z->assign(R.size(), std::nan(""));
                    upload<double>(gpu(), *Z, dZ);
                    M->apply_columns(gpu(), dR, dZ);
                    download<double>(gpu(), dZ, *Z);
                }
                EXPECT_TRUE(identical(first, again)) << name << ", columns: " << columns;
                for (std::size_t c = 0; c < columns; ++c) {
                    const auto   column = [&](const Vector& all) { return Vector(&all[c * n], &all[c * n] + n); };
                    const Vector alone = applied(*M, column(R));
                    EXPECT_LE(distance_of(column(first), alone), 1e-13)
                        << name << ", column " << c << " of " << columns;
                }
            }
            DeviceBuffer<double> part(n + 1), other(2 * n);
            EXPECT_THROW(M->apply_columns(gpu(), part, part), InvalidInput);
            EXPECT_THROW(M->apply_columns(gpu(), other, part), InvalidInput);
        }
}

/// uᵀ (M⁻¹ v) = (M⁻ᵀ u)ᵀ v for matrices that are not symmetric, and M⁻ᵀ is M⁻¹ of Aᵀ where nothing is dropped.
TEST_F(GpuRoundsTest, AppliesItsTranspose)
{
    for (const auto& [name, A] : matrices())
        for (bool in_single : {false, true}) {
            const auto   rounds = build(A, with_small_end(), in_single);
            const Vector u = test::random_vector(A.rows(), 1), v = test::random_vector(A.rows(), 2);
            const Vector Mv = applied(rounds, v), Mtu = applied_transposed(rounds, u);
            double       uMv = 0, Mtuv = 0, size = 0;
            for (std::size_t i = 0; i < u.size(); ++i)
                uMv += u[i] * Mv[i], Mtuv += Mtu[i] * v[i], size += std::abs(u[i] * Mv[i]);
            EXPECT_NEAR(uMv, Mtuv, 1e-12 * size) << name;
        }
    const auto   A = gallery::recirculating2d({.n = 30});
    MlIluOptions exact = with_small_end();
    exact.drop_tol = 0;
    exact.compensation = Compensation::off;
    const auto   rounds = build(A, exact);
    const Vector x = test::random_vector(A.rows(), 3);
    Vector       b(x.size());
    spmv(cpu, 1, transpose(A), x, 0, b);
    EXPECT_LE(distance_of(applied_transposed(rounds, b), x), 1e-9);
}

/// Without an entry of L or U, and without a dense end.
TEST_F(GpuRoundsTest, AppliesTheTransposeOfADiagonalMatrix)
{
    test::EntryList entries;
    for (Index i = 0; i < 100; ++i) entries.add(i, i, 1 + i);
    const auto rounds = build(entries.matrix(100, 100), with_small_end());
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    const Vector r = test::random_vector(100, 1);
    Vector       x = r;
    for (Index i = 0; i < 100; ++i) x[i] /= 1 + i;
    EXPECT_LE(distance_of(applied_transposed(rounds, r), x), 1e-15);
}

TEST_F(GpuRoundsTest, HasATransposeOnlyWhereItIsAskedFor)
{
    const auto           A = gallery::poisson2d(30, 30);
    const auto           M = build(A, with_small_end()).preconditioner(gpu());
    DeviceBuffer<double> r(A.rows()), z(A.rows());
    EXPECT_THROW(M->apply_adjoint(gpu(), r, z), InvalidInput);
    EXPECT_THROW(M->apply(gpu(), r, DeviceSpan<double>(z).first(5)), InvalidInput);
}

TEST_F(GpuRoundsTest, EndsCleanlyWithoutMemory)
{
    const auto A = gallery::convdiff3d({.n = 12});
    const auto before = device_use().bytes;
    int        refusals = 0;
    for (long k = 1;; ++k) {
        detail::fail_device_allocations(k, 1);
        bool ended = false;
        try {
            const auto rounds = build(A, with_small_end());
            ended = rounds.made();
        } catch (const OutOfMemory&) {
            ++refusals;
        }
        const bool refused = detail::fail_device_allocations(0, 0) > 0;
        EXPECT_EQ(device_use().bytes, before);
        if (!refused) {
            EXPECT_TRUE(ended);
            break;
        }
    }
    EXPECT_GT(refusals, 10);
}

TEST_F(GpuRoundsTest, EndsWhenAskedTo)
{
    const auto A = gallery::convdiff3d({.n = 12});
    StopSource source;
    int        told = 0;
    const auto listener = [&](const Progress&) {
        if (++told == 3) source.request_stop();
    };
    EXPECT_THROW(GpuRounds<>::build(cpu, gpu(), DeviceCsr<>(gpu(), A), with_small_end(), false, listener,
                                    source.token()),
                 Cancelled);
    EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace ilux
