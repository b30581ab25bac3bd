// For a build without AmgX.

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {

std::string about_amgx_fgmres() { return "AmgX: classical AMG, FGMRES; all on a GPU"; }
std::string about_amgx_pcg() { return "AmgX: classical AMG, CG; all on a GPU"; }
std::string why_no_amgx()
{
    return "this build has no CUDA or found no amgx_c.h; build https://github.com/NVIDIA/AMGX and configure with -D "
           "AMGX_ROOT=FOLDER";
}
RivalAnswer solve_by_amgx_fgmres(const RivalTask&) { throw InvalidInput(why_no_amgx()); }
RivalAnswer solve_by_amgx_pcg(const RivalTask&) { throw InvalidInput(why_no_amgx()); }

}  // namespace ilux::app
