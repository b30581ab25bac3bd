#pragma once
// What may follow on a command line, for the scripts that shells run.

#include <span>
#include <string>

#include "ilux/apps/manual/chapter.hpp"

namespace ilux::app {

/// A line for each word that may stand where the last of `words` stands, behind a tab what it means; and lines of their
/// own for the shell: ":files" and ":folders", names of these may stand there, too; ":nospace", the word may go on.
/// @param words  all that follows the program's name, the last as far as it is typed, perhaps ""
std::string completions(std::span<const Chapter> chapters, std::span<const std::string> words);

}  // namespace ilux::app
