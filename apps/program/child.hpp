#pragma once
// This program, or another, run as a process of its own, which may be ended when it takes too long.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ilux::app {

/// From when on seconds count: the start, the last output, or the first output and then no other.
enum class TimeLimit { in_all, between_lines, after_first_line };

struct Ending {
    std::string words;           ///< "" when it exited with 0, otherwise how it ended
    bool        killed = false;  ///< by a signal: ours at the time limit, or another's
};

inline constexpr const char* this_program = "/proc/self/exe";

/// Runs `program arguments...` and passes on every complete line of its standard output as it comes; its standard error
/// is ours, and it is killed when the calling thread ends. @param program  a path; one that is no program ends with
/// code 127
/// @param seconds  after which it is killed; 0: never
/// @throws InvalidInput when no process can be started
Ending run_program(const std::string& program, const std::vector<std::string>& arguments, double seconds,
                   const std::function<void(std::string_view line)>& take, TimeLimit limit = TimeLimit::in_all);

/// Runs `ilux arguments...` in this way. @return Ending::words
std::string run_self(const std::vector<std::string>& arguments, double seconds,
                     const std::function<void(std::string_view line)>& take, TimeLimit limit = TimeLimit::in_all);

}  // namespace ilux::app
