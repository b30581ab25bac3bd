#include "ilux/apps/program/command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>

#include "ilux/apps/program/console.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

/// Where tables are asked for instead of work.
OptionTable* table_wanted = nullptr;

OptionHelp help_of(const CLI::Option& option)
{
    OptionHelp help{.names = {},
                    .value = option.get_type_size() == 0 ? "" : option.get_type_name(),
                    .help = option.get_description(),
                    .standard = option.get_default_str(),
                    .section = option.get_group(),
                    .positional = option.get_positional()};
    if (help.positional) help.names.push_back(option.get_name(true));
    for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
    return help;
}

OptionTable table_of_parser(const Parser& app)
{
    OptionTable table{app.get_name(), app.get_description(), {}, app.nested, app.get_footer()};
    for (const CLI::Option* option : app.get_options())
        if (option->get_positional()) table.options.push_back(help_of(*option));
    auto groups = app.get_groups();
    std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != "Help"; });
    for (const std::string& group : groups)
        for (const CLI::Option* option : app.get_options())
            if (option->get_group() == group && option->nonpositional()) table.options.push_back(help_of(*option));
    return table;
}

[[noreturn]] void refuse(const CLI::App& app, const std::string& given)
{
    if (given.size() < 2 || given[0] != '-')
        throw InvalidOption(
            fmt::format("'{}' is one argument too many; see {} {} --help", given, program_name, app.get_name()));
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::string name = given.substr(0, given.find('='));
    const std::string nearest = nearest_name(name, known);
    throw InvalidOption(fmt::format("there is no option '{}'; {}", name,
                                    nearest.empty() ? fmt::format("see {} {} --help", program_name, app.get_name())
                                                    : fmt::format("did you mean '{}'?", nearest)));
}

void require_no_extras(const CLI::App& app)
{
    const auto extras = app.remaining();
    const auto option = std::ranges::find_if(extras, [](const std::string& text) { return text.starts_with('-'); });
    if (!extras.empty()) refuse(app, option == extras.end() ? extras.front() : *option);
}

struct Word {
    std::string option, value;  ///< option "": it is an argument of its own
};

/// The arguments as CLI11 takes them, as far as that goes: where it refuses some, the others still have their meaning.
std::vector<Word> words_of(const CLI::App& app, Arguments arguments)
{
    std::vector<Word> words;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const std::string& word = arguments[k];
        if (word.size() < 2 || word[0] != '-') {
            words.push_back({"", word});
            continue;
        }
        const std::size_t  equals = word.starts_with("--") ? word.find('=') : std::string::npos;
        const std::string  name = word.substr(0, equals);
        const CLI::Option* option = app.get_option_no_throw(name);
        if (option == nullptr || option->get_items_expected_min() == 0) continue;
        if (equals != std::string::npos) words.push_back({name, word.substr(equals + 1)});
        else if (k + 1 < arguments.size()) words.push_back({name, arguments[++k]});
    }
    return words;
}

/// What is read, as far as the command line names it: no output may be one of these.
void add_inputs(const std::vector<Word>& words, std::vector<std::string>& inputs)
{
    constexpr std::array<std::string_view, 6> reading{"--rhs",    "--near-null",  "--plan",
                                                      "--config", "--parameters", "--matrices"};
    for (const auto& [option, value] : words) {
        if (option.empty() || std::ranges::count(reading, option) > 0) inputs.push_back(value);
        for (const std::string_view path : {"rhs=", "near_null=", "plan="})
            if (option == "-p" && value.starts_with(path)) inputs.push_back(value.substr(path.size()));
    }
}

Claims claim_outputs(Parser& app, const std::vector<Word>& words, std::vector<std::string> inputs)
{
    const auto own = [](const auto& word) { return word.option.empty(); };
    if (app.needs_input && std::ranges::none_of(words, own)) return {};
    std::vector<NamedOutput> named;
    std::vector<Output*>     to;
    std::string              unnamed;
    for (const auto& [option, value] : words)
        for (const auto& output : app.outputs())
            if (output.flag == option && !value.empty()) {
                named.push_back({option, value, output.kind});
                to.push_back(output.to);
            } else if (output.flag == option) unnamed = option;
    add_inputs(words, inputs);
    Claims all = claim(named, inputs);
    if (!unnamed.empty()) all.misuse = unnamed + ": the name is empty; give a file, or leave the option out";
    for (std::size_t k = 0; k < named.size(); ++k) to[k]->claimed = std::move(all.of[k]);
    return all;
}

}  // namespace

CLI::Option* Parser::add_output(const std::string& flag, Output& to, const std::string& help,
                                const std::string& type_name, OutputKind kind)
{
    outputs_.push_back({flag, &to, kind});
    return add_option(flag, to.name, help)->group("Output")->type_name(type_name);
}

std::unique_ptr<Parser> parser(std::string_view name, std::string_view summary)
{
    auto app = std::make_unique<Parser>(std::string(summary), std::string(name));
    app->set_help_flag("-h,--help", "this text")->group("Help");
    app->set_help_all_flag("--help-all", "more of each option, and those for -p")->group("Help");
    app->allow_extras();  // so that parse() can name the nearest option
    return app;
}

OptionTable table_of(int (*run)(Arguments arguments))
{
    OptionTable table;
    table_wanted = &table;
    run({});
    table_wanted = nullptr;
    return table;
}

bool parse(Parser& app, Arguments arguments, const std::function<std::vector<std::string>()>& settle)
{
    if (table_wanted != nullptr) {
        *table_wanted = table_of_parser(app);
        return false;
    }
    std::vector<std::string> inputs;
    std::exception_ptr       refused;
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        require_no_extras(app);
        if (settle) inputs = settle();
    } catch (const CLI::CallForHelp&) {
        write_out(help_text(table_of_parser(app), false));
        return false;
    } catch (const CLI::CallForAllHelp&) {
        write_out(help_text(table_of_parser(app), true));
        return false;
    } catch (const CLI::ParseError& error) {
        refused = std::make_exception_ptr(InvalidOption(error.what()));
    } catch (...) {
        refused = std::current_exception();
    }
    const Claims claims = claim_outputs(app, words_of(app, arguments), std::move(inputs));
    if (refused && !claims.unwritable.empty()) complain(claims.unwritable);
    if (refused) std::rethrow_exception(refused);
    if (!claims.misuse.empty()) throw InvalidOption(claims.misuse);
    if (!claims.unwritable.empty()) throw InvalidInput(claims.unwritable);
    return true;
}

bool asks_for_json(Arguments arguments) { return std::ranges::count(arguments, "--json") > 0; }

}  // namespace ilux::app
