#pragma once
// Who listens while a solve runs: the progress line of a terminal, and the residual history.

#include <chrono>
#include <string>
#include <vector>

#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/progress.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/report/attempt.hpp"

namespace ilux::app {

/// One line on stderr, redrawn at most ten times a second and wiped by clear(). Silent unless `shown`.
class ProgressLine {
public:
    explicit ProgressLine(bool shown) : shown_(shown) {}
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const Progress& progress);
    void clear();
    /// A line of its own, which stays.
    void say(const std::string& text);

private:
    using Clock = std::chrono::steady_clock;
    bool              shown_, drawn_ = false;
    Clock::time_point last_{};
    Progress          previous_{};  // the one drawn before, for the rate
};

/// "level 2: column 512 of 1024", or step, residual and the factor by which a step shrank it since `previous`.
std::string progress_text(const Progress& progress, const Progress& previous);

/// A file named .json holds an array of {step, relative_residual, exact, seconds}, any other the same as CSV.
/// @throws InvalidInput when the file cannot be written
void write_history(const FileTarget& file, const std::vector<HistoryPoint>& history);

}  // namespace ilux::app
