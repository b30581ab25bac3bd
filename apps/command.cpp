#include "ilux/apps/command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

constexpr std::size_t help_column = 26;

std::string help_line(const CLI::Option& option)
{
    const std::string value = option.get_type_size() == 0 ? "" : " " + option.get_type_name();
    const std::string head =
        fmt::format("  {}{}", option.get_name(option.get_positional(), true), option.get_positional() ? "" : value);
    const std::string gap =
        head.size() < help_column ? std::string(help_column - head.size(), ' ') : "\n" + std::string(help_column, ' ');
    const std::string given = option.get_default_str().empty() ? "" : fmt::format(" [{}]", option.get_default_str());
    return head + gap + option.get_description() + given + "\n";
}

class HelpFormatter final : public CLI::FormatterBase {
public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override
    {
        std::string arguments, text;
        for (const CLI::Option* option : app->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
            arguments += " " + option->get_name(true);
            text += help_line(*option);
        }
        text = fmt::format("{}\n\nusage: ilux {}{} [options]\n\n", app->get_description(), app->get_name(), arguments) +
               text;
        auto groups = app->get_groups();
        std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != "Help"; });
        for (const std::string& group : groups) {
            std::string lines;
            for (const CLI::Option* option : app->get_options())
                if (option->get_group() == group && option->nonpositional()) lines += help_line(*option);
            if (!lines.empty()) text += fmt::format("\n{}:\n{}", group, lines);
        }
        return app->get_footer().empty() ? text : text + "\n" + app->get_footer() + "\n";
    }
};

[[noreturn]] void refuse(const CLI::App& app, const std::string& given)
{
    if (given.size() < 2 || given[0] != '-')
        throw InvalidOption(fmt::format("'{}' is one argument too many; see ilux {} --help", given, app.get_name()));
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::string name = given.substr(0, given.find('='));
    const std::string nearest = nearest_name(name, known);
    throw InvalidOption(fmt::format("there is no option '{}'; {}", name,
                                    nearest.empty() ? fmt::format("see ilux {} --help", app.get_name())
                                                    : fmt::format("did you mean '{}'?", nearest)));
}

}  // namespace

ExitCode exit_code(Outcome outcome)
{
    switch (outcome) {
        case Outcome::converged:
            return success;
        case Outcome::max_steps:
        case Outcome::stagnated:
        case Outcome::diverged:
        case Outcome::not_finite:
        case Outcome::time_limit:
            return not_converged;
        case Outcome::breakdown:
        case Outcome::singular:
            return broke_down;
        case Outcome::out_of_memory:
            return no_memory;
    }
    return our_fault;
}

std::unique_ptr<CLI::App> parser(std::string_view name, std::string_view summary)
{
    auto app = std::make_unique<CLI::App>(std::string(summary), std::string(name));
    app->formatter(std::make_shared<HelpFormatter>());
    app->set_help_flag("-h,--help", "this text")->group("Help");
    app->allow_extras();  // so that parse() can name the nearest option
    return app;
}

bool parse(CLI::App& app, Arguments arguments)
{
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        std::fputs(app.help().c_str(), stdout);
        return false;
    } catch (const CLI::ParseError& error) {
        throw InvalidOption(error.what());
    }
    const auto extras = app.remaining();
    const auto option = std::ranges::find_if(extras, [](const std::string& text) { return text.starts_with('-'); });
    if (!extras.empty()) refuse(app, option == extras.end() ? extras.front() : *option);
    return true;
}

}  // namespace ilux::app
