#include "ilux/apps/options.hpp"

#include <fmt/core.h>

namespace ilux::app {
namespace {

template <class F>
std::string choices(const F& field)
{
    std::string text;
    if constexpr (NamedEnum<F>)
        for (auto name : names(field)) text += (text.empty() ? "" : "|") + std::string(name);
    else if constexpr (std::is_same_v<F, bool>) text = "on|off";
    return text;
}

}  // namespace

void parse_field(std::string_view path, std::string_view text, Refactorization& field)
{
    const auto given = static_cast<Refactorization>(parse_name(path, text, names(field)));
    if (given != Refactorization::automatic && given != Refactorization::cpu)
        throw InvalidOption(
            fmt::format("{}={}: the GPU refactorization is not in this version; auto or cpu", path, text));
    field = given;
}

void refuse_what_is_to_come(std::string_view path)
{
    if (path == "lu.index" || path == "lu.deterministic")
        throw InvalidOption(fmt::format("{}: it is of the GPU refactorization, which is not in this version", path));
}

void assign(SolveOptions& options, std::string_view assignment)
{
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos)
        throw InvalidOption(fmt::format("-p {}: expected PATH=VALUE, such as precond.drop_tol=1e-3", assignment));
    const auto path = assignment.substr(0, equals);
    refuse_what_is_to_come(path);
    set_field(options, path, assignment.substr(equals + 1));
}

std::span<const ShortName> short_names()
{
    static constexpr std::array<ShortName, 10> all{{
        {"--rhs", "rhs", "Problem"},
        {"--method", "method", "Method"},
        {"--precond", "precond.kind", "Method"},
        {"--rtol", "krylov.rtol", "Method"},
        {"--max-steps", "krylov.max_steps", "Method"},
        {"--restart", "krylov.restart", "Method"},
        {"--retry", "retry", "Method"},
        {"--time-limit", "time_limit", "Method"},
        {"--device", "device", "Machine"},
        {"--threads", "threads", "Machine"},
    }};
    return all;
}

std::vector<FieldHelp> describe(SolveOptions options)
{
    std::vector<FieldHelp> all;
    for_each_field(options, [&](const std::string& path, auto& field, Range, std::string_view help) {
        all.push_back({path, std::string(help), field_text(field), choices(field)});
    });
    return all;
}

}  // namespace ilux::app
