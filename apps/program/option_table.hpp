#pragma once
// The options of one subcommand as a table: what --help and --help-all print, the manual holds and shells complete.

#include <string>
#include <vector>

namespace ilux::app {

/// One leaf of the option tree, which -p PATH=VALUE sets.
struct FieldHelp {
    std::string path, help, value, choices;  ///< choices: "amd|metis|…" for enumerations, else empty
};

/// An option, or an argument that is none.
struct OptionHelp {
    std::vector<std::string> names;  ///< "-h", "--help"; of an argument its name
    /// What it takes, in words between |: those in small letters as they stand ("gallery": gallery:NAME), FILE,
    /// FILE.mtx and FOLDER from the disk, others in capitals for what only the user knows. Empty: nothing.
    std::string value;
    std::string help, standard, section;
    bool        positional = false;
};

/// All that one subcommand takes.
struct OptionTable {
    std::string             name, summary;  ///< name: "solve"
    std::vector<OptionHelp> options;        ///< by sections, arguments first
    std::vector<FieldHelp>  nested;
    std::string             notes;  ///< what is said at the end

    bool brief() const { return nested.empty() && notes.empty(); }  ///< --help tells everything
};

/// The text of --help, or, with `all`, of --help-all.
std::string help_text(const OptionTable& table, bool all);

/// The words between |.
std::vector<std::string> choices_of(const std::string& value);

}  // namespace ilux::app
