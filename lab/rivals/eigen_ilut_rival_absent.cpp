// For a build that found no Eigen with its unsupported modules.

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {

std::string about_eigen_gmres() { return "Eigen's IncompleteLUT and GMRES"; }
std::string about_eigen_bicgstab() { return "Eigen's IncompleteLUT and BiCGSTAB"; }
std::string why_no_eigen()
{
    return "this build found no unsupported/Eigen/IterativeSolvers; install libeigen3-dev, or Eigen with its unsupported "
           "modules, and configure again";
}
RivalAnswer solve_by_eigen_gmres(const RivalTask&) { throw InvalidInput(why_no_eigen()); }
RivalAnswer solve_by_eigen_bicgstab(const RivalTask&) { throw InvalidInput(why_no_eigen()); }

}  // namespace ilux::app
