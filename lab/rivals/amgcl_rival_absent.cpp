// For a build without AMGCL.

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {

std::string about_amgcl_spai0() { return "AMGCL: smoothed aggregation, spai0, GMRES"; }
std::string about_amgcl_ilu0() { return "AMGCL: smoothed aggregation, ilu0, GMRES"; }
std::string why_no_amgcl()
{
    return "this build found no amgcl/amg.hpp; clone https://github.com/ddemidov/amgcl and configure with -D "
           "AMGCL_ROOT=FOLDER";
}
RivalAnswer solve_by_amgcl_spai0(const RivalTask&) { throw InvalidInput(why_no_amgcl()); }
RivalAnswer solve_by_amgcl_ilu0(const RivalTask&) { throw InvalidInput(why_no_amgcl()); }

}  // namespace ilux::app
