#pragma once
// Standard output and standard error: what is lost on the first is an error, what is lost on the second is not.

#include <string_view>

#include "ilux/base/error.hpp"

namespace ilux::app {

/// Standard output cannot be written: exit 2, and nothing more is tried there.
class BrokenOutput : public InvalidInput {
    using InvalidInput::InvalidInput;
};

/// The program's name as its user types it; main() sets it.
inline std::string_view program_name = "ilux";

/// Once, before anything is opened. A closed descriptor among 0, 1 and 2 would be taken by the next file, which would
/// then get the reports; so it is occupied by one that cannot be used either. A reader that goes away, and a limit on
/// the size of files, become errors of the write instead of the end of the program.
void settle_descriptors();

/// Writes all of it at once. @throws BrokenOutput with the system's reason
void write_out(std::string_view text);
/// Writes to standard error; what cannot be written there is lost.
void write_err(std::string_view text) noexcept;

/// The program's name and the message, on a line of its own whatever names it holds.
void complain(std::string_view message) noexcept;
/// Says that memory ran out. The call itself takes no memory.
void complain_of_memory() noexcept;

}  // namespace ilux::app
