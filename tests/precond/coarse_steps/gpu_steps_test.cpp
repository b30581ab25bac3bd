// The steps of a coarse space on a device against those of the host: the same groups, the same matrices up to rounding,
// the same bits again.

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/precond/coarse/found_vectors.hpp"
#include "ilux/precond/coarse_steps/roots.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
class GpuStepsOf : public test::GpuTest {
protected:
    /// Both matrices have the same pattern, and values that differ by rounding. Columns ascend in every row.
    void expect_twins(const DeviceCsr<S>& made, const CsrMatrix<S>& expected)
    {
        const auto host = brought(gpu(), made);
        ASSERT_TRUE(std::ranges::equal(host.row_ptr(), expected.row_ptr()));
        ASSERT_TRUE(std::ranges::equal(host.col(), expected.col()));
        const std::vector<S> x(host.val().begin(), host.val().end()), y(expected.val().begin(), expected.val().end());
        EXPECT_LE(far(x, y), 1e-13);
    }
    Cpu cpu{2};
};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(GpuStepsOf, Numbers);

/// A row of every length, so that every table is used, and one that is too wide for all.
TYPED_TEST(GpuStepsOf, ProductsAreThoseOfTheHost)
{
    using S = TypeParam;
    for (const Index n : {0, 1, 31, 32, 33, 3000}) {
        const auto A = in_numbers_of<S>(test::random_matrix(n, n / 2 + 1, 4, 1));
        const auto B = in_numbers_of<S>(test::random_matrix(n / 2 + 1, n + 3, 5, 2));
        this->expect_twins(product<S>(this->gpu(), DeviceCsr<S>(this->gpu(), A), DeviceCsr<S>(this->gpu(), B)),
                           product<S>(this->cpu, A, B));
        this->expect_twins(adjoint<S>(this->gpu(), DeviceCsr<S>(this->gpu(), A)), adjoint<S>(this->cpu, A));
    }
    for (const Index wide : {20, 90, 400, 2000, 7000, 30000}) {
        std::vector<Index>  row, col;
        std::vector<double> val;
        for (Index j = 0; j < wide; ++j) row.push_back(0), col.push_back(j), val.push_back(1 + j % 7);
        for (Index i = 1; i < std::min<Index>(50, wide); ++i) row.push_back(i), col.push_back(i), val.push_back(i);
        const auto         real = CsrMatrix<double>::from_triplets(wide, wide, row, col, val);
        const CsrMatrix<S> A =
            CsrMatrix<S>::from_sorted(wide, wide, {real.row_ptr().begin(), real.row_ptr().end()},
                                      {real.col().begin(), real.col().end()}, {real.val().begin(), real.val().end()});
        const auto I = in_numbers_of<S>(CsrMatrix<double>::identity(wide));
        this->expect_twins(product<S>(this->gpu(), DeviceCsr<S>(this->gpu(), A), DeviceCsr<S>(this->gpu(), I)),
                           product<S>(this->cpu, A, I));
    }
}

TYPED_TEST(GpuStepsOf, AggregatesAreThoseOfTheHost)
{
    using S = TypeParam;
    for (const auto& A : {gallery::poisson2d(60, 50), gallery::convdiff3d({.n = 20}), gallery::elasticity2d({.n = 40}),
                          gallery::stokes2d({.n = 16}), CsrMatrix<double>::identity(33)})
        for (const Index unknowns : {0, 60}) {
            std::vector<S>   values(A.val().begin(), A.val().end());
            const CsrView<S> view(A.rows(), A.cols(), A.row_ptr(), A.col(), values);
            const auto       nodes = groups_of(this->cpu, nodes_of<S>(view));
            const auto       host = aggregates<Cpu, S>(this->cpu, view, nodes, unknowns);
            for (int repeat = 0; repeat < 3; ++repeat) {
                const auto made =
                    on_host(this->gpu(), aggregates<Gpu, S>(this->gpu(), DeviceCsr<S>(this->gpu(), view),
                                                            groups_of(this->gpu(), nodes_of<S>(view)), unknowns));
                ASSERT_EQ(made.of, host.of) << A.rows();
                EXPECT_EQ(made.begin, host.begin);
            }
        }
}

TYPED_TEST(GpuStepsOf, BasesAndSmoothedOnesAreThoseOfTheHost)
{
    using S = TypeParam;
    const auto real = gallery::elasticity2d({.n = 30});
    const auto A = in_numbers_of<S>(real);
    const auto nodes = groups_of(this->cpu, nodes_of<S>(A));
    const auto parts = aggregates<Cpu, S>(this->cpu, A, nodes, 60);
    auto       vectors = constants<S>(this->cpu, A, nodes_of<S>(A), false);
    append<Cpu, S>(this->cpu, vectors, random_numbers<S>(A.rows(), 1));
    append<Cpu, S>(this->cpu, vectors, column(vectors, 0));  // no column of its own
    const auto             host = orthonormal_basis<S>(this->cpu, parts, vectors);
    const NearNull<Gpu, S> there{on_device<S>(this->gpu(), vectors.values), vectors.count};
    const auto             made = orthonormal_basis<S>(this->gpu(), on_device(this->gpu(), parts), there);
    this->expect_twins(made.P, host.P);
    EXPECT_LE(far(on_host<S>(this->gpu(), made.coarse.values), host.coarse.values), 1e-13);
    EXPECT_EQ(on_host(this->gpu(), made.nodes).of, host.nodes.of);
    EXPECT_EQ(on_host(this->gpu(), made.nodes).begin, host.nodes.begin);
    const DeviceCsr<S> A_there(this->gpu(), A);
    this->expect_twins(smoothed<S>(this->gpu(), A_there, made.P), smoothed<S>(this->cpu, A, host.P));
    const auto first = on_host<S>(this->gpu(), smoothed<S>(this->gpu(), A_there, made.P).val());
    for (int repeat = 0; repeat < 20; ++repeat)
        EXPECT_EQ(on_host<S>(this->gpu(), smoothed<S>(this->gpu(), A_there, made.P).val()), first);
}

/// The parts of M₂ on the device and on the host: z of the same r.
TYPED_TEST(GpuStepsOf, ASpaceIsThatOfTheHost)
{
    using S = TypeParam;
    for (const auto& real : {gallery::convdiff3d({.n = 20}), gallery::elasticity2d({.n = 60})}) {
        const auto    A = in_numbers_of<S>(real);
        CoarseOptions options{.most_found = 0, .M = {.setup = MlIluSetup::rounds}};
        options.M.schur_drop_tol = 0.02;
        options.M.compensation = Compensation::off;
        const MatrixOperator<S>    op(A, true);
        const GpuMatrixOperator<S> op_there(this->gpu(), A, true);
        const auto                 mlilu = MlIlu<S>::build(this->cpu, A, options.M);
        const auto rounds = GpuRounds<S>::build(this->cpu, this->gpu(), op_there.matrix(), options.M, false);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        const auto host = found_space<Cpu, S>({this->cpu, this->cpu, {}},
                                              {A, A, op, std::make_unique<MlIluPreconditioner<S>>(mlilu)}, options);
        const auto there =
            found_space<Gpu, S>({this->cpu, this->gpu(), {}},
                                {A, op_there.matrix(), op_there, rounds.preconditioner(this->gpu(), true)}, options);
        ASSERT_TRUE(host.level && there.level);
        EXPECT_EQ(there.level->A.rows(), host.level->A.rows());
        EXPECT_EQ(there.level->levels(), host.level->levels());
        this->expect_twins(there.level->P, host.level->P);
        this->expect_twins(there.level->A, host.level->A);
        const auto      of_coarse = there.level->M.make(this->gpu(), true);
        const auto      y = random_numbers<S>(host.level->A.rows(), 5), Ay = times<S>(host.level->A, y);
        DeviceBuffer<S> there_y(y.size());
        of_coarse->apply(this->gpu(), on_device<S>(this->gpu(), Ay), there_y);
        EXPECT_LE(far(on_host<S>(this->gpu(), there_y), y), 1e-8) << A.rows();
        CoarseCorrection<Cpu, S> Q(this->cpu, host.level, true);
        CoarseCorrection<Gpu, S> Q_there(this->gpu(), there.level, true);
        MlIluPreconditioner<S>   M(mlilu);
        const auto               M_there = rounds.preconditioner(this->gpu(), true);
        const auto               r = random_numbers<S>(A.rows(), 3);
        const auto               on_gpu = [&](Preconditioner<Gpu, S>& one, bool adjoint) {
            DeviceBuffer<S> dr = on_device<S>(this->gpu(), r), dz(r.size());
            if (adjoint) one.apply_adjoint(this->gpu(), dr, dz);
            else one.apply(this->gpu(), dr, dz);
            return on_host<S>(this->gpu(), dz);
        };
        for (const bool adjoint : {false, true}) {
            EXPECT_LE(far(on_gpu(Q_there, adjoint), applied<S>(Q, r, adjoint)), 1e-8) << A.rows();
            if (A.rows() == 8000) {  // pivots of elasticity differ by rounding
                EXPECT_LE(far(on_gpu(*M_there, adjoint), applied<S>(M, r, adjoint)), 1e-6) << A.rows();
            }
        }
    }
}

/// Vectors given as 0 where unknowns are held fast make the host's space there, too.
TYPED_TEST(GpuStepsOf, UnknownsThatAreHeldFastMayHaveNoVector)
{
    using S = TypeParam;
    const auto A = in_numbers_of<S>(half_held_fast());
    for (const int count : {1, 2}) {
        CoarseOptions options{.most_found = 0, .M = {.setup = MlIluSetup::rounds}};
        options.positive = options.lumped = true;
        options.M.compensation = Compensation::lumped;
        options.M.schur_drop_tol = 0.02;
        const MlIluOptions plain = options.M;
        options.M.near_null = std::make_shared<const std::vector<double>>(vectors_of_the_free_half(count));
        const MatrixOperator<S>    op(A);
        const GpuMatrixOperator<S> op_there(this->gpu(), A);
        const auto                 mlilu = MlIlu<S>::build(this->cpu, A, plain);
        const auto rounds = GpuRounds<S>::build(this->cpu, this->gpu(), op_there.matrix(), plain, false);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        const auto host = found_space<Cpu, S>({this->cpu, this->cpu, {}},
                                              {A, A, op, std::make_unique<MlIluPreconditioner<S>>(mlilu)}, options);
        const auto there =
            found_space<Gpu, S>({this->cpu, this->gpu(), {}},
                                {A, op_there.matrix(), op_there, rounds.preconditioner(this->gpu())}, options);
        ASSERT_TRUE(host.level && there.level);
        this->expect_twins(there.level->P, host.level->P);
        this->expect_twins(there.level->A, host.level->A);
        EXPECT_LT(there.level->A.rows(), count * A.rows() / 8);
    }
}

/// Vectors are found there as on the host, and once more the same.
TYPED_TEST(GpuStepsOf, VectorsAreFoundThere)
{
    using S = TypeParam;
    const auto       real = gallery::poisson2d(150, 150);
    std::vector<S>   values(real.val().begin(), real.val().end());
    const CsrView<S> A(real.rows(), real.cols(), real.row_ptr(), real.col(), values);
    CoarseOptions    options{.unknowns = 60, .M = {.setup = MlIluSetup::rounds}};
    options.M.schur_drop_tol = 0.9;
    options.M.compensation = Compensation::lumped;
    options.positive = options.lumped = true;
    std::vector<double> useless(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < useless.size(); ++i) useless[i] = (i + i / 150) % 2 == 0 ? 1 : -1;
    options.M.near_null = std::make_shared<const std::vector<double>>(useless);
    MlIluOptions plain = options.M;
    plain.near_null = {};
    const MatrixOperator<S>    op(A);
    const GpuMatrixOperator<S> op_there(this->gpu(), A);
    const auto                 host =
        found_space<Cpu, S>({this->cpu, this->cpu, {}},
                            {A, A, op, std::make_unique<MlIluPreconditioner<S>>(MlIlu<S>::build(this->cpu, A, plain))},
                            options);
    const auto rounds = GpuRounds<S>::build(this->cpu, this->gpu(), op_there.matrix(), plain, false);
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    std::vector<S> first;
    for (int repeat = 0; repeat < 5; ++repeat) {
        const auto there =
            found_space<Gpu, S>({this->cpu, this->gpu(), {}},
                                {A, op_there.matrix(), op_there, rounds.preconditioner(this->gpu())}, options);
        EXPECT_GE(there.vectors.found, 1);
        EXPECT_EQ(there.vectors.found, host.vectors.found);
        EXPECT_NEAR(there.left, host.left, 1e-2);
        const auto vectors = on_host<S>(this->gpu(), there.vectors.all.values);
        if (repeat == 0) first = vectors;
        EXPECT_EQ(vectors, first);
    }
}

}  // namespace
}  // namespace ilux
