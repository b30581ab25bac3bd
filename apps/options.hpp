#pragma once
// Every option of `ilux solve` and `ilux sequence`, as one tree that the command line, a config file, --help and the reports walk.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "ilux/base/fields.hpp"
#include "ilux/direct/lu_options.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/precond/mlilu.hpp"
#include "ilux/sptrsv/gpu_sptrsv.hpp"

namespace ilux::app {

enum class MethodChoice { automatic, gmres, fgmres, bicg, bicgstab, cg, lu };
enum class PrecondKind { mlilu, ilu0, jacobi, none };
enum class DeviceChoice { automatic, cpu, gpu };

/// How a GPU stores the values of L and U. M is applied in double either way.
enum class Precision { in_double, in_single };

inline std::span<const std::string_view> names(Precision)
{
    static constexpr std::array<std::string_view, 2> all{"double", "single"};
    return all;
}
inline std::span<const std::string_view> names(MethodChoice)
{
    static constexpr std::array<std::string_view, 7> all{"auto", "gmres", "fgmres", "bicg", "bicgstab", "cg", "lu"};
    return all;
}
inline std::span<const std::string_view> names(PrecondKind)
{
    static constexpr std::array<std::string_view, 4> all{"mlilu", "ilu0", "jacobi", "none"};
    return all;
}
inline std::span<const std::string_view> names(DeviceChoice)
{
    static constexpr std::array<std::string_view, 3> all{"auto", "cpu", "gpu"};
    return all;
}

/// `precond.kind`, and beside it the names of the multilevel ILU, which the other kinds ignore.
struct PrecondOptions {
    PrecondKind  kind = PrecondKind::mlilu;
    Precision    precision = Precision::in_double;
    MlIluOptions mlilu;
};

template <class Visit>
void fields(PrecondOptions& o, Visit&& visit)
{
    visit("kind", o.kind, anything(), "mlilu: multilevel ILU; ilu0: no fill-in; jacobi: the diagonal");
    visit("precision", o.precision, anything(), "how a GPU stores the values of L and U; it computes in double");
    fields(o.mlilu, visit);
}

/// What `ilux sequence` minds beside the rest.
struct SequenceOptions {
    double refresh_factor = 2;
    bool   reuse_x = false;
};

template <class Visit>
void fields(SequenceOptions& o, Visit&& visit)
{
    visit("refresh_factor", o.refresh_factor, at_least(1),
          "factor the preconditioner anew when steps exceed this many times (and by 5) those of its first system");
    visit("reuse_x", o.reuse_x, anything(), "start an iteration from the solution of the system before, not from 0");
}

struct SpTrsvOptions {
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
};

template <class Visit>
void fields(SpTrsvOptions& o, Visit&& visit)
{
    visit("engine", o.engine, anything(), "how a GPU solves triangular systems; auto: by their rows and depth");
}

struct SolveOptions {
    MethodChoice    method = MethodChoice::automatic;
    DeviceChoice    device = DeviceChoice::automatic;
    Bytes           device_memory = {};
    Index           threads = 0;
    std::string     rhs = "A1";
    bool            retry = true;
    double          time_limit = 120;
    KrylovOptions   krylov = {};
    PrecondOptions  precond = {};
    LuOptions       lu = {};
    SpTrsvOptions   sptrsv = {};
    SequenceOptions sequence = {};
};

template <class Visit>
void fields(SolveOptions& o, Visit&& visit)
{
    visit("method", o.method, anything(),
          "auto: CG for a symmetric matrix with positive diagonal, else GMRES; lu: direct");
    visit("device", o.device, anything(),
          "auto: a GPU where there is one and the system is large enough, else the CPU");
    visit("device_memory", o.device_memory, anything(), "bytes of the GPU that may be used; 0: all that is free");
    visit("threads", o.threads, within(0, 4096), "host threads; 0: as OMP_NUM_THREADS says, or all");
    visit("rhs", o.rhs, anything(), "A1 (b = A·1, so the forward error is known), ones, random:SEED, or a file");
    visit("retry", o.retry, anything(), "after a failure try again with a tighter preconditioner, and say so");
    visit(
        "time_limit", o.time_limit, at_least(0),
        "seconds after which no further attempt starts and a multilevel or LU factorization is given up; an analysis is "
        "not interrupted; 0: none");
    visit("krylov", o.krylov, anything(), "");
    visit("precond", o.precond, anything(), "");
    visit("lu", o.lu, anything(), "");
    visit("sptrsv", o.sptrsv, anything(), "");
    visit("sequence", o.sequence, anything(), "");
}

/// Sets the option that the text `PATH=VALUE` names. @throws InvalidOption, also when there is no '='
void assign(SolveOptions& options, std::string_view assignment);

/// A sentence for each option that is not at its default and says nothing to this method. @param method  never automatic
/// @param series  many systems, to which sequence.* applies
std::vector<std::string> options_without_effect(const SolveOptions& options, MethodChoice method, bool series);

/// An option with a name of its own on the command line, and the path in the tree it stands for.
struct ShortName {
    std::string_view flag, path, section;
};
std::span<const ShortName> short_names();

/// One leaf of the tree, as --help shows it.
struct FieldHelp {
    std::string path, help, value, choices;  ///< choices: "amd|metis|…" for enumerations, else empty
};
std::vector<FieldHelp> describe(SolveOptions options);

}  // namespace ilux::app
