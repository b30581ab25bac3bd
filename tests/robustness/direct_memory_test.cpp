// Lack of memory in whatever a direct solution allocates: analysis, first factorization, refactorization on threads,
// repivoting, refinement, and what the host makes for a refactorization on a GPU.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/direct/batch/batch_dataflow.hpp"
#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"
#include "ilux/direct/gpu/member_union.hpp"
#include "ilux/direct/gpu/monitor_plan.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/direct/published/refactor_left_plan.hpp"
#include "ilux/direct/published/refactor_right_plan.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/solve/lu_forward_system.hpp"
#include "ilux/direct/solve/residual_rows.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/robustness/lack_of_memory.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

/// Values of two systems that need different pivots.
struct TwoSystems {
    explicit TwoSystems(const CsrMatrix<>& A) : series(A, 3), b(A.rows(), 1.), first(series.val), second(series.val)
    {
        for (Index i = 0; i < A.rows(); i += 7)
            for (Offset p = series.ptr[i]; p < series.ptr[i + 1]; ++p)
                if (series.idx[p] == i) second[p] = 0;
    }
    std::size_t n() const { return b.size(); }

    Series series;
    Vector b, first, second;
};

struct NamedMatrix {
    const char* name;
    CsrMatrix<> A;
};
std::vector<NamedMatrix> memory_matrices()
{
    return {{"circuit", gallery::build("mna_random:n=60,decades=2")}, {"random", random_dominant(70, 4, 1)}};
}

struct Analysis {
    const char* name;
    LuOptions   options;
};
const Analysis analyses[] = {
    {"auto", {}},
    {"metis, matching by values",
     {.ordering = LuOrdering::metis, .matching = LuMatching::on, .scaling = LuScaling::matching}},
    {"colamd, one block", {.ordering = LuOrdering::colamd, .blocks = false, .pivot_tol = 1}},
};

TEST(LuMemory, AnalysisToSolutionEndsCleanly)
{
    for (const auto& [name, A] : memory_matrices())
        for (const auto& [how, options] : analyses) {
            const TwoSystems two(A);
            Cpu              be(1);
            const Operation  operation{std::string(name) + ", " + how, 2 * two.n(),
                                      [&, &options = options](std::span<double> x) {
                                          Lu lu(be, analyse(two.series.view(), options));
                                          for (const Vector& values : {two.first, two.second})
                                              if (from_outcome(lu.refactor_or_factor(values).outcome) !=
                                                  Ended::answered)
                                                  return Ended::out_of_memory;
                                          const auto solved = lu.solve(two.b, x.first(two.n()));
                                          if (from_outcome(solved.outcome) != Ended::answered)
                                              return Ended::out_of_memory;
                                          LuWorkspace<> ws(static_cast<Index>(two.n()));
                                          x.back() = condition_estimate(be, lu.factors(), lu.matrix(), ws);
                                          return from_outcome(lu.solve(two.b, x.last(two.n()), Transpose::yes).outcome);
                                      }};
            EXPECT_GT(expect_survives_lack_of_memory(operation, 150), 50);
        }
}

/// The same object goes on: what failed for lack of memory works once there is some, as if nothing had been.
TEST(LuMemory, AnObjectThatLackedMemoryIsAsGoodAsNew)
{
    for (const int threads : {1, 3}) {
        const TwoSystems two(memory_matrices().front().A);
        Cpu              be(threads);
        Lu               lu(be, analyse(two.series.view()));
        const auto       step = [&](const Vector& values, std::span<double> x) {
            if (from_outcome(lu.refactor_or_factor(values).outcome) != Ended::answered) return Ended::out_of_memory;
            return from_outcome(lu.solve(two.b, x).outcome);
        };
        const Operation factor{"factor", two.n(),
                               [&](std::span<double> x) {
                                   if (from_outcome(lu.factor(two.first).outcome) != Ended::answered)
                                       return Ended::out_of_memory;
                                   if (step(two.first, x) != Ended::answered) return Ended::out_of_memory;
                                   return step(two.second, x);
                               },
                               0, true};
        EXPECT_GT(expect_survives_lack_of_memory(factor, 300), 20);
    }
}

/// Between a failure and the next success the object serves its last numbers or refuses; it never solves with half of
/// new ones.
TEST(LuMemory, AfterAFailureSolutionsAreRightOrRefused)
{
    const TwoSystems two(memory_matrices().front().A);
    Cpu              be(1);
    for (long k = 1, failed = 1; failed != 0; ++k) {
        Lu lu(be, analyse(two.series.view()));
        ASSERT_EQ(lu.factor(two.first).outcome, Outcome::converged);
        LuReport report;
        {
            const AllocationCounter counter(k);
            try {
                report = lu.refactor_or_factor(two.second);
            } catch (const std::bad_alloc&) {
                report.outcome = Outcome::out_of_memory;
            }
            failed = counter.failed();
        }
        Vector     x(two.n(), 0.);
        const auto solved = lu.solve(two.b, x).outcome;
        ASSERT_EQ(solved, report.outcome) << k;
        if (solved == Outcome::converged) {
            ASSERT_LE(componentwise_error(lu.matrix(), x, two.b), 1e-12) << k;
        }
        ASSERT_LT(k, 10'000);
    }
}

TEST(LuMemory, RefactorizationByThreadsEndsCleanly)
{
    const auto     A = gallery::build("mna_random:n=200,decades=2");
    const auto     F = gilbert_peierls(analyse(view(A)), A.val());
    RefactorTuning tuning{.hub_updates = 10, .hub_share = 0, .task_seconds = 1e-7, .least_gain = 0};
    for (const int threads : {1, 3}) {
        Cpu             be(threads);
        const Operation operation{"threads", F.val.size(), [&](std::span<double> val) {
                                      CpuRefactor<> refactor(be, F.pattern, tuning);
                                      LuFactors<>   found = F;
                                      refactor.run(be, A.val(), found);
                                      std::ranges::copy(found.val, val.begin());
                                      return Ended::answered;
                                  }};
        EXPECT_GT(expect_survives_lack_of_memory(operation, 200), 20);
    }
}

/// The operation that makes `made` and hands over a few of its numbers.
template <class Make>
Operation host_side(const char* name, Make make)
{
    return {name, 3, [make](std::span<double> found) {
                const Vector numbers = make();
                std::ranges::copy(numbers, found.begin());
                return Ended::answered;
            }};
}

std::vector<Operation> host_side_of_a_gpu(const LuFactors<>& F, const LuSymbolic& symbolic)
{
    const LuPattern& P = *F.pattern;
    const auto       size = [](const auto& vector) { return static_cast<double>(vector.size()); };
    return {
        host_side("levels",
                  [&, size] {
                      const auto left = lu_levels(P, DependencyRule::left), exact = lu_levels(P, DependencyRule::exact),
                                 relaxed = lu_levels(P, DependencyRule::relaxed);
                      return Vector{size(left.level_ptr), size(exact.level_ptr), size(relaxed.level_ptr)};
                  }),
        host_side("member union",
                  [&, size] {
                      const auto runs = count_runs(P);
                      const auto some = member_union(P, plan_union(P, 4096, {}, runs)),
                                 all = member_union(P, plan_union(P, 1 << 30, {}, runs));
                      return Vector{size(all.plain), size(some.len), size(decoded(P, some))};
                  }),
        host_side("dot products",
                  [&, size] {
                      const TailColumns tail = choose_dense_tail(P);
                      const auto        program = factor_dataflow(P, tail);
                      const auto        dense = dense_tail(P, tail, program.slot_of);
                      const auto        solve = solve_dataflow(P, program, Transpose::yes);
                      const auto        batch = batch_dataflow(program, 8);
                      return Vector{program.products, size(batch.task), static_cast<double>(dense.size)};
                  }),
        host_side("plans of left and right-looking methods",
                  [&, size] {
                      const auto left = detail::plan_left(P, {});
                      const auto right = detail::plan_right(P, {}, {.warps = 8, .blocks = 16});
                      return Vector{size(left.column), size(right.steps), static_cast<double>(right.streams)};
                  }),
        host_side("monitor, inputs, residual",
                  [&, size] {
                      const auto monitor = monitor_plan(P);
                      const auto inputs = entry_inputs(P);
                      const auto repeated = repeated_inputs(inputs);
                      const auto rows = residual_rows(symbolic, Transpose::yes);
                      return Vector{size(monitor.piece), size(inputs.source) + size(repeated.entry), size(rows.col)};
                  }),
        host_side("substitutions as a forward system", [&] {
            const auto plain = lu_forward_system(P, {}, Transpose::no),
                       transposed = lu_forward_system(P, {}, Transpose::yes);
            return Vector{static_cast<double>(plain.system.size()), static_cast<double>(plain.system.L.nnz()),
                          static_cast<double>(transposed.system.L.nnz())};
        })};
}

TEST(LuMemory, TheHostSideOfAGpuEndsCleanly)
{
    for (const auto& [name, A] : memory_matrices()) {
        const auto symbolic = analyse(view(A));
        const auto F = gilbert_peierls(symbolic, A.val());
        for (const Operation& operation : host_side_of_a_gpu(F, *symbolic))
            EXPECT_GT(expect_survives_lack_of_memory(operation, 150), 3);
    }
}

}  // namespace
}  // namespace ilux::test
