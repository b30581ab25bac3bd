// For a build without AMGCL or without CUDA.

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {

std::string about_amgcl_cuda()
{
    return "AMGCL: smoothed aggregation, spai0, GMRES; set up on the host, solved on a GPU";
}
std::string why_no_amgcl_cuda()
{
    const std::string headers = why_no_amgcl();
    return headers.empty() ? "this build has no CUDA" : headers;
}
RivalAnswer solve_by_amgcl_cuda(const RivalTask&) { throw InvalidInput(why_no_amgcl_cuda()); }

}  // namespace ilux::app
