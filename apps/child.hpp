#pragma once
// This program run again as a process of its own, which may be ended when it takes too long.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ilux::app {

enum class TimeLimit { in_all, between_lines };

/// Runs `ilux arguments...` and passes on every complete line of its standard output as it comes; its standard error
/// is ours, and it is killed when the calling thread ends. @param seconds  after which it is killed; 0: never
/// @param limit  between_lines: seconds count from the last output
/// @return "" when it exited with 0, otherwise how it ended, in words
/// @throws InvalidInput when it cannot be started
std::string run_self(const std::vector<std::string>& arguments, double seconds,
                     const std::function<void(std::string_view line)>& take, TimeLimit limit = TimeLimit::in_all);

}  // namespace ilux::app
