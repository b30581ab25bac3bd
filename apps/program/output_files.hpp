#pragma once
// The files that a command is to write. One rule for every exit: each is complete and of this run, or it is not there.

#include <span>
#include <string>
#include <vector>

#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/types.hpp"

namespace ilux::app {

/// Bound to an option by Parser::add_output.
struct Output {
    std::string             name;     ///< as given; "": it was not asked for
    std::vector<FileTarget> claimed;  ///< the file; of a folder of solutions those of a former run, which are removed

    explicit          operator bool() const { return !name.empty(); }
    const FileTarget& file() const { return claimed.at(0); }
};

enum class OutputKind {
    file,
    data,       ///< a file, or standard output, which then carries nothing else
    solutions,  ///< a folder of x_000.mtx and so on
};

/// One output's name, as a command line gives it.
struct NamedOutput {
    std::string option, name;
    OutputKind  kind = OutputKind::file;
};

/// What former runs left, after the attempt to remove it, and why outputs cannot be what they are to be; "" where they
/// can.
struct Claims {
    std::vector<std::vector<FileTarget>> of;          ///< of each output, as Output::claimed
    std::string                          misuse;      ///< it is an input, a standard descriptor, or another output
    std::string                          unwritable;  ///< the file and the system's reason
};

/// Removes what a former run left under the names of all outputs, whatever is wrong with one of them. What is an input
/// or a standard descriptor stays, and so does what the system protects.
/// @param inputs  names of files and folders, or of things that are neither and so in nobody's way. What lies in a
/// folder is
///                an input, too, but for pages, drawings and solutions.
Claims claim(std::span<const NamedOutput> outputs, const std::vector<std::string>& inputs);

/// Makes a folder of solutions. @throws InvalidInput when it cannot be made or written to
void make_folder(const Output& folder);
/// x_000.mtx and so on in a folder of solutions. @param k  from 0
FileTarget solution_file(const Output& folder, Index k);

/// This target waits for the reader of a FIFO for so many seconds at most. 0: without end
FileTarget waiting_at_most(double seconds, FileTarget target);

/// One text into one file. @throws InvalidInput when it cannot be written
void write_file(const FileTarget& file, const std::string& text);

}  // namespace ilux::app
