// Prints the options as JSON: what a user gets includes the JSON library's headers, too.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ilux/solver/json/options_json.hpp"

int main()
{
    ilux::SolverOptions options;
    ilux::read_options(options, R"({"krylov": {"restart": 7}})", "text");
    const auto tree = ilux::to_json(options);
    std::puts(tree.dump(2).c_str());
    return tree["krylov"]["restart"] == 7 ? 0 : 1;
}
