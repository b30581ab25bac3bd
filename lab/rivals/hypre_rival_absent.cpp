// For a build without hypre.

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {

std::string about_hypre_fgmres() { return "hypre: BoomerAMG, FlexGMRES; all on a GPU"; }
std::string about_hypre_pcg() { return "hypre: BoomerAMG, CG; all on a GPU"; }
std::string why_no_hypre()
{
    return "this build has no CUDA or found no hypre with CUDA and without MPI; build https://github.com/hypre-space/hypre "
           "so, as a shared library, and configure with -D HYPRE_ROOT=FOLDER";
}
RivalAnswer solve_by_hypre_fgmres(const RivalTask&) { throw InvalidInput(why_no_hypre()); }
RivalAnswer solve_by_hypre_pcg(const RivalTask&) { throw InvalidInput(why_no_hypre()); }

}  // namespace ilux::app
