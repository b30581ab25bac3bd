#include "ilux/apps/manual/manual_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "ilux/gallery/gallery.hpp"

namespace ilux::app {
namespace {

/// A line of text that roff takes for nothing else.
std::string plain(std::string_view text)
{
    std::string line;
    for (const char c : text)
        if (c == '\\') line += "\\e";
        else if (c == '-') line += "\\-";
        else line += c;
    return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string head(const std::string& name, std::string_view summary)
{
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(".TH {} 1 \"\" \"ilux {}\" \"ilux\"\n.ad l\n.nh\n.SH NAME\n{} \\- {}\n", plain(title),
                       ILUX_VERSION, plain(name), plain(summary));
}

/// An entry of a list: what, and what is said of it.
std::string entry(const std::string& what, std::string_view text)
{
    return fmt::format(".TP\n{}\n{}\n", what, plain(text));
}

/// Blank lines part paragraphs, and an indented line begins on a line of its own.
std::string paragraphs(const std::string& notes)
{
    std::string        text;
    std::istringstream lines(notes);
    bool               begins = true;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) {
            begins = true;
            continue;
        }
        if (begins && !text.empty()) text += ".PP\n";
        else if (line.front() == ' ') text += ".br\n";
        begins = false;
        text += plain(line.substr(line.find_first_not_of(' '))) + "\n";
    }
    return text;
}

std::string with_default(const std::string& help, const std::string& standard)
{
    return standard.empty() ? help : fmt::format("{} [{}]", help, standard);
}

std::string option_entry(const OptionHelp& option)
{
    std::string what;
    for (const std::string& name : option.names) what += (what.empty() ? "" : ", ") + bold(name);
    if (!option.value.empty() && !option.positional) what += " " + italic(option.value);
    return entry(what, with_default(option.help, option.standard));
}

std::string options_text(const OptionTable& table)
{
    std::string text = "Defaults stand in brackets.\n", section;
    for (const OptionHelp& option : table.options) {
        if (!option.positional && option.section != section)
            text += fmt::format(".SS {}\n", plain(section = option.section));
        text += option_entry(option);
    }
    if (table.nested.empty()) return text;
    text += ".SS Nested options\nSet by \\fB\\-p\\fR \\fIPATH=VALUE\\fR or a config file.\n";
    for (const FieldHelp& field : table.nested)
        text += entry(bold(field.path) + (field.choices.empty() ? "" : " " + italic(field.choices)),
                      with_default(field.help, field.value));
    return text;
}

std::string synopsis(const OptionTable& table)
{
    std::string text = bold("ilux " + table.name);
    for (const OptionHelp& option : table.options)
        if (option.positional) text += " " + italic(option.names.front());
    return text + " [options]\n";
}

std::string gallery_text()
{
    std::string text = ".SH MODEL PROBLEMS\n";
    for (const gallery::Problem& problem : gallery::problems()) {
        text += entry(bold(problem.name), problem.summary + ".");
        for (const gallery::Parameter& parameter : problem.parameters)
            text += fmt::format(".br\n{}: {}\n", bold(parameter.name + "=" + parameter.default_text),
                                plain(parameter.help));
    }
    return text;
}

}  // namespace

std::string main_page(std::span<const Chapter> chapters, std::span<const ExitMeaning> exits)
{
    std::string text = head("ilux", "solve large sparse linear systems A x = b") +
                       ".SH SYNOPSIS\n.B ilux\n.I COMMAND\n[arguments]\n.SH COMMANDS\n";
    for (const Chapter& chapter : chapters)
        text += entry(bold(chapter.name), fmt::format("{}: ilux-{}(1)", chapter.summary, chapter.name));
    text += ".SH OPTIONS\n" +
            entry(bold("--help"), "the commands, or with one before it its options; --help-all tells more") +
            entry(bold("--version"), "the version");
    text += ".SH EXIT STATUS\n";
    for (const ExitMeaning& exit : exits) text += entry(bold(fmt::format("{}", exit.code)), exit.text);
    text += ".SH ENVIRONMENT\n" + entry(bold("OMP_NUM_THREADS"), "threads of the host, where --threads says nothing") +
            entry(bold("NO_COLOR"), "set: reports without colour") +
            entry(bold("ILUX_COMPARE_CUSP"), "the program by which ilux compare runs CUSP");
    return text + ".SH EXAMPLES\n.EX\n" + plain("ilux solve A.mtx.gz --rhs b.mtx --out x.mtx") + "\n" +
           plain("ilux solve gallery:convdiff3d:n=64 --report page.html") + "\n" + plain("ilux compare A.mtx") +
           "\n.EE\n";
}

std::string command_page(const Chapter& chapter)
{
    const OptionTable& table = chapter.table;
    std::string        text = head("ilux-" + chapter.name, chapter.summary) + ".SH SYNOPSIS\n" + synopsis(table) +
                       ".SH DESCRIPTION\n" + paragraphs(table.summary + "\n\n" + table.notes) + ".SH OPTIONS\n" +
                       options_text(table);
    if (chapter.name == "gallery") text += gallery_text();
    return text + ".SH SEE ALSO\n.BR ilux (1)\n";
}

}  // namespace ilux::app
