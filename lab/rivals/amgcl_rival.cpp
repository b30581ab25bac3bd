// AMGCL: algebraic multigrid by smoothed aggregation, and its GMRES.

#include <fmt/core.h>
#include <omp.h>

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/gmres.hpp>
#include <exception>
#include <tuple>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {
namespace {

using Backend = amgcl::backend::builtin<double>;

/// @param Relaxation  what smooths on every level
template <template <class> class Relaxation>
RivalAnswer solved(const RivalTask& task)
{
    using Amg = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, Relaxation>;
    using Solver = amgcl::make_solver<Amg, amgcl::solver::gmres<Backend>>;
    typename Solver::params options;
    options.solver.M = static_cast<unsigned>(task.restart);
    options.solver.maxiter = static_cast<unsigned>(task.max_steps);
    options.solver.tol = task.rtol;

    omp_set_num_threads(task.threads);  // AMGCL takes all that OpenMP has; ours are told how many
    RivalAnswer answer;
    answer.x.assign(task.b.size(), 0.);
    const std::vector<double> b(task.b.begin(), task.b.end());
    try {
        const auto   n = static_cast<std::ptrdiff_t>(task.A.rows());
        WallClock    clock;
        const Solver solver(std::make_tuple(n, task.A.row_ptr(), task.A.col(), task.A.val()), options);
        answer.factor = clock.lap();
        answer.steps = static_cast<Index>(std::get<0>(solver(b, answer.x)));
        answer.solve = clock.lap();
        answer.bytes = solver.precond().bytes();
    } catch (const std::exception& error) {
        throw InvalidInput(fmt::format("AMGCL: {}", error.what()));
    }
    return answer;
}

}  // namespace

std::string about_amgcl_spai0() { return "AMGCL: smoothed aggregation, spai0, GMRES preconditioned from the right"; }
std::string about_amgcl_ilu0() { return "AMGCL: smoothed aggregation, ilu0, GMRES preconditioned from the right"; }
std::string why_no_amgcl() { return ""; }

RivalAnswer solve_by_amgcl_spai0(const RivalTask& task) { return solved<amgcl::relaxation::spai0>(task); }
RivalAnswer solve_by_amgcl_ilu0(const RivalTask& task) { return solved<amgcl::relaxation::ilu0>(task); }

}  // namespace ilux::app
