#pragma once
// The suite ilupack-gmres: the matrices and variants of [aliaga19], and one matrix measured.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/compare/timings.hpp"
#include "ilux/apps/input/options.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {

/// One of Table 2, with its row of Table 4 (GTX Titan X): steps, and how much faster the proposal is than the baseline.
struct PaperRow {
    std::string_view name;
    int              steps;
    double           precond, ortho, total;
};
std::span<const PaperRow> paper_rows();

/// One variant of GMRES. All but `best` have the paper's form of M, which saves G and F.
struct Variant {
    std::string_view  letter, name, about;
    bool              on_gpu;
    OffDiagonal       off_diagonal;
    GpuSpTrsvEngine   engine = GpuSpTrsvEngine::automatic;
    Orthogonalization ortho = Orthogonalization::mgso;
};
std::span<const Variant> variants();

struct GmresBench {
    double       scale = 1;
    Index        repeats = 3;
    double       time_limit = 600;
    std::string  matrices;  ///< folder of real ones, or ""
    SolveOptions options;   ///< krylov.ortho, precond.precision and sptrsv.engine are for the variant `best` alone
};

template <class Visit>
void fields(GmresBench& o, Visit&& visit)
{
    visit("scale", o.scale, within(1e-4, 1), "rows of a stand-in, relative to the published matrix");
    visit("repeats", o.repeats, at_least(1), "runs of which the median is taken");
    visit("time-limit", o.time_limit, at_least(0), "seconds for one matrix, setup included; 0: none");
    visit("matrices", o.matrices, anything(), "folder of NAME.mtx or NAME.mtx.gz; stand-ins for those not there");
}

/// Where the matrix comes from: its file in the folder, or its stand-in.
struct Source {
    std::string matrix;  ///< for load_problem
    bool        real = false;
};
Source find_matrix(const GmresBench& bench, std::string_view name);

/// Measures one matrix by every variant that this machine allows, fast ones first, and hands out as it comes
/// {"matrix": {...}}, {"setup": {...}}, {"variant": {...}} or {"error": "..."}. What fails does not stop the rest.
void measure_matrix(const GmresBench& bench, std::string_view name, const TakeJson& take);

}  // namespace ilux::app
