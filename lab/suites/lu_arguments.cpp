#include "ilux/lab/suites/lu_arguments.hpp"

#include "ilux/base/fields.hpp"
#include "ilux/lab/suites/suites.hpp"

namespace ilux::app {

LuParser::LuParser(const std::string& suite, const LuHelp& help, LuArguments& given)
    : given_(given), app_(parser(suite, help.summary))
{
    app_->add_option("PATHS", given.paths,
                     "folders as of ilux sequence, Matrix Market files, gallery:NAME[:key=value,...]")
        ->type_name("FOLDER|FILE|gallery");
    for_each_field(given.bench, [&](const std::string& path, auto& field, Range, std::string_view about) {
        if (path == help.left_out) return;
        auto& [name, text] = fields_.emplace_back(path, "");
        option("--" + name, text, about, "VALUE", field_text(field));
    });
    option("--device", device_, help.device, "auto|cpu|gpu", "auto");
    app_->add_flag("--json", given.json, std::string(help.json))->group("Output");
    app_->add_output("--svg", given.svg, std::string(help.svg), "FILE");
    option("--commit", given.commit, "of the sources, for the JSON", "TEXT", "", "Output");
    app_->add_flag("--in-process", given.in_process, "measure here, one JSON line a finding")->group("Output");
    option("--steps", steps_, help.steps, "NAME,...", "", "Output");
}

void LuParser::option(const std::string& name, std::string& text, std::string_view help, const char* value,
                      const std::string& standard, const char* group)
{
    app_->add_option(name, text, std::string(help))->group(group)->type_name(value)->default_str(standard);
}

bool LuParser::read(Arguments arguments)
{
    if (!parse(*app_, arguments)) return false;
    for (const auto& [path, text] : fields_)
        if (!text.empty()) set_field(given_.bench, path, text);
    parse_field("device", device_, given_.device);
    if (!steps_.empty()) given_.steps = split(steps_);
    if (!given_.steps.empty() && !given_.in_process)
        throw InvalidOption("--steps: only a run with --in-process takes them");
    for (const std::string& path : given_.paths) require_path(path);
    return true;
}

}  // namespace ilux::app
