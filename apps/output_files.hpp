#pragma once
// The files a command is to write, looked at before anything long begins.

#include <span>
#include <string>
#include <vector>

namespace ilux::app {

struct OutputFile {
    std::string option;  ///< --out and the like
    std::string file;    ///< "": not asked for
};

/// @param inputs  names of files, or of things that are no files and so in nobody's way
/// @throws InvalidOption when an output is standard output, an input or another output; InvalidInput, naming the file and the
///         reason, when one cannot be written
void require_outputs(const std::vector<std::string>& inputs, std::span<const OutputFile> outputs);

}  // namespace ilux::app
