#pragma once
// What the laboratory and `compare` share: repeated times, failures as text, what is known of the machine.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ilux/base/median.hpp"
#include "ilux/base/types.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux::app {

using TakeJson = std::function<void(const nlohmann::ordered_json&)>;

inline constexpr double long_run = 5;  ///< seconds; a run that takes longer is neither preceded by another nor repeated

/// Seconds of the same work, again and again.
struct Times {
    double median = 0, least = 0, most = 0;
};
/// Runs `work` as often as asked for; a first run before them is not counted. One that takes more than 5 s is, and is
/// then the only one. @param before  runs before each, uncounted; may be empty
Times timed(Index repetitions, const std::function<void()>& work, const std::function<void()>& before = {});

nlohmann::ordered_json to_json(const Times& times);

/// The words between commas.
std::vector<std::string> split(const std::string& text);

/// A path that is no folder, file or gallery problem is refused before anything is measured. @throws InvalidInput
/// naming it
void require_path(const std::string& path);

/// Why `work` did not come to its end, or "".
std::string failure_of(const std::function<void()>& work);

/// Why a GPU is not measured, or "".
std::string why_no_gpu_rows(DeviceChoice device);

/// Processors, build and compiler. @param gpu  one is used
nlohmann::ordered_json machine_json(int threads, bool gpu);

}  // namespace ilux::app
