#include "ilux/engine/machine/machine_rates.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ilux/base/error.hpp"
#include "ilux/engine/machine/host.hpp"

namespace ilux {
namespace {

constexpr const char* heading = "ilux rates 1 of ";

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::string rates_file()
{
    if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/ilux/rates";
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.cache/ilux/rates";
}

void save_rates(const Rates& rates, const std::string& file, const std::string& processor)
{
    std::error_code none;  // what cannot be made cannot be opened below
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), none);
    std::ofstream out(file);
    out << heading << processor << '\n';
    Rates kept = rates;
    for_each_field(kept, [&](const std::string& path, auto& value, Range, std::string_view) {
        out << path << ' ' << field_text(value) << '\n';
    });
    out.close();
    require(out.good(), [&] { return fmt::format("{}: the calibration cannot be written", file); });
}

Rates load_rates(const std::string& file, const std::string& processor)
{
    std::ifstream in(file);
    std::string   line;
    if (!in.is_open()) return {};
    std::getline(in, line);
    Rates rates;
    if (line.starts_with(heading) && line != heading + processor) {
        rates.origin = "built in, as the calibration is of another processor";
        return rates;
    }
    try {
        if (line != heading + processor) throw InvalidOption(line);
        Index missing = 0;
        for_each_field(rates, [&](const std::string&, auto&, Range, std::string_view) { ++missing; });
        for (; std::getline(in, line); --missing) {
            const auto space = line.find(' ');
            if (space == std::string::npos) throw InvalidOption(line);
            set_field(rates, line.substr(0, space), line.substr(space + 1));
        }
        if (missing != 0) throw InvalidOption("a rate is missing, or there twice");
    } catch (const InvalidOption&) {
        rates = {};
        rates.origin = fmt::format("built in, as {} is damaged", file);
        return rates;
    }
    rates.origin = "of a calibration";
    return rates;
}

namespace {

Rates& rates_in_use()
{
    static Rates rates = load_rates(rates_file(), cpu_name());
    return rates;
}

}  // namespace

const Rates& machine_rates() { return rates_in_use(); }
void         use_rates(const Rates& rates) { rates_in_use() = rates; }

}  // namespace ilux
