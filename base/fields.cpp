#include "ilux/base/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace ilux {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
        }
    }
    return row[b.size()];
}

[[noreturn]] void throw_bad_value(std::string_view path, std::string_view text, std::string_view expected)
{
    throw InvalidOption(fmt::format("{}={}: expected {}", path, text, expected));
}

template <class Number>
void parse_number(std::string_view path, std::string_view text, Number& field, std::string_view expected)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) throw_bad_value(path, text, "a number that fits");
    if (error != std::errc{} || end != text.data() + text.size()) throw_bad_value(path, text, expected);
    field = value;
}

std::string joined(std::span<const std::string_view> names)
{
    std::string text;
    for (auto name : names) text += (text.empty() ? "" : "|") + std::string(name);
    return text;
}

constexpr std::array<std::pair<char, double>, 4> byte_units{
    {{'K', 1024.}, {'M', 1048576.}, {'G', 1073741824.}, {'T', 1099511627776.}}};

/// A name that was cut short: lu.pivot for lu.pivot_tol. Not a mere group, nor a letter or two.
bool is_start(std::string_view given, std::string_view name)
{
    return given.size() > 2 && name.starts_with(given) && name.find('.', given.size()) == std::string_view::npos;
}

}  // namespace

std::string nearest_name(std::string_view given, std::span<const std::string> candidates)
{
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const auto dot = candidate.rfind('.');
        const auto leaf = dot == std::string::npos ? candidate : candidate.substr(dot + 1);
        const auto distance = is_start(given, candidate) || is_start(given, leaf)
                                  ? std::size_t{1}
                                  : std::min(edit_distance(given, candidate), edit_distance(given, leaf));
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

void throw_unknown_field(std::string_view path, std::span<const std::string> candidates)
{
    constexpr std::size_t few = 12;
    const auto            nearest = nearest_name(path, candidates);
    std::string           hint;
    if (!nearest.empty()) hint = fmt::format("; did you mean '{}'?", nearest);
    else if (!candidates.empty() && candidates.size() <= few)
        hint = fmt::format("; there are {}", fmt::join(candidates, ", "));
    throw InvalidOption(fmt::format("there is no option '{}'{}", path, hint));
}

void parse_field(std::string_view path, std::string_view text, bool& field)
{
    if (text == "on" || text == "true") field = true;
    else if (text == "off" || text == "false") field = false;
    else throw_bad_value(path, text, "on or off");
}

void parse_field(std::string_view path, std::string_view text, std::int32_t& field)
{
    parse_number(path, text, field, "a whole number");
}

void parse_field(std::string_view path, std::string_view text, std::int64_t& field)
{
    parse_number(path, text, field, "a whole number");
}

void parse_field(std::string_view path, std::string_view text, double& field)
{
    parse_number(path, text, field, "a number");
    if (std::isnan(field)) throw_bad_value(path, text, "a number");
}

void parse_field(std::string_view, std::string_view text, std::string& field) { field = text; }

void parse_field(std::string_view path, std::string_view text, Bytes& field)
{
    double           unit = 1;
    std::string_view digits = text;
    if (!digits.empty())
        for (auto [letter, factor] : byte_units)
            if (digits.back() == letter) {
                unit = factor;
                digits.remove_suffix(1);
                break;
            }
    double count = 0;
    parse_number(path, digits, count, "bytes, such as 512M or 2.5G");
    if (!(count >= 0) || count * unit >= 9e18) throw_bad_value(path, text, "bytes, such as 512M or 2.5G");
    field.value = static_cast<std::uint64_t>(std::ceil(count * unit));  // upwards: 0 would mean no limit
}

int parse_name(std::string_view path, std::string_view text, std::span<const std::string_view> names)
{
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw_bad_value(path, text, joined(names));
    return static_cast<int>(found - names.begin());
}

std::string field_text(bool field) { return field ? "on" : "off"; }
std::string field_text(std::int32_t field) { return fmt::format("{}", field); }
std::string field_text(std::int64_t field) { return fmt::format("{}", field); }
std::string field_text(double field) { return fmt::format("{}", field); }
std::string field_text(const std::string& field) { return field; }
std::string field_text(Bytes field)
{
    for (auto unit = byte_units.rbegin(); unit != byte_units.rend(); ++unit) {
        const auto bytes = static_cast<std::uint64_t>(unit->second);
        if (field.value >= bytes && field.value % bytes == 0)
            return fmt::format("{}{}", field.value / bytes, unit->first);
    }
    return fmt::format("{}", field.value);
}

void check_range(std::string_view path, double value, Range range)
{
    if (value >= range.lo && value <= range.hi) return;
    const std::string expected = std::isinf(range.hi)   ? fmt::format("at least {}", range.lo)
                                 : std::isinf(range.lo) ? fmt::format("at most {}", range.hi)
                                                        : fmt::format("a number from {} to {}", range.lo, range.hi);
    throw_bad_value(path, fmt::format("{}", value), expected);
}

}  // namespace ilux
