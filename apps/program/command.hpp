#pragma once
// What a subcommand is, and how its arguments are parsed.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/program/exit_code.hpp"
#include "ilux/apps/program/option_table.hpp"
#include "ilux/apps/program/output_files.hpp"

namespace ilux::app {

using Arguments = std::span<const std::string>;

struct Command {
    std::string_view name, summary;
    int (*run)(Arguments arguments);
};

/// The arguments of one subcommand.
class Parser : public CLI::App {
public:
    using CLI::App::App;

    /// An option that names what is to be written; parse() claims it.
    CLI::Option* add_output(const std::string& flag, Output& to, const std::string& help, const std::string& type_name,
                            OutputKind kind = OutputKind::file);

    struct OutputOption {
        std::string flag;
        Output*     to;
        OutputKind  kind;
    };
    const std::vector<OutputOption>& outputs() const { return outputs_; }

    std::vector<FieldHelp> nested;  ///< what -p sets

    bool needs_input = true;  ///< an argument that is no option; without one the command is refused

private:
    std::vector<OutputOption> outputs_;
};

/// Makes the parser of one subcommand; its --help is a line for each option, its --help-all tells everything, by
/// sections.
std::unique_ptr<Parser> parser(std::string_view name, std::string_view summary);

/// Parses, or prints the help that was asked for on stdout and returns false. From here on nothing of a former run is
/// left under the name of an output, also where the command line is refused: unless no input is named, since what was
/// meant is unknown then.
/// @param settle  sets what the options say, and returns the files that are read for them
/// @throws InvalidOption for an unknown option (with the nearest name), a missing value, a superfluous argument, or an
/// output
///         that is an input; InvalidInput for one that cannot be written; and what `settle` throws
bool parse(Parser& app, Arguments arguments, const std::function<std::vector<std::string>()>& settle = {});

/// What a command takes, which is not run beyond its parse(), its first call.
OptionTable table_of(int (*run)(Arguments arguments));

/// Whether --json is among the arguments.
bool asks_for_json(Arguments arguments);

}  // namespace ilux::app
