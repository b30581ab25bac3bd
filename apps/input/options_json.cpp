#include "ilux/apps/input/options_json.hpp"

#include <fmt/core.h>

#include "ilux/base/io/text_file.hpp"
#include "ilux/solver/json/fields_json.hpp"

namespace ilux::app {
namespace {

constexpr std::size_t largest_config = 1 << 20;

}  // namespace

nlohmann::ordered_json to_json(const SolveOptions& options) { return fields_json(options); }

void read_config(SolveOptions& options, std::string_view text, std::string_view file)
{
    read_fields(options, text, file);
}

void read_config_file(SolveOptions& options, const std::string& file)
{
    const TextFile         in(file);
    const std::string_view text = in.view();
    require(text.size() <= largest_config,
            [&] { return fmt::format("{}: {} bytes are too many for a config file", file, text.size()); });
    read_config(options, text, file);
}

}  // namespace ilux::app
