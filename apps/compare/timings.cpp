#include "ilux/apps/compare/timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "ilux/apps/program/machine.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"

namespace ilux::app {

using Json = nlohmann::ordered_json;

Times timed(Index repetitions, const std::function<void()>& work, const std::function<void()>& before)
{
    const auto run = [&] {
        if (before) before();
        const WallClock clock;
        work();
        return clock.seconds();
    };
    std::vector<double> seconds{run()};
    if (seconds.front() <= long_run) {
        seconds.clear();
        for (Index k = 0; k < repetitions; ++k) seconds.push_back(run());
    }
    return {.median = median(seconds), .least = std::ranges::min(seconds), .most = std::ranges::max(seconds)};
}

Json to_json(const Times& times) { return {{"median", times.median}, {"least", times.least}, {"most", times.most}}; }

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

void require_path(const std::string& path)
{
    std::error_code unknown;
    require(path.starts_with("gallery:") || std::filesystem::exists(path, unknown),
            [&] { return fmt::format("{}: there is no such file or folder", path); });
}

std::string failure_of(const std::function<void()>& work)
{
    try {
        work();
        return "";
    } catch (const Error& error) {
        return error.what();
    } catch (const std::bad_alloc&) {
        return "out of memory";
    }
}

std::string why_no_gpu_rows(DeviceChoice device)
{
    if (device == DeviceChoice::cpu) return "--device cpu";
    if (!built_with_cuda()) return "this build has no CUDA";
    return gpu_count() > 0 ? "" : "no GPU was found";
}

Json machine_json(int threads, bool gpu)
{
    return {{"cpu", cpu_name()},
            {"threads", Cpu(threads).threads()},
            {"gpu", gpu ? Json(gpu_name(0)) : Json(nullptr)},
            {"compiler", compiler_name()},
            {"build", ILUX_BUILD_TYPE ILUX_BUILD_FLAGS}};
}

}  // namespace ilux::app
