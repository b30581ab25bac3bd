#include "ilux/solver/frequencies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

enum class Spacing { log, lin, dec };

struct Spec {
    double       first = 0, last = 0;
    Spacing      spacing = Spacing::log;
    std::int64_t count = 0;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why)
{
    throw InvalidOption(
        fmt::format("frequencies {}: {}; expected FIRST:LAST:log:COUNT, lin or dec in the place of log, "
                    "or a list F,F,... in Hz, such as 1e3:1e9:log:200",
                    text, why));
}

std::vector<std::string_view> parts_of(std::string_view text, char between)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(between);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// All of the text as a number; nothing where it is none.
template <class Number>
std::optional<Number> number_of(std::string_view text)
{
    Number     number{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

double frequency_of(std::string_view part, std::string_view text)
{
    const auto f = number_of<double>(part);
    if (!f || !std::isfinite(*f)) refuse(text, fmt::format("'{}' is no number of Hz", part));
    if (*f < 0) refuse(text, fmt::format("{} is negative", part));
    return std::abs(*f);  // -0 is 0
}

Spec spec_of(std::string_view text)
{
    const auto parts = parts_of(text, ':');
    if (parts.size() != 4) refuse(text, fmt::format("{} parts between colons, not 4", parts.size()));
    Spec spec{.first = frequency_of(parts[0], text), .last = frequency_of(parts[1], text)};
    constexpr std::array<std::string_view, 3> names{"log", "lin", "dec"};
    const auto* const                         name = std::ranges::find(names, parts[2]);
    if (name == names.end()) refuse(text, fmt::format("'{}' is none of log, lin and dec", parts[2]));
    spec.spacing = static_cast<Spacing>(name - names.begin());
    const auto count = number_of<std::int64_t>(parts[3]);
    if (!count || *count < 1) refuse(text, fmt::format("COUNT is '{}', no whole number from 1 on", parts[3]));
    spec.count = *count;
    if (spec.spacing != Spacing::lin && spec.first == 0) refuse(text, "FIRST is 0, which no ratio leads away from");
    if (spec.last < spec.first) refuse(text, "LAST is below FIRST");
    if (spec.spacing != Spacing::dec && (spec.count == 1) != (spec.first == spec.last))
        refuse(text, spec.count == 1 ? "FIRST and LAST are two, but COUNT is 1"
                                     : fmt::format("FIRST is LAST, but COUNT is {}", spec.count));
    return spec;
}

void require_few(double count, std::string_view text)
{
    if (!(count <= most_frequencies)) refuse(text, fmt::format("more than {:g} frequencies", most_frequencies));
}

/// COUNT from first to last, both of them exactly.
std::vector<double> evenly(const Spec& spec)
{
    const bool   ratios = spec.spacing == Spacing::log;
    const double from = ratios ? std::log10(spec.first) : spec.first, to = ratios ? std::log10(spec.last) : spec.last;
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(spec.count));
    for (std::int64_t k = 0; k < spec.count; ++k) {
        const double at = spec.count == 1 ? from : std::lerp(from, to, double(k) / double(spec.count - 1));
        all.push_back(ratios ? std::pow(10., at) : at);
    }
    all.front() = spec.first;
    all.back() = spec.last;
    return all;
}

std::vector<double> by_decades(const Spec& spec, std::string_view text)
{
    constexpr double rounding = 1e-9;  // of the number of steps: 1e3·10^(k/10) is to reach 1e9
    const double steps = (std::log10(spec.last) - std::log10(spec.first)) * static_cast<double>(spec.count) + rounding;
    require_few(std::floor(steps) + 1, text);
    std::vector<double> all;
    for (std::int64_t k = 0; double(k) <= steps; ++k)
        all.push_back(spec.first * std::pow(10., double(k) / double(spec.count)));
    if (std::abs(all.back() - spec.last) <= rounding * spec.last) all.back() = spec.last;
    return all;
}

}  // namespace

std::vector<double> parse_frequencies(std::string_view text)
{
    if (text.find(':') == std::string_view::npos) {
        const auto parts = parts_of(text, ',');
        require_few(static_cast<double>(parts.size()), text);
        std::vector<double> all;
        for (const std::string_view part : parts) all.push_back(frequency_of(part, text));
        return all;
    }
    const Spec spec = spec_of(text);
    if (spec.spacing == Spacing::dec) return by_decades(spec, text);
    require_few(static_cast<double>(spec.count), text);
    return evenly(spec);
}

void require_frequencies(std::span<const double> frequencies)
{
    require(!frequencies.empty(), [] { return std::string("no frequencies"); });
    for (const double f : frequencies)
        require(f >= 0 && std::isfinite(f), [&] { return fmt::format("a frequency of {} Hz: expected 0 or more", f); });
}

}  // namespace ilux
