// AMGCL on a GPU: set up on the host, solved on the device.

#include <cusparse_v2.h>
#include <omp.h>

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/cuda.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/gmres.hpp>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/rival_device.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {
namespace {

using Backend = amgcl::backend::cuda<double>;
using Amg = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;
using Solver = amgcl::make_solver<Amg, amgcl::solver::gmres<Backend>>;

struct DestroyHandle {
    void operator()(cusparseHandle_t handle) const { cusparseDestroy(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cusparseHandle_t>, DestroyHandle>;

Handle new_handle()
{
    cusparseHandle_t handle = nullptr;
    if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS) throw DeviceError("AMGCL: cusparseCreate failed");
    return Handle(handle);
}

RivalAnswer solved(const RivalTask& task)
{
    const Handle   handle = new_handle();
    Solver::params options;
    options.solver.M = static_cast<unsigned>(task.restart);
    options.solver.maxiter = static_cast<unsigned>(task.max_steps);
    options.solver.tol = task.rtol;

    omp_set_num_threads(task.threads);  // AMGCL takes all that OpenMP has; ours are told how many
    RivalAnswer                         answer;
    const auto                          n = static_cast<std::ptrdiff_t>(task.A.rows());
    const thrust::device_vector<double> b(task.b.begin(), task.b.end());
    thrust::device_vector<double>       x(task.b.size(), 0.);
    WallClock                           clock;
    const Solver solver(std::make_tuple(n, task.A.row_ptr(), task.A.col(), task.A.val()), options,
                        Backend::params(handle.get()));
    await_device("AMGCL");
    answer.factor = clock.lap();
    answer.steps = static_cast<Index>(std::get<0>(solver(b, x)));
    await_device("AMGCL");
    answer.solve = clock.lap();
    answer.x.resize(task.b.size());
    thrust::copy(x.begin(), x.end(), answer.x.begin());
    return answer;
}

}  // namespace

std::string about_amgcl_cuda()
{
    return "AMGCL: smoothed aggregation, spai0, GMRES preconditioned from the right; set up on the host, solved on a GPU";
}
std::string why_no_amgcl_cuda() { return ""; }

RivalAnswer solve_by_amgcl_cuda(const RivalTask& task)
{
    require_gpu("AMGCL");
    try {
        return solved(task);
    } catch (const DeviceError&) {
        throw;
    } catch (const std::exception& error) {
        throw InvalidInput(std::string("AMGCL: ") + error.what());
    }
}

}  // namespace ilux::app
