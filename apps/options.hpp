#pragma once
// Every option of `ilux solve`, as one tree that the command line, a config file, --help and the reports walk.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "ilux/base/fields.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/precond/mlilu.hpp"
#include "ilux/sptrsv/gpu_sptrsv.hpp"

namespace ilux::app {

enum class MethodChoice { automatic, gmres, fgmres, bicg, bicgstab, cg };
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
    static constexpr std::array<std::string_view, 6> all{"auto", "gmres", "fgmres", "bicg", "bicgstab", "cg"};
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

/// As for any enumeration, except that `lu` is told apart from a misspelling: the direct solver is yet to come.
void parse_field(std::string_view path, std::string_view text, MethodChoice& field);

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

struct SpTrsvOptions {
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
};

template <class Visit>
void fields(SpTrsvOptions& o, Visit&& visit)
{
    visit("engine", o.engine, anything(), "how a GPU solves triangular systems; auto: by their rows and depth");
}

struct SolveOptions {
    MethodChoice   method = MethodChoice::automatic;
    DeviceChoice   device = DeviceChoice::automatic;
    Bytes          device_memory = {};
    Index          threads = 0;
    std::string    rhs = "A1";
    bool           retry = true;
    double         time_limit = 120;
    KrylovOptions  krylov = {};
    PrecondOptions precond = {};
    SpTrsvOptions  sptrsv = {};
};

template <class Visit>
void fields(SolveOptions& o, Visit&& visit)
{
    visit("method", o.method, anything(), "auto: CG for a symmetric matrix with positive diagonal, else GMRES");
    visit("device", o.device, anything(),
          "auto: a GPU where there is one and the system is large enough, else the CPU");
    visit("device_memory", o.device_memory, anything(), "bytes of the GPU that may be used; 0: all that is free");
    visit("threads", o.threads, within(0, 4096), "host threads; 0: as OMP_NUM_THREADS says, or all");
    visit("rhs", o.rhs, anything(), "A1 (b = A·1, so the forward error is known), ones, random:SEED, or a file");
    visit("retry", o.retry, anything(), "after a failure try again with a tighter preconditioner, and say so");
    visit("time_limit", o.time_limit, at_least(0),
          "seconds after which no further attempt starts and a factorization is given up; 0: none");
    visit("krylov", o.krylov, anything(), "");
    visit("precond", o.precond, anything(), "");
    visit("sptrsv", o.sptrsv, anything(), "");
}

/// Sets the option that the text `PATH=VALUE` names. @throws InvalidOption, also when there is no '='
void assign(SolveOptions& options, std::string_view assignment);

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
