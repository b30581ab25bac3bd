// Options of the multilevel ILU as text.

#include <fmt/core.h>

#include "ilux/base/error.hpp"
#include "ilux/precond/mlilu/mlilu_options.hpp"

namespace ilux {

void parse_field(std::string_view path, std::string_view text, DepthBound& field)
{
    DepthBound value;
    if (text == "none") value.rows = DepthBound::none;
    else if (text != "auto") {
        try {
            parse_field(path, text, value.rows);
        } catch (const InvalidOption&) {
            value.rows = 0;
        }
        if (value.rows < 1)
            throw InvalidOption(fmt::format("{}={}: expected auto, none or a whole number of at least 1", path, text));
    }
    field = value;
}

std::string field_text(DepthBound field)
{
    return field.rows > 0 ? fmt::format("{}", field.rows) : field.rows == DepthBound::none ? "none" : "auto";
}

void parse_field(std::string_view path, std::string_view text, Damping& field)
{
    Damping value;
    if (text == "off") value.beta = 0;
    else if (text != "auto") {
        try {
            parse_field(path, text, value.beta);
        } catch (const InvalidOption&) {
            value.beta = -1;
        }
        if (!(value.beta >= 0 && value.beta <= 1))
            throw InvalidOption(fmt::format("{}={}: expected auto, off or a number from 0 to 1", path, text));
    }
    field = value;
}

void parse_field(std::string_view path, std::string_view text, SchurDropTol& field)
{
    double value = 0;
    if (text != "auto") try {
            parse_field(path, text, value);
        } catch (const InvalidOption&) {
            throw InvalidOption(fmt::format("{}={}: expected auto or a number from 0 to 1", path, text));
        }
    field = text == "auto" ? SchurDropTol{} : SchurDropTol{value};
}

std::string field_text(SchurDropTol field) { return field.given ? field_text(*field.given) : "auto"; }

void check_field(std::string_view path, SchurDropTol field, Range range)
{
    if (field.given) check_range(path, *field.given, range);
}

std::string field_text(Damping field)
{
    return field.beta > 0 ? fmt::format("{}", field.beta) : field.beta == 0 ? "off" : "auto";
}

}  // namespace ilux
