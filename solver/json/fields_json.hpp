#pragma once
// Any options struct with a `fields` function (base/fields.hpp) as JSON, both ways.

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ilux/base/fields.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace ilux {
namespace detail {

using SetField = std::function<void(const std::string& path, const std::string& text)>;

/// precond.drop_tol → /precond/drop_tol
nlohmann::ordered_json::json_pointer field_pointer(const std::string& path);

/// Parses the object `text` and hands every leaf, as the text that set_field reads, to `set`.
/// @param leaves  the paths there are
void read_leaves(std::string_view text, std::string_view file, const std::vector<std::string>& leaves,
                 const SetField& set);

inline nlohmann::ordered_json field_json(bool field) { return field; }
inline nlohmann::ordered_json field_json(std::int32_t field) { return field; }
inline nlohmann::ordered_json field_json(const std::string& field) { return field; }
inline nlohmann::ordered_json field_json(Bytes field) { return field.value; }
inline nlohmann::ordered_json field_json(double field)
{
    return std::isfinite(field) ? nlohmann::ordered_json(field) : nlohmann::ordered_json(field_text(field));
}
inline nlohmann::ordered_json field_json(DepthBound field)
{
    return field.rows > 0 ? nlohmann::ordered_json(field.rows) : nlohmann::ordered_json(field_text(field));
}
inline nlohmann::ordered_json field_json(Damping field)
{
    return field.beta > 0 ? nlohmann::ordered_json(field.beta) : nlohmann::ordered_json(field_text(field));
}
inline nlohmann::ordered_json field_json(SchurDropTol field)
{
    return field.given ? field_json(*field.given) : nlohmann::ordered_json(field_text(field));
}
template <NamedEnum E>
nlohmann::ordered_json field_json(E field)
{
    return field_text(field);
}

}  // namespace detail

/// Every field with its value, groups as objects; bytes as a number, values that JSON cannot hold (inf) as text.
template <class Options>
nlohmann::ordered_json fields_json(Options options)
{
    nlohmann::ordered_json tree;
    for_each_field(options, [&](const std::string& path, auto& field, Range, std::string_view) {
        tree[detail::field_pointer(path)] = detail::field_json(field);
    });
    return tree;
}

/// Sets the fields that the JSON object `text` names and leaves the rest; nothing is changed when it throws.
/// @param file  named in messages
/// @throws InvalidOption for an unknown key (with its path and the nearest name), a key given twice or a bad value;
///         InvalidInput with line and column when the text is no JSON object
template <class Options>
void read_fields(Options& options, std::string_view text, std::string_view file)
{
    Options changed = options;
    detail::read_leaves(text, file, field_names(options),
                        [&](const std::string& path, const std::string& value) { set_field(changed, path, value); });
    options = std::move(changed);
}

}  // namespace ilux
