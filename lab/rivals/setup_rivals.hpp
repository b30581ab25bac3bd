#pragma once
// Solvers of others that `ilux-lab setup` puts beside ours. Each is an optional dependency, compiled in where it was
// found.

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::app {

/// What a rival is to solve, and how far.
struct RivalTask {
    const CsrView<double>&  A;  ///< n×n
    std::span<const double> b;  ///< n
    double                  rtol = 1e-8;
    Index                   restart = 30, max_steps = 1000;
    int                     threads = 1;
};

/// What came of it from x = 0. Whether x solves the system is for others to judge.
struct RivalAnswer {
    double      analyse = 0, factor = 0, solve = 0;  ///< seconds; factor with the transfer of A to a GPU
    Index       steps = 0;
    double      fill = std::numeric_limits<double>::quiet_NaN();  ///< stored entries over nnz(A); NaN: it does not tell
    std::size_t bytes = 0;                                        ///< of the preconditioner; 0: it does not tell
    std::vector<double> x;                                        ///< n
};

struct Rival {
    std::string_view name;
    std::string (*about)();    ///< what it is, with its version where that is known
    std::string (*why_not)();  ///< how to get it where this build is without it, or ""
    RivalAnswer (*solve)(const RivalTask& task);
    bool on_gpu = false;  ///< the solve
};

std::span<const Rival> setup_rivals();

/// @throws InvalidOption with the nearest name, or, for a rival that is not compiled in, with what would bring it in
const Rival& find_rival(std::string_view name);

/// Eigen's IncompleteLUT, drop tolerance 1e-2 and fill factor 5. Of its own GMRES the preconditioner is on the left,
/// and the preconditioned residual ends it.
std::string about_eigen_gmres();
std::string about_eigen_bicgstab();
std::string why_no_eigen();
/// @throws InvalidInput where the factorization fails
RivalAnswer solve_by_eigen_gmres(const RivalTask& task);
RivalAnswer solve_by_eigen_bicgstab(const RivalTask& task);

/// AMGCL [demidov_19] by its builtin backend: smoothed aggregation as a preconditioner of its GMRES.
std::string about_amgcl_spai0();
std::string about_amgcl_ilu0();
std::string why_no_amgcl();
/// @throws InvalidInput with AMGCL's words
RivalAnswer solve_by_amgcl_spai0(const RivalTask& task);
RivalAnswer solve_by_amgcl_ilu0(const RivalTask& task);

/// AMGCL with spai0 by its CUDA backend, set up on the host.
std::string about_amgcl_cuda();
std::string why_no_amgcl_cuda();
/// @throws DeviceError without a GPU; InvalidInput with AMGCL's words
RivalAnswer solve_by_amgcl_cuda(const RivalTask& task);

/// AmgX: classical AMG as a preconditioner of its FGMRES or CG.
std::string about_amgx_fgmres();
std::string about_amgx_pcg();
std::string why_no_amgx();
/// @throws DeviceError without a GPU; InvalidInput with AmgX's words
RivalAnswer solve_by_amgx_fgmres(const RivalTask& task);
RivalAnswer solve_by_amgx_pcg(const RivalTask& task);

/// hypre: BoomerAMG as a preconditioner of its FlexGMRES or CG.
std::string about_hypre_fgmres();
std::string about_hypre_pcg();
std::string why_no_hypre();
/// @throws DeviceError without a GPU; InvalidInput with hypre's words
RivalAnswer solve_by_hypre_fgmres(const RivalTask& task);
RivalAnswer solve_by_hypre_pcg(const RivalTask& task);

}  // namespace ilux::app
