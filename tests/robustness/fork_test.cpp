// A child of fork() has none of the threads that its parent's solutions left behind.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "ilux/direct/klu/ilux_klu.h"
#include "ilux/gallery/gallery.hpp"
#include "ilux/reorder/ordering.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/checks.hpp"

namespace {

std::atomic<bool> seeds_linger = false;
std::atomic<int>  being_seeded = 0;
std::atomic<long> seeds = 0;

}  // namespace

/// METIS's calls of the C library's srand(), which may take long enough for a fork to meet them.
extern "C" void srand(unsigned seed) noexcept
{
    ++being_seeded;
    ++seeds;
    if (seeds_linger) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    srandom(seed);  // by another name
    --being_seeded;
}

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

constexpr int threads = 4, seconds = 60;

/// Whether solve() gives this x in a child; false also where it is not there within `seconds`.
bool child_agrees(const std::function<Vector()>& solve, const Vector& x)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        bool same = false;
        try {
            same = solve() == x;
        } catch (...) {  // a child must not go on with the tests
        }
        _exit(same ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Vector by_linear_solver(LinearSolver<>& solver, const CsrMatrix<double>& A)
{
    const Vector b(A.rows(), 1.);
    Vector       x(A.rows());
    solver.analyse(A);
    solver.factor();
    return solver.solve(b, x).converged() ? x : Vector();
}

Vector by_new_linear_solver(SolverMode mode)
{
    LinearSolver solver({.mode = mode, .threads = threads});
    return by_linear_solver(solver, gallery::build(mode == SolverMode::direct ? "poisson2d:n=150" : "convdiff3d:n=32"));
}

/// The calls of a circuit simulator with what a parent has factored.
struct CircuitSimulator {
    CircuitSimulator()
    {
        const auto A = transpose(gallery::build("poisson2d:n=150"));
        n = A.rows();
        Ap.assign(A.row_ptr().begin(), A.row_ptr().end());
        Ai.assign(A.col().begin(), A.col().end());
        Ax.assign(A.val().begin(), A.val().end());
        ilux_klu_defaults(&common);
        former_threads = ilux_klu_set_threads(threads);
        symbolic = ilux_klu_analyze(n, Ap.data(), Ai.data(), &common);
        numeric = ilux_klu_factor(Ap.data(), Ai.data(), Ax.data(), symbolic, &common);
    }
    ~CircuitSimulator()
    {
        ilux_klu_free_numeric(&numeric, &common);
        ilux_klu_free_symbolic(&symbolic, &common);
        ilux_klu_set_threads(former_threads);
    }
    CircuitSimulator(const CircuitSimulator&) = delete;
    CircuitSimulator& operator=(const CircuitSimulator&) = delete;

    Vector step()
    {
        Vector     X(Vector::size_type(16) * n, 1.);
        const bool done = ilux_klu_refactor(Ap.data(), Ai.data(), Ax.data(), symbolic, numeric, &common) &&
                          ilux_klu_solve(symbolic, numeric, n, 16, X.data(), &common);
        return done ? X : Vector();
    }

    int                n = 0, former_threads = 1;
    std::vector<int>   Ap, Ai;
    Vector             Ax;
    ilux_klu_common    common{};
    ilux_klu_symbolic* symbolic = nullptr;
    ilux_klu_numeric*  numeric = nullptr;
};

TEST(Fork, AChildSolvesAsItsParentDid)
{
    for (const SolverMode mode : {SolverMode::iterative, SolverMode::direct}) {
        const Vector x = by_new_linear_solver(mode);
        ASSERT_FALSE(x.empty());
        EXPECT_TRUE(child_agrees([&] { return by_new_linear_solver(mode); }, x));
    }
}

TEST(Fork, AChildGoesOnWithItsParentsFactors)
{
    CircuitSimulator simulator;
    const Vector     X = simulator.step();
    ASSERT_FALSE(X.empty());
    EXPECT_TRUE(child_agrees([&] { return simulator.step(); }, X));

    const auto   A = gallery::build("convdiff3d:n=32");
    LinearSolver solver({.mode = SolverMode::iterative, .threads = threads});
    const Vector x = by_linear_solver(solver, A);
    ASSERT_FALSE(x.empty());
    EXPECT_TRUE(child_agrees([&] { return by_linear_solver(solver, A); }, x));
}

TEST(Fork, AChildOfAChildAndANewThreadOfAChildSolveToo)
{
    const auto   solve = [] { return by_new_linear_solver(SolverMode::iterative); };
    const Vector x = solve();
    ASSERT_FALSE(x.empty());
    EXPECT_TRUE(child_agrees([&] { return child_agrees(solve, x) ? x : Vector(); }, x));
    EXPECT_TRUE(child_agrees(
        [&] {
            Vector found;
            std::thread([&] { found = solve(); }).join();
            return found;
        },
        x));
}

/// A lock of the C library that METIS's thread holds at the fork would never be free in the child.
TEST(Fork, ChildrenOrderByMetisWhileTheirParentDoes)
{
    if (sanitized) GTEST_SKIP()
    << "a sanitizer's memory may be locked in a child of a working parent";
    constexpr int children = 30;
    const auto    A = gallery::build("poisson2d:n=20");
    const auto    ordered = [&] {
        const auto perm = fill_reducing_order(A, Ordering::metis);
        return Vector(perm.begin(), perm.end());
    };
    const Vector order = ordered();
    if (seeds == 0) GTEST_SKIP()
    << "this METIS does not call srand(), which this test watches";
    std::atomic<bool> over = false;
    seeds_linger = true;
    std::thread parent([&] {
        while (!over) (void)ordered();
    });
    int         agreed = 0;
    for (int child = 0; child < children; ++child) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        agreed += child_agrees([&] { return being_seeded == 0 ? ordered() : Vector(); }, order);
        if (agreed <= child) break;
    }
    over = true;
    parent.join();
    seeds_linger = false;
    EXPECT_EQ(agreed, children);
}

}  // namespace
}  // namespace ilux::test
