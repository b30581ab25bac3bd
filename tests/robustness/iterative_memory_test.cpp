// Lack of memory in whatever an iterative solution allocates, on one thread and on several.

#include <gtest/gtest.h>
#include <omp.h>

#include <memory>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/jacobi.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/sptrsv/gpu/chunked_layout.hpp"
#include "ilux/sptrsv/gpu/warp_layout.hpp"
#include "ilux/tests/krylov/runs.hpp"
#include "ilux/tests/robustness/lack_of_memory.hpp"

namespace ilux::test {
namespace {

/// Levels of several kinds, and enough rows in a Schur complement that threads share it.
CsrMatrix<> small_wind() { return gallery::build("recirculating2d:n=16"); }

constexpr int several = 3;  // threads: the main one and two that an exception must not leave

template <class M>
Ended solve_with(Cpu& be, Method method, const KrylovOptions& options, const CsrMatrix<>& A, M& preconditioner,
                 std::span<double> x)
{
    const std::vector<double> b(x.size(), 1.);
    const MatrixOperator      op(A, needs_transpose(method));
    KrylovWorkspace<Cpu>      ws(method, A.rows(), options);
    std::ranges::fill(x, 0.);
    return from_outcome(solve(be, method, op, preconditioner, b, x, ws, options).outcome);
}

class IterativeMemory : public testing::TestWithParam<krylov::Variant> {};
INSTANTIATE_TEST_SUITE_P(Methods, IterativeMemory, testing::ValuesIn(krylov::variants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(IterativeMemory, EveryMethodEndsCleanly)
{
    const auto A = gallery::build("poisson2d:n=12");
    for (const int threads : {1, several}) {
        Cpu                 be(threads);
        MlIluPreconditioner M(MlIlu<>::build(be, A, {.definite = true}));
        const Operation     operation{GetParam().name, static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                      return solve_with(be, GetParam().method, GetParam().opt, A, M, x);
                                  }};
        EXPECT_GT(expect_survives_lack_of_memory(operation), 3);
    }
}

struct Build {
    const char*  name;
    MlIluOptions options;
};
const Build builds[] = {
    {"plain", {}},
    {"matched, saving G and F, look-ahead",
     {.inverse_bound = 2,
      .matching = MatchingChoice::on,
      .off_diagonal = OffDiagonal::save,
      .estimator = Estimator::look_ahead}},
    {"metis, no dense level", {.ordering = Ordering::metis, .dense_order = 0}},
    {"rcm, bounded depth", {.ordering = Ordering::rcm, .depth_bound = {8}}},
    {"colamd, little memory", {.ordering = Ordering::colamd, .memory_limit = {60'000}}},
};

TEST(MultilevelMemory, BuildAndSolutionEndCleanly)
{
    const auto A = small_wind();
    for (const auto& [name, options] : builds)
        for (const int threads : {1, several}) {
            Cpu             be(threads);
            const Operation operation{name, static_cast<std::size_t>(A.rows()),
                                      [&, &options = options](std::span<double> x) {
                                          MlIluPreconditioner M(MlIlu<>::build(be, A, options, [](const Progress&) {}));
                                          return solve_with(be, Method::gmres, {.max_steps = 2000}, A, M, x);
                                      }};
            EXPECT_GT(expect_survives_lack_of_memory(operation, 200), 100);
        }
}

TEST(MultilevelMemory, SymmetricDefiniteBuildEndsCleanly)
{
    const auto      A = gallery::build("anisotropic2d:n=16");
    Cpu             be(several);
    const Operation operation{"definite", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                  MlIluPreconditioner M(MlIlu<>::build(be, A, {.inverse_bound = 2, .definite = true}));
                                  return solve_with(be, Method::cg, {}, A, M, x);
                              }};
    EXPECT_GT(expect_survives_lack_of_memory(operation, 200), 100);
}

TEST(SimplePreconditionerMemory, EndsCleanly)
{
    const auto A = gallery::build("poisson2d:n=12");
    for (const int threads : {1, several}) {
        Cpu             be(threads);
        const Operation jacobi{"jacobi", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                   Jacobi M(A);
                                   return solve_with(be, Method::cg, {}, A, M, x);
                               }};
        const Operation ilu0{"ilu0", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                 Ilu0 M(A);
                                 return solve_with(be, Method::bicg, {}, A, M, x);
                             }};
        EXPECT_GT(expect_survives_lack_of_memory(jacobi), 5);
        EXPECT_GT(expect_survives_lack_of_memory(ilu0), 20);
    }
}

template <class T>
void put(const ApplySystems<T>& systems, std::span<double> r, std::span<double> z)
{
    std::vector<double> work(systems.work);
    solve_serial<T>(systems, r, z, work);
}

/// What a GPU's preconditioner is made of is made on the host.
TEST(ApplyMemory, SystemsForAGpuEndCleanly)
{
    for (const char* problem : {"recirculating2d:n=16", "stokes2d:n=8", "random:n=150"}) {
        const auto          A = problem[1] == 'a' ? random_matrix(150, 150, 60, 1) : gallery::build(problem);
        const std::size_t   n = A.rows();
        std::vector<double> r(n, 1.);
        for (const int threads : {1, several}) {
            Cpu             be(threads);
            const auto      M = MlIlu<>::build(be, A, for_gpu({.inverse_bound = 2}));
            const Operation operation{problem, 3 * n, [&](std::span<double> z) {
                                          put(apply_systems<double>(be, M.factors(), false), r, z.first(n));
                                          put(apply_systems<double>(be, M.factors(), true), r, z.subspan(n, n));
                                          put(apply_systems<float>(be, M.factors(), false), r, z.last(n));
                                          return Ended::answered;
                                      }};
            EXPECT_GT(expect_survives_lack_of_memory(operation, 200), 50) << problem;
        }
    }
}

/// Their rows are shared by threads, all that OpenMP gives.
TEST(LayoutMemory, LayoutsForAGpuEndCleanly)
{
    const Ilu0 A(gallery::build("poisson2d:n=40"));
    const auto system = forward_system<double>(A.U(), Triangle::upper, Diagonal::stored);
    const auto level = levels(system.L);
    const int  before = omp_get_max_threads();
    for (const int threads : {1, several}) {
        omp_set_num_threads(threads);
        const Operation chunked{"chunked", 3, [&](std::span<double> found) {
                                    const auto layout = chunked_layout(system.L, {.longest = 3, .segment = 2});
                                    std::ranges::copy(std::vector<double>{double(layout.tasks.size()),
                                                                          double(layout.slots), double(layout.depth)},
                                                      found.begin());
                                    return Ended::answered;
                                }};
        const Operation warps{"warps", 2, [&](std::span<double> found) {
                                  const auto layout = warp_layout(system.L, level);
                                  found[0] = static_cast<double>(layout.tasks.size());
                                  found[1] = layout.depth();
                                  return Ended::answered;
                              }};
        EXPECT_GT(expect_survives_lack_of_memory(chunked), 100);
        EXPECT_GT(expect_survives_lack_of_memory(warps), 10);
    }
    omp_set_num_threads(before);
}

}  // namespace
}  // namespace ilux::test
