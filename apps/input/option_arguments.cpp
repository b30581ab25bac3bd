#include "ilux/apps/input/option_arguments.hpp"

#include <algorithm>

#include "ilux/apps/input/options_json.hpp"

namespace ilux::app {

OptionArguments::OptionArguments(CLI::App& app, const SolveOptions& defaults, const std::vector<std::string>& without)
    : app_(app)
{
    const auto tree = describe(defaults);
    for (const ShortName& name : short_names())
        if (std::ranges::count(without, name.path) == 0)
            shorts_.push_back({.flag = std::string(name.flag), .path = std::string(name.path), .text = ""});
    for (Short& one : shorts_) {  // its texts are bound now, so the vector grows no more
        const FieldHelp& field = *std::ranges::find(tree, one.path, &FieldHelp::path);
        const ShortName& name = *std::ranges::find(short_names(), one.path, &ShortName::path);
        app.add_option(one.flag, one.text, field.help)
            ->group(std::string(name.section))
            ->type_name(!name.value.empty()     ? std::string(name.value)
                        : field.choices.empty() ? "VALUE"
                                                : field.choices)
            ->default_str(field.value);
    }
    app.add_option("-p", assignments_, "any nested option; may be repeated")
        ->group("Method")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--config", config_, "options as a JSON tree")->group("Method")->type_name("FILE.json");
}

void OptionArguments::apply(SolveOptions& options) const
{
    if (!config_.empty()) read_config_file(options, config_);
    for (const Short& one : shorts_)
        if (app_.count(one.flag) > 0) set_field(options, one.path, one.text);
    for (const std::string& assignment : assignments_) assign(options, assignment);
}

std::vector<FieldHelp> nested_options(const std::vector<std::string>& without)
{
    std::vector<FieldHelp> nested = describe(SolveOptions());
    std::erase_if(nested, [&](const FieldHelp& field) {
        const auto matches = [&](const std::string& prefix) { return field.path.starts_with(prefix); };
        return std::ranges::any_of(without, matches) ||
               std::ranges::find(short_names(), field.path, &ShortName::path) != short_names().end();
    });
    return nested;
}

}  // namespace ilux::app
