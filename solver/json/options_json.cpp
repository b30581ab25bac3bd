#include "ilux/solver/json/options_json.hpp"

#include "ilux/solver/json/fields_json.hpp"

namespace ilux {

nlohmann::ordered_json to_json(const SolverOptions& options) { return fields_json(options); }

void read_options(SolverOptions& options, std::string_view text, std::string_view file)
{
    read_fields(options, text, file);
}

}  // namespace ilux
