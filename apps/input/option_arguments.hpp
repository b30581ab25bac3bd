#pragma once
// The option tree on a command line: short names, -p PATH=VALUE and --config.

#include <string>
#include <utility>
#include <vector>

#include "ilux/apps/input/options.hpp"
#include "ilux/apps/program/command.hpp"

namespace ilux::app {

/// Declares the arguments on a parser, which refers to this object; after parsing, apply() sets what was given.
class OptionArguments {
public:
    /// @param defaults  shown in the help  @param without  paths that this command does not use
    OptionArguments(CLI::App& app, const SolveOptions& defaults, const std::vector<std::string>& without = {});
    OptionArguments(const OptionArguments&) = delete;
    OptionArguments& operator=(const OptionArguments&) = delete;

    /// The config file first, then the short names, then -p. @throws InvalidOption or InvalidInput for what is refused
    void apply(SolveOptions& options) const;

private:
    struct Short {
        std::string flag, path, text;
    };
    CLI::App&                app_;
    std::vector<Short>       shorts_;
    std::vector<std::string> assignments_;
    std::string              config_;
};

/// Every option without a short name, for Parser::nested.
/// @param without  paths to leave out, or groups of them such as "precond."
std::vector<FieldHelp> nested_options(const std::vector<std::string>& without = {});

/// One line for any --help.
inline constexpr const char* precedence_help =
    "The command line wins over the config file, and -p over the short names.\n";

}  // namespace ilux::app
