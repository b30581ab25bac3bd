#pragma once
// Every option of `ilux solve` and `ilux sequence`, as one tree that the command line, a config file, --help and the
// reports walk.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/program/option_table.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux::app {

/// The solver's options, and what else a system brings along.
struct SolveOptions : SolverOptions {
    std::string rhs = "A1";
    std::string near_null;
};

template <class Visit>
void fields(SolveOptions& o, Visit&& visit)
{
    fields(static_cast<SolverOptions&>(o), visit);
    visit("rhs", o.rhs, anything(), "A1 (b = A·1, so the forward error is known), ones, random:SEED, or a file");
    visit(
        "near_null", o.near_null, anything(),
        "file with near-null-space vectors t (A t is small beside t), n x 1 or more, such as rigid-body motions: rounds with "
        "compensation make M treat them as A does");
}

/// Names of files that are read as options say: the right-hand side, which may be no file, near_null, and plan.
std::vector<std::string> files_read(const SolveOptions& options);

/// Sets the option that the text `PATH=VALUE` names. @throws InvalidOption, also when there is no '='
void assign(SolveOptions& options, std::string_view assignment);

/// Which strategies were taken, in all tries.
struct StrategiesTaken {
    bool direct = false, iterative = false;
    bool gpu_lu = false;                                   ///< numbers of an LU on a GPU
    bool gpu = false;                                      ///< anything on a GPU
    bool mlilu = false, gmres = false, restarted = false;  ///< a multilevel ILU; GMRES; GMRES or FGMRES

    void add(const Attempt& tried);
};

/// A sentence for each option that is not at its default and has no effect on the strategies taken. What is of an LU
/// counts in the choice of mode auto. @param series  many systems, to which sequence.* applies
std::vector<std::string> options_without_effect(const SolveOptions& options, const StrategiesTaken& taken, bool series);

/// An option with a name of its own on the command line, and the path in the tree it stands for.
struct ShortName {
    std::string_view flag, path, section;
    std::string_view value = {};  ///< what it takes, as OptionHelp has it; "": the field's choices
};
std::span<const ShortName> short_names();

/// Every leaf of the tree, as --help shows it.
std::vector<FieldHelp> describe(SolveOptions options);

/// PATH=VALUE for every option that is not as in `defaults`.
std::vector<std::string> changed_options(const SolveOptions& options, const SolveOptions& defaults);

}  // namespace ilux::app
