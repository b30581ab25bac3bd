// Eigen's incomplete LU with thresholds, and two of its iterations.

#include <fmt/core.h>

#include <Eigen/Sparse>
#include <unsupported/Eigen/IterativeSolvers>

#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

constexpr double drop_tol = 1e-2;
constexpr int    fill_factor = 5;

/// With its number of entries, which Eigen does not give away.
struct Ilut : Eigen::IncompleteLUT<double> {
    Ilut() { m_info = Eigen::Success; }  // which analyzePattern() reads before anything has set it
    Offset stored() const { return m_lu.nonZeros(); }
};

Matrix copied(const CsrView<double>& A)
{
    require(A.nnz() <= std::numeric_limits<int>::max(),
            [&] { return fmt::format("Eigen: {} entries are more than 32 bits count", A.nnz()); });
    std::vector<int> row_ptr(A.row_ptr().begin(), A.row_ptr().end());
    return Eigen::Map<const Matrix>(A.rows(), A.cols(), A.nnz(), row_ptr.data(), A.col().data(), A.val().data());
}

template <class Iteration>
RivalAnswer solved(const RivalTask& task, Iteration& iteration)
{
    const Matrix A = copied(task.A);
    Eigen::setNbThreads(task.threads);
    iteration.preconditioner().setDroptol(drop_tol);
    iteration.preconditioner().setFillfactor(fill_factor);
    iteration.setTolerance(task.rtol);
    iteration.setMaxIterations(task.max_steps);

    RivalAnswer answer;
    WallClock   clock;
    iteration.analyzePattern(A);
    answer.analyse = clock.lap();
    iteration.factorize(A);
    answer.factor = clock.lap();
    require(iteration.preconditioner().info() == Eigen::Success, [] { return "Eigen: its IncompleteLUT failed"; });
    const Eigen::Map<const Eigen::VectorXd> b(task.b.data(), static_cast<Eigen::Index>(task.b.size()));
    clock.lap();
    const Eigen::VectorXd x = iteration.solve(b);
    answer.solve = clock.lap();

    answer.steps = static_cast<Index>(iteration.iterations());
    answer.fill = static_cast<double>(iteration.preconditioner().stored()) / static_cast<double>(task.A.nnz());
    answer.x.assign(x.begin(), x.end());
    return answer;
}

std::string about(const char* method)
{
    return fmt::format("Eigen {}.{}.{}: IncompleteLUT (drop tolerance {}, fill factor {}), {}", EIGEN_WORLD_VERSION,
                       EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, drop_tol, fill_factor, method);
}

}  // namespace

std::string about_eigen_gmres() { return about("GMRES, preconditioned from the left"); }
std::string about_eigen_bicgstab() { return about("BiCGSTAB"); }
std::string why_no_eigen() { return ""; }

RivalAnswer solve_by_eigen_gmres(const RivalTask& task)
{
    Eigen::GMRES<Matrix, Ilut> gmres;
    gmres.set_restart(task.restart);
    return solved(task, gmres);
}

RivalAnswer solve_by_eigen_bicgstab(const RivalTask& task)
{
    Eigen::BiCGSTAB<Matrix, Ilut> bicgstab;
    return solved(task, bicgstab);
}

}  // namespace ilux::app
