#include "ilux/lab/model/device_parameters_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "ilux/base/error.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// The object in a text, or in its first line that has one.
Json find_object(std::string_view text, std::string_view name)
{
    const auto object_in = [](std::string_view part) {
        const Json json = Json::parse(part, nullptr, false);
        if (!json.is_object()) return Json();
        return json.contains("parameters") ? json["parameters"] : json;
    };
    Json found = object_in(text);
    for (std::size_t begin = 0; !found.is_object() && begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        found = object_in(text.substr(begin, end - begin));
        begin = end + 1;
    }
    require(found.is_object(), [&] { return fmt::format("{}: no JSON object of device parameters", name); });
    return found;
}

/// @throws InvalidInput unless it is a number
double number_of(const Json& json, std::string_view key, std::string_view name)
{
    require(json.is_number(), [&] { return fmt::format("{}: {} is {}, not a number", name, key, json.type_name()); });
    return json.get<double>();
}

void read_table(const Json& json, std::string_view key, std::span<double> table, std::string_view name)
{
    require(json.is_array() && json.size() == table.size(),
            [&] { return fmt::format("{}: {}: expected {} numbers", name, key, table.size()); });
    for (std::size_t t = 0; t < table.size(); ++t) table[t] = number_of(json[t], key, name);
}

}  // namespace

Json to_json(const DeviceParameters& parameters)
{
    Json json;
    numbers(parameters, [&](const char* name, double value) { json[name] = value; });
    tables(parameters, [&](std::string_view name, std::span<const double> values) {
        const Json row(std::vector<double>(values.begin(), values.end()));
        if (name == "miss") json["miss"].push_back(row);
        else json[std::string(name)] = row;
    });
    return json;
}

DeviceParameters parse_device_parameters(std::string_view text, std::string_view name)
{
    const Json            json = find_object(text, name);
    DeviceParameters      parameters;
    std::set<std::string> known;
    const auto            find = [&](std::string_view key) -> const Json& {
        const auto found = json.find(std::string(key));
        require(found != json.end(), [&] { return fmt::format("{}: {} is missing", name, key); });
        known.emplace(key);
        return *found;
    };
    numbers(parameters, [&](std::string_view key, double& value) { value = number_of(find(key), key, name); });
    std::size_t row = 0;
    tables(parameters, [&](std::string_view key, std::span<double> table) {
        const Json& found = find(key);
        if (key != "miss") return read_table(found, key, table, name);
        require(found.is_array() && found.size() == parameters.miss.size(),
                [&] { return fmt::format("{}: miss: expected {} rows", name, parameters.miss.size()); });
        read_table(found[row++], key, table, name);
    });
    for (const auto& entry : json.items())
        require(known.contains(entry.key()),
                [&] { return fmt::format("{}: there is no parameter {}", name, entry.key()); });
    require_sensible(parameters);
    return parameters;
}

}  // namespace ilux::app
