#pragma once
// Options without repetition. Beside an options struct stands one function
//
//     template <class Visit> void fields(GmresOptions& o, Visit&& visit) {
//         visit("restart", o.restart, at_least(1), "Krylov dimension m before a restart");
//     }
//
// and the command line, --help, JSON, validation and name suggestions all walk it. A field may itself be an options
// struct: its names are then reached as outer.inner.

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Closed range a number must lie in; NaN never does.
struct Range {
    double lo = -std::numeric_limits<double>::infinity();
    double hi = std::numeric_limits<double>::infinity();
};
constexpr Range at_least(double lo) { return {.lo = lo}; }
constexpr Range within(double lo, double hi) { return {.lo = lo, .hi = hi}; }
constexpr Range anything() { return {}; }

/// A number of bytes, written 512M or 2.5G; 0 means no limit.
struct Bytes {
    std::uint64_t value = 0;
    friend bool   operator==(Bytes, Bytes) = default;
};

namespace detail {
struct IgnoreField {
    template <class F>
    void operator()(std::string_view, F&, Range, std::string_view) const
    {}
};
}  // namespace detail

// clang-format off
template <class O>
concept OptionsStruct = std::is_class_v<O> && requires(O& o, detail::IgnoreField f) { fields(o, f); };
// clang-format on

/// Calls f(path, field, range, help) for every leaf, nested structs flattened to dotted paths.
template <OptionsStruct O, class F>
void for_each_field(O& options, F&& f, const std::string& prefix = "")
{
    fields(options, [&](std::string_view name, auto& field, Range range, std::string_view help) {
        const std::string path = prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
        if constexpr (OptionsStruct<std::remove_cvref_t<decltype(field)>>) for_each_field(field, f, path);
        else f(path, field, range, help);
    });
}

/// The candidate with the smallest edit distance, where one that only continues `given` counts as 1; or "" when none is
/// near enough to be what was meant.
std::string nearest_name(std::string_view given, std::span<const std::string> candidates);

/// Text to value and back. @throws InvalidOption naming `path`, the text and what was expected
void parse_field(std::string_view path, std::string_view text, bool& field);
void parse_field(std::string_view path, std::string_view text, std::int32_t& field);
void parse_field(std::string_view path, std::string_view text, std::int64_t& field);
void parse_field(std::string_view path, std::string_view text, double& field);
void parse_field(std::string_view path, std::string_view text, std::string& field);
void parse_field(std::string_view path, std::string_view text, Bytes& field);
int  parse_name(std::string_view path, std::string_view text, std::span<const std::string_view> names);

template <NamedEnum E>
void parse_field(std::string_view path, std::string_view text, E& field)
{
    field = static_cast<E>(parse_name(path, text, names(field)));
}

std::string field_text(bool field);
std::string field_text(std::int32_t field);
std::string field_text(std::int64_t field);
std::string field_text(double field);  ///< shortest text that reads back to the same number
std::string field_text(const std::string& field);
std::string field_text(Bytes field);

template <NamedEnum E>
std::string field_text(E field)
{
    return std::string(name(field));
}

/// @throws InvalidOption when a number is NaN or outside its range
void check_range(std::string_view path, double value, Range range);

template <class F>
void check_field(std::string_view path, const F& field, Range range)
{
    if constexpr (std::is_arithmetic_v<F> && !std::is_same_v<F, bool>)
        check_range(path, static_cast<double>(field), range);
}

template <OptionsStruct O>
std::vector<std::string> field_names(O options = {})
{
    std::vector<std::string> paths;
    for_each_field(options, [&](const std::string& path, auto&, Range, std::string_view) { paths.push_back(path); });
    return paths;
}

/// Throws InvalidOption for a name that does not exist, with the nearest one.
[[noreturn]] void throw_unknown_field(std::string_view path, std::span<const std::string> candidates);

/// Sets the option called `path` (dotted) from text.
template <OptionsStruct O>
void set_field(O& options, std::string_view path, std::string_view text)
{
    bool found = false;
    for_each_field(options, [&](const std::string& name, auto& field, Range range, std::string_view) {
        if (name != path) return;
        found = true;
        auto value = field;
        parse_field(path, text, value);
        check_field(path, value, range);
        field = value;
    });
    if (!found) throw_unknown_field(path, field_names(options));
}

/// @throws InvalidOption for the first field outside its range
template <OptionsStruct O>
void validate(O options)
{
    for_each_field(options, [](const std::string& path, auto& field, Range range, std::string_view) {
        check_field(path, field, range);
    });
}

}  // namespace ilux
