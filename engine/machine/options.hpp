#pragma once
// What a caller may choose about a solution, whichever strategy is taken.

#include <string>

#include "ilux/base/fields.hpp"
#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {

/// Direct, iterative, or whichever the facts speak for.
enum class SolverMode { automatic, direct, iterative };
/// A method, or the choice among them.
enum class MethodChoice { automatic, gmres, fgmres, bicg, bicgstab, cg, minres, sqmr, cocg, lu };
/// Whether a method needs A and M symmetric, or Hermitian.
constexpr bool needs_symmetry(MethodChoice method)
{
    return method == MethodChoice::cg || method == MethodChoice::minres || method == MethodChoice::sqmr ||
           method == MethodChoice::cocg;
}
/// What M is.
enum class PrecondKind { mlilu, ilu0, jacobi, none };
/// Whether a coarse space stands beside the multilevel ILU; automatic: where it is known to gain.
enum class CoarseChoice { automatic, on, off };
/// Where to compute; automatic: on a GPU where there is one and the system gains by it.
enum class DeviceChoice { automatic, cpu, gpu };

/// How a GPU stores the values of L and U. M is applied in double either way.
enum class Precision { in_double, in_single };

constexpr auto names(SolverMode) { return words("auto", "direct", "iterative"); }
constexpr auto names(Precision) { return words("double", "single"); }
constexpr auto names(MethodChoice)
{
    return words("auto", "gmres", "fgmres", "bicg", "bicgstab", "cg", "minres", "sqmr", "cocg", "lu");
}
constexpr auto names(PrecondKind) { return words("mlilu", "ilu0", "jacobi", "none"); }
constexpr auto names(CoarseChoice) { return words("auto", "on", "off"); }
constexpr auto names(DeviceChoice) { return words("auto", "cpu", "gpu"); }

/// `precond.kind`, and beside it the names of the multilevel ILU, which the other kinds ignore.
struct PrecondOptions {
    PrecondKind  kind = PrecondKind::mlilu;
    Precision    precision = Precision::in_double;
    CoarseChoice coarse = CoarseChoice::automatic;
    Index        coarse_size = 0;
    Index        coarse_vectors = 4;
    MlIluOptions mlilu;

    friend bool operator==(const PrecondOptions&, const PrecondOptions&) = default;
};

template <class Visit>
void fields(PrecondOptions& o, Visit&& visit)
{
    visit("kind", o.kind, anything(), "mlilu: multilevel ILU; ilu0: no fill-in; jacobi: the diagonal");
    visit("precision", o.precision, anything(), "how a GPU stores the values of L and U; it computes in double");
    visit(
        "coarse", o.coarse, anything(),
        "a coarse space beside the multilevel ILU: aggregates of unknowns times vectors that A takes to little; auto: for a symmetric "
        "(complex: Hermitian) A of 10,000 rows or more with a positive diagonal, whose rows are not dominant and which takes constants to "
        "little, without a GPU not where single unknowns have couplings of both signs; and for an A of 100,000 rows or more whose rows are dominant "
        "and whose strong ties are those of a mesh in space. setup=auto is then rounds, compensation=auto lumped for a symmetric A with a positive diagonal, else off, and schur_drop_tol=auto 2 τ");
    visit("coarse_size", o.coarse_size, at_least(0),
          "unknowns of an aggregate, about; never fewer than a root and its neighbours, which 0 asks for");
    visit("coarse_vectors", o.coarse_vectors, within(0, 16),
          "vectors that may be found for the coarse space, beside near_null or a constant for each kind of unknowns");
    fields(o.mlilu, visit);
}

/// What a series of systems minds beside the rest.
struct SequenceOptions {
    double refresh_factor = 2;
    bool   refresh_always = false;
    bool   reuse_x = false;
};

template <class Visit>
void fields(SequenceOptions& o, Visit&& visit)
{
    visit("refresh_factor", o.refresh_factor, at_least(1),
          "factor the preconditioner anew when steps exceed this many times (and by 5) those of its first system");
    visit("refresh_always", o.refresh_always, anything(),
          "make the preconditioner of every system anew: where it serves an iteration whose steps are not seen here");
    visit("reuse_x", o.reuse_x, anything(), "start an iteration from the solution of the system before, not from 0");
}

/// How a GPU solves triangular systems.
struct TriangularOptions {
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
};

template <class Visit>
void fields(TriangularOptions& o, Visit&& visit)
{
    visit("engine", o.engine, anything(), "how a GPU solves triangular systems; auto: by their rows and depth");
}

/// All options of a solution; fields() has their ranges and meanings.
struct SolverOptions {
    SolverMode        mode = SolverMode::automatic;
    MethodChoice      method = MethodChoice::automatic;
    DeviceChoice      device = DeviceChoice::automatic;
    Bytes             device_memory = {};
    Index             threads = 0;
    bool              retry = true;
    double            time_limit = 120;
    Bytes             memory_limit = {};
    std::string       plan = {};
    KrylovOptions     krylov = {};
    PrecondOptions    precond = {};
    LuOptions         lu = {};
    TriangularOptions sptrsv = {};
    SequenceOptions   sequence = {};

    /// What mode, method and preconditioner say together: lu is direct, any other method but auto iterative, and so is
    /// a preconditioner or a coarse space that was asked for.
    SolverMode strategy() const
    {
        if (method == MethodChoice::automatic)
            return mode == SolverMode::automatic &&
                           (precond.kind != PrecondKind::mlilu || precond.coarse == CoarseChoice::on)
                       ? SolverMode::iterative
                       : mode;
        return method == MethodChoice::lu ? SolverMode::direct : SolverMode::iterative;
    }
};

template <class Visit>
void fields(SolverOptions& o, Visit&& visit)
{
    visit("mode", o.mode, anything(), "auto: direct or iterative, by their costs; where the method does not say it");
    visit(
        "method", o.method, anything(),
        "auto: LU or an iteration, by their costs (CG for a symmetric or Hermitian matrix with positive diagonal, else GMRES); "
        "lu: direct");
    visit("device", o.device, anything(),
          "auto: a GPU where there is one and the system is large enough, else the CPU");
    visit("device_memory", o.device_memory, anything(), "bytes of the GPU that may be used; 0: all that is free");
    visit("threads", o.threads, within(0, 4096), "host threads; 0: as OMP_NUM_THREADS says, or all");
    visit(
        "retry", o.retry, anything(),
        "after a failure try again with a tighter preconditioner, other pivots or (auto) the other strategy, and say so");
    visit(
        "time_limit", o.time_limit, at_least(0),
        "seconds for a system from its analysis to its solution, all its right-hand sides together: then analysis, "
        "factorization or iteration are given up, and no further attempt starts; each file that is read may take as long; 0: none");
    visit(
        "memory_limit", o.memory_limit, anything(),
        "bytes of the host that factors may take: a multilevel ILU drops its smallest entries beyond, and says so; 0: an LU "
        "what the machine has, an ILU 40 times A, at least 80 MB");
    visit(
        "plan", o.plan, anything(),
        "file that keeps an LU's analysis and pivots for this pattern: read where it is there, so that they need not be found again, "
        "else written; one that is for another pattern or other options, or damaged, is refused and stays as it is");
    visit("krylov", o.krylov, anything(), "");
    visit("precond", o.precond, anything(), "");
    visit("lu", o.lu, anything(), "");
    visit("sptrsv", o.sptrsv, anything(), "");
    visit("sequence", o.sequence, anything(), "");
}

/// memory_limit handed on to those parts that have no limit of their own.
SolverOptions resolved(SolverOptions options);

}  // namespace ilux
