#include "ilux/apps/program/option_table.hpp"

#include <fmt/format.h>

#include "ilux/apps/program/console.hpp"

namespace ilux::app {
namespace {

constexpr std::size_t help_column = 26;

/// The description as far as a line goes; what follows the first semicolon can wait.
std::string in_short(const std::string& description)
{
    constexpr std::size_t most = 80;
    const std::string     begin = description.substr(0, description.find("; "));
    return begin.size() <= most ? begin : begin.substr(0, begin.rfind(' ', most)) + " ...";
}

std::string help_line(const OptionHelp& option, bool all)
{
    const std::string value = option.positional || option.value.empty() ? "" : " " + option.value;
    const std::string head = fmt::format("  {}{}", fmt::join(option.names, ","), value);
    const std::string gap =
        head.size() < help_column ? std::string(help_column - head.size(), ' ') : "\n" + std::string(help_column, ' ');
    const std::string given = option.standard.empty() ? "" : fmt::format(" [{}]", option.standard);
    return head + gap + (all ? option.help : in_short(option.help)) + given + "\n";
}

std::string nested_text(const std::vector<FieldHelp>& nested)
{
    if (nested.empty()) return "";
    std::string text = "\nNested options, set by -p PATH=VALUE or a config file:\n";
    for (const FieldHelp& field : nested) {
        const std::string value =
            field.choices.empty() ? field.value : fmt::format("{}; {}", field.value, field.choices);
        text += fmt::format("  {:<24}{} [{}]\n", field.path, field.help, value);
    }
    return text;
}

}  // namespace

std::string help_text(const OptionTable& table, bool all)
{
    all = all || table.brief();
    std::string arguments, text, section;
    for (const OptionHelp& option : table.options) {
        if (option.positional) arguments += " " + option.names.front();
        else if (all && option.section != section) text += fmt::format("\n{}:\n", section = option.section);
        text += help_line(option, all);
    }
    text = fmt::format("{}\n\nusage: {} {}{} [options]\n\n", table.summary, program_name, table.name, arguments) + text;
    if (!all) return text;
    text += nested_text(table.nested);
    return table.notes.empty() ? text : text + "\n" + table.notes + "\n";
}

std::vector<std::string> choices_of(const std::string& value)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < value.size();) {
        const std::size_t end = std::min(value.find('|', begin), value.size());
        words.push_back(value.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

}  // namespace ilux::app
