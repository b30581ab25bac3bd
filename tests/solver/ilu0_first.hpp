#pragma once
// A series whose first preconditioner can be made to fail, as tests of what follows share it.

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"

namespace ilux::test {

inline constexpr auto throw_enough = [](const auto&) { throw std::runtime_error("enough"); };

/// A series by ILU(0), which fails without a_11; then by a multilevel ILU.
class Ilu0First : public testing::Test {
protected:
    /// @param bytes  for the multilevel ILU; 0: enough
    LinearSolver<> analysed(Index max_steps = 1000, std::size_t bytes = 0) const
    {
        SolverOptions options{.mode = SolverMode::iterative};
        options.precond.kind = PrecondKind::ilu0;
        options.precond.mlilu.memory_limit = {bytes};
        options.krylov.max_steps = max_steps;
        LinearSolver solver(serial(options));
        solver.analyse(A, 4);
        return solver;
    }
    /// Throws in the setup of a multilevel ILU; ILU(0) tells of no progress.
    static AttemptListener impatient()
    {
        return {.on_progress = [](const Progress& now) {
            if (now.phase == Progress::Phase::setup) throw_enough(now);
        }};
    }
    std::vector<double> without_first_pivot() const
    {
        std::vector<double> values(A.val().begin(), A.val().end());
        values[0] = 0;
        return values;
    }

    static constexpr std::size_t too_few = 1'000;  // bytes
    static constexpr Index       too_few_steps = 3;
    const CsrMatrix<double>      A = gallery::build("convdiff2d:n=40");
    const std::vector<double>    bad = without_first_pivot(), b = times_ones(A), easy = std::vector<double>(b.size());
    std::vector<double>          x = easy;
};

}  // namespace ilux::test
