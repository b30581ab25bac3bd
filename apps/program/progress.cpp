#include "ilux/apps/program/progress.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/output_files.hpp"
#include "ilux/solver/json/json_number.hpp"

namespace ilux::app {

void ProgressLine::show(const Progress& progress)
{
    if (!shown_) return;
    const auto now = Clock::now();
    if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
    write_err("\r\033[K" + progress_text(progress, previous_));
    last_ = now;
    previous_ = progress;
    drawn_ = true;
}

void ProgressLine::clear()
{
    if (!drawn_) return;
    write_err("\r\033[K");
    drawn_ = false;
    previous_ = {};
}

void ProgressLine::say(const std::string& text)
{
    clear();
    if (shown_) write_err(text + "\n");
}

std::string progress_text(const Progress& progress, const Progress& previous)
{
    if (progress.phase == Progress::Phase::setup)
        return fmt::format("level {}: column {} of {}", progress.level, progress.done, progress.total);
    std::string text = fmt::format("step {} of {}  residual {:.1e}", progress.done, progress.total, progress.residual);
    const Index steps = progress.done - previous.done;
    if (previous.phase == Progress::Phase::solve && steps > 0 && previous.residual > 0 && progress.residual > 0)
        text += fmt::format("  ×{:.2g} a step", std::pow(progress.residual / previous.residual, 1.0 / steps));
    return text;
}

namespace {

std::string history_csv(const std::vector<HistoryPoint>& history)
{
    std::string text = "step,relative_residual,exact,seconds\n";
    for (const auto& [step, residual, exact, seconds] : history)
        text += fmt::format("{},{},{},{:.6f}\n", step, residual, exact ? 1 : 0, seconds);
    return text;
}

std::string history_json(const std::vector<HistoryPoint>& history)
{
    auto points = nlohmann::ordered_json::array();
    for (const auto& [step, residual, exact, seconds] : history)
        points.push_back(
            {{"step", step}, {"relative_residual", json_number(residual)}, {"exact", exact}, {"seconds", seconds}});
    return points.dump() + "\n";
}

}  // namespace

void write_history(const FileTarget& file, const std::vector<HistoryPoint>& history)
{
    write_file(file, file.name.ends_with(".json") ? history_json(history) : history_csv(history));
}

}  // namespace ilux::app
