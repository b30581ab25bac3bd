// Lack of device memory, and of page-locked memory, in whatever asks for them: solutions by every method, triangular
// systems by every engine, series and batches of direct solutions.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ilux/direct/batch/gpu_lu_batch.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"
#include "ilux/tests/direct/small_matrix.hpp"
#include "ilux/tests/krylov/runs.hpp"
#include "ilux/tests/robustness/lack_of_device_memory.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

class GpuMemory : public test::GpuTest {
protected:
    Cpu cpu{1};
};

/// A, the vectors and x, by `method` with the preconditioner that `make` puts on the device.
template <class Make>
Ended solve_on(Gpu& gpu, Method method, const KrylovOptions& options, const CsrMatrix<>& A, std::span<double> x,
               Make&& make)
{
    const GpuMatrixOperator op(gpu, A, needs_transpose(method));
    auto                    M = make();
    KrylovWorkspace<Gpu>    ws(method, A.rows(), options);
    const auto              b = krylov::on_device(gpu, Vector(x.size(), 1.));
    auto                    found = krylov::on_device(gpu, Vector(x.size(), 0.));
    const auto              report = solve<Gpu>(gpu, method, op, *M, b, found, ws, options);
    download<double>(gpu, found, x);
    return from_outcome(report.outcome);
}

TEST_F(GpuMemory, EveryMethodEndsCleanly)
{
    const auto A = gallery::build("poisson2d:n=20");
    const auto mlilu = MlIlu<>::build(cpu, A, for_gpu({.definite = true}));
    for (const auto& variant : krylov::variants) {
        const Operation operation{variant.name, static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                      return solve_on(gpu(), variant.method, variant.opt, A, x, [&] {
                                          const GpuFactorOptions options{.adjoinable = needs_transpose(variant.method)};
                                          return std::make_unique<GpuMlIluPreconditioner<>>(gpu(),
                                                                                            gpu_mlilu(cpu, gpu(), mlilu,
                                                                                                      options));
                                      });
                                  }};
        EXPECT_GT(expect_survives_lack_of_device_memory(operation, Then::either), 10);
    }
}

TEST_F(GpuMemory, SimplePreconditionersEndCleanly)
{
    const auto      A = gallery::build("poisson2d:n=20");
    const Ilu0      ilu0(A);
    const Jacobi<>  jacobi(A);
    const Operation by_ilu0{"ilu0", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                return solve_on(gpu(), Method::bicgstab, {}, A, x, [&] {
                                    return std::make_unique<GpuIlu0Preconditioner<float>>(gpu(),
                                                                                          gpu_ilu0<float>(cpu, gpu(),
                                                                                                          ilu0));
                                });
                            }};
    const Operation by_jacobi{"jacobi", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                  return solve_on(gpu(), Method::cg, {}, A, x,
                                                  [&] { return std::make_unique<GpuJacobi<>>(gpu(), jacobi); });
                              }};
    EXPECT_GT(expect_survives_lack_of_device_memory(by_ilu0, Then::either), 10);
    EXPECT_GT(expect_survives_lack_of_device_memory(by_jacobi), 5);
}

template <class T>
Ended sptrsv_by(Gpu& gpu, const ForwardSystem<T>& system, GpuSpTrsvEngine engine, std::span<double> x)
{
    const GpuSpTrsvPlan<T> plan(gpu, system, engine);
    auto                   one = plan.workspace(gpu), three = plan.workspace(gpu, 3);
    const auto             b = krylov::on_device(gpu, Vector(x.size(), 1.));
    DeviceBuffer<double>   found(x.size());
    const std::size_t      n = x.size() / 4;
    plan.solve(gpu, DeviceSpan<const double>(b).first(n), DeviceSpan<double>(found).first(n), one);
    plan.solve(gpu, DeviceSpan<const double>(b).subspan(n, 3 * n), DeviceSpan<double>(found).subspan(n, 3 * n), three);
    download<double>(gpu, found, x);
    return Ended::answered;
}

TEST_F(GpuMemory, TriangularSystemsOfEveryEngineEndCleanly)
{
    const Ilu0 A(gallery::build("poisson2d:n=40"));
    const auto in_double = forward_system<double>(A.U(), Triangle::upper, Diagonal::stored);
    const auto in_single = forward_system<float>(A.L(), Triangle::lower, Diagonal::unit);
    for (std::size_t e = 0; e < names(GpuSpTrsvEngine{}).size(); ++e) {
        const auto      engine = static_cast<GpuSpTrsvEngine>(e);
        const double    spread = engine == GpuSpTrsvEngine::cusparse ? 1e-5 : 0;
        const Operation twice{std::string(names(engine)[e]), 8 * static_cast<std::size_t>(A.size()),
                              [&](std::span<double> x) {
                                  const std::size_t half = x.size() / 2;
                                  sptrsv_by(gpu(), in_double, engine, x.first(half));
                                  return sptrsv_by(gpu(), in_single, engine, x.last(half));
                              },
                              spread};
        EXPECT_GT(expect_survives_lack_of_device_memory(twice, Then::either), 4);
    }
}

LuOptions by(RefactorMethod method)
{
    LuOptions options;
    options.refactor = method;
    return options;
}

const RefactorMethod methods[] = {RefactorMethod::automatic, RefactorMethod::left, RefactorMethod::glu1,
                                  RefactorMethod::glu3, RefactorMethod::islu};

/// The last bits of atomic additions vary.
double spread_of(RefactorMethod method)
{
    return method == RefactorMethod::glu1 || method == RefactorMethod::glu3 ? 1e-8 : 0;
}

/// All that a series does: factors, refactors, solves alone, transposed, several together, and in one launch.
/// @param x  7 n
Ended series_on(Lu<>& lu, const DataflowSystem& system, std::span<double> x)
{
    const std::size_t n = static_cast<std::size_t>(system.A.n);
    Vector            next = system.A.val;
    for (double& value : next) value *= 1.25;
    const Vector b = random_vector(static_cast<Index>(3 * n), 1);
    const auto   first = std::span(b).first(n);
    if (from_outcome(lu.factor(system.A.val).outcome) != Ended::answered) return Ended::out_of_memory;
    if (from_outcome(lu.refactor_or_factor(next).outcome) != Ended::answered) return Ended::out_of_memory;
    for (const auto outcome :
         {lu.solve(first, x.first(n)).outcome, lu.solve(first, x.subspan(n, n), Transpose::yes).outcome,
          lu.solve(b, x.subspan(2 * n, 3 * n)).outcome})
        if (from_outcome(outcome) != Ended::answered) return Ended::out_of_memory;
    const auto step = lu.refactor_and_solve(system.A.val, first, x.subspan(5 * n, n));
    if (from_outcome(step.solution.outcome) != Ended::answered) return Ended::out_of_memory;
    std::ranges::fill(x.last(n), lu.factors().val.front());  // brought to the host
    return Ended::answered;
}

TEST_F(GpuMemory, ASeriesByEveryMethodEndsCleanly)
{
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 80, .decades = 4}));
    for (const RefactorMethod method : methods) {
        const auto      symbolic = analyse(system.view(), by(method));
        const Operation operation{std::string(name(method)), 7 * static_cast<std::size_t>(system.A.n),
                                  [&](std::span<double> x) {
                                      Lu lu(cpu, symbolic);
                                      lu.use_gpu(gpu());
                                      return series_on(lu, system, x);
                                  },
                                  spread_of(method)};
        EXPECT_GT(expect_survives_lack_of_device_memory(operation, Then::either), 10);
    }
}

/// Hilbert's matrix needs factors in double. Where there is no memory for them the host solves.
TEST_F(GpuMemory, AnObjectThatLackedMemoryIsAsGoodAsNew)
{
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 80, .decades = 4}));
    for (const RefactorMethod method : methods) {
        Lu lu(cpu, analyse(system.view(), by(method)));
        lu.use_gpu(gpu());
        const Operation operation{std::string(name(method)), 7 * static_cast<std::size_t>(system.A.n),
                                  [&](std::span<double> x) { return series_on(lu, system, x); }, spread_of(method),
                                  true};
        EXPECT_GT(expect_survives_lack_of_device_memory(operation, Then::either), 10);
    }
}

template <class T>
Operation batch_operation(Gpu& gpu, const DataflowSystem& system, Index members)
{
    const auto n = static_cast<std::size_t>(system.A.n) * static_cast<std::size_t>(members);
    return {"batch", 2 * n, [&gpu, &system, members, n](std::span<double> x) {
                const auto           values = krylov::on_device(gpu, member_values(system.A.val, members));
                const auto           b = krylov::on_device(gpu, Vector(n, 1.));
                DeviceBuffer<double> found(2 * n);
                GpuLuBatch<T>        batch(gpu, system.F.pattern, members);
                batch.refactor(gpu, values.data());
                batch.solve(gpu, b.data(), found.data());
                batch.solve(gpu, b.data(), found.data() + n, Transpose::yes);
                for (const PivotMonitor& monitor : batch.monitors(gpu)) EXPECT_LT(monitor.bad_column, 0);
                download<double>(gpu, found, x);
                return Ended::answered;
            }};
}

TEST_F(GpuMemory, BatchesEndCleanly)
{
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 80, .decades = 2}));
    EXPECT_GT(expect_survives_lack_of_device_memory(batch_operation<double>(gpu(), system, 33)), 10);
    EXPECT_GT(expect_survives_lack_of_device_memory(batch_operation<float>(gpu(), system, 8)), 10);
}

/// A batch that could not prepare a solution still has its factors.
TEST_F(GpuMemory, ABatchThatLackedMemoryForASolutionPreparesItLater)
{
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 80, .decades = 2}));
    const auto           n = static_cast<std::size_t>(system.A.n);
    const auto           values = krylov::on_device(gpu(), system.A.val), b = krylov::on_device(gpu(), Vector(n, 1.));
    DeviceBuffer<double> x(n), y(n);
    GpuLuBatch<double>   batch(gpu(), system.F.pattern, 1), twin(gpu(), system.F.pattern, 1);
    batch.refactor(gpu(), values.data());
    twin.refactor(gpu(), values.data());
    twin.solve(gpu(), b.data(), y.data());
    const std::size_t before = device_use().bytes;
    long              k = 1;
    for (bool refused = true; refused; ++k) {
        detail::fail_device_allocations(k, 1);
        try {
            batch.prepare(gpu(), Transpose::no);
        } catch (const OutOfMemory&) {
        }
        refused = detail::fail_device_allocations(0, 0) > 0;
        if (refused) {
            ASSERT_EQ(device_use().bytes, before) << k;
        }
        ASSERT_LT(k, 1000);
    }
    EXPECT_GT(k, 2);
    batch.solve(gpu(), b.data(), x.data());
    Vector found(n), expected(n);
    download<double>(gpu(), x, found);
    download<double>(gpu(), y, expected);
    EXPECT_TRUE(identical(found, expected));
}

}  // namespace
}  // namespace ilux::test
