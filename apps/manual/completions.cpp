#include "ilux/apps/manual/completions.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "ilux/gallery/gallery.hpp"

namespace ilux::app {
namespace {

/// Candidates and what the shell is to add, of which only those that begin as the word does are kept.
class Answer {
public:
    explicit Answer(std::string word) : word_(std::move(word)) {}

    void add(const std::string& candidate, const std::string& help = "")
    {
        if (candidate.starts_with(word_) && said_.insert(candidate).second)
            text_ += candidate + (help.empty() ? "" : "\t" + help.substr(0, help.find(';'))) + "\n";
    }
    void tell(const std::string& shell)
    {
        if (said_.insert(":" + shell).second) text_ += ":" + shell + "\n";
    }
    const std::string& word() const { return word_; }
    const std::string& text() const { return text_; }

private:
    std::string           word_, text_;
    std::set<std::string> said_;
};

/// gallery:NAME, then gallery:NAME:key=value,... @param prefix  "gallery:", or "" where that is understood
void add_gallery(const std::string& prefix, Answer& answer)
{
    const std::string& word = answer.word();
    if (!word.starts_with(prefix)) {
        answer.add(prefix, "a model problem");
        return answer.tell("nospace");
    }
    const std::size_t colon = word.find(':', prefix.size());
    for (const gallery::Problem& problem : gallery::problems()) {
        if (colon == std::string::npos) answer.add(prefix + problem.name, problem.summary);
        else if (word.substr(prefix.size(), colon - prefix.size()) == problem.name) {
            const std::size_t begin = std::max(word.rfind(','), colon);
            const std::string given = word.substr(0, (begin == std::string::npos ? colon : begin) + 1);
            for (const gallery::Parameter& parameter : problem.parameters)
                if (given.find(parameter.name + "=") == std::string::npos)
                    answer.add(given + parameter.name + "=", parameter.help);
        }
    }
    answer.tell("nospace");
}

bool is_literal(const std::string& choice)
{
    return !choice.empty() && choice.front() != '.' &&
           std::ranges::none_of(choice, [](unsigned char c) { return std::isupper(c) != 0 || c == '.'; });
}

/// What OptionHelp::value says. @param before  what stands in the same word before the value
void add_values(const std::string& value, const std::string& before, Answer& answer)
{
    const bool model = answer.word().starts_with(before + "gallery:");  // which is no name of a file
    for (const std::string& choice : choices_of(value)) {
        if (choice.starts_with("FILE")) answer.tell(model ? "nospace" : "files");
        else if (choice.starts_with("FOLDER")) answer.tell(model ? "nospace" : "folders");
        else if (choice == "gallery") add_gallery(before + "gallery:", answer);
        else if (choice == "problem") add_gallery(before, answer);
        else if (choice == "random:SEED") answer.add(before + "random:");
        else if (choice == "A1" || is_literal(choice)) answer.add(before + choice);
    }
}

void add_nested(const std::vector<FieldHelp>& nested, Answer& answer)
{
    const std::size_t equals = answer.word().find('=');
    for (const FieldHelp& field : nested)
        if (equals == std::string::npos) answer.add(field.path + "=", field.help);
        else if (answer.word().substr(0, equals) == field.path) add_values(field.choices, field.path + "=", answer);
    if (equals == std::string::npos) answer.tell("nospace");
}

const OptionHelp* find_option(const OptionTable& table, const std::string& name)
{
    for (const OptionHelp& option : table.options)
        if (!option.positional && std::ranges::count(option.names, name) > 0) return &option;
    return nullptr;
}

void add_words_of(const OptionTable& table, const std::string& previous, Answer& answer)
{
    const std::string& word = answer.word();
    const OptionHelp*  before = find_option(table, previous);
    if (before != nullptr && !before->value.empty()) {
        if (previous == "-p") return add_nested(table.nested, answer);
        return add_values(before->value, "", answer);
    }
    if (const std::size_t equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
        const OptionHelp* option = find_option(table, word.substr(0, equals));
        if (option != nullptr) add_values(option->value, word.substr(0, equals + 1), answer);
        return;
    }
    for (const OptionHelp& option : table.options) {
        if (option.positional && !word.starts_with('-')) add_values(option.value, "", answer);
        if (option.positional || !word.starts_with('-')) continue;
        for (const std::string& name : option.names) answer.add(name, option.help);
    }
}

}  // namespace

std::string completions(std::span<const Chapter> chapters, std::span<const std::string> words)
{
    if (words.empty()) return "";
    Answer answer(words.back());
    if (words.size() == 1) {
        for (const Chapter& chapter : chapters) answer.add(chapter.name, chapter.summary);
        for (const char* option : {"--help", "--version"}) answer.add(option);
        return answer.text();
    }
    const auto chapter = std::ranges::find(chapters, words.front(), &Chapter::name);
    if (chapter != chapters.end()) add_words_of(chapter->table, words[words.size() - 2], answer);
    return answer.text();
}

}  // namespace ilux::app
