#include "ilux/solver/info/info_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

Json json_levels(const Levels& levels)
{
    Json hubs = Json::array();
    for (std::size_t h = 0; h < levels.hubs.size(); ++h)
        hubs.push_back({{"column", levels.hub_column[h] + 1},
                        {"updates", levels.hubs[h].updates},
                        {"depth", levels.hubs[h].depth}});
    return {{"left", levels.left},
            {"exact", levels.exact},
            {"relaxed", levels.relaxed},
            {"sizes", levels.sizes},
            {"hubs", std::move(hubs)}};
}

Json json_lu(const MatrixInfo& info)
{
    const LuSymbolicReport& lu = info.lu->report;
    Json                    json{{"ordering", field_text(lu.ordering)},
              {"matched", lu.matched},
              {"blocks", lu.blocks},
              {"largest_block", lu.largest_block},
              {"predicted_nnz", lu.nnz},
              {"predicted_flops", lu.flops},
              {"seconds", lu.seconds},
              {"decisions", lu.decisions},
              {"levels", nullptr}};
    if (info.levels) json["levels"] = json_levels(*info.levels);
    if (!info.no_levels.empty()) json["no_levels"] = info.no_levels;
    return json;
}

/// What only a square matrix has.
void add_square(const MatrixInfo& info, Json& json)
{
    for (const char* key : {"diagonal", "matching", "depth_lower", "lu", "recommended"}) json[key] = nullptr;
    if (info.matching) {
        json["diagonal"] = {{"zeros", info.diagonal.zeros},
                            {"missing", info.diagonal.missing},
                            {"largest_in_row", info.diagonal.largest_in_row},
                            {"dominant_rows", info.diagonal.dominant}};
        json["matching"] = {{"structural_rank", info.matching->rank},
                            {"rows_moved", info.matching->moved},
                            {"dominant_rows", info.matching->dominant},
                            {"optimal", info.matching->optimal}};
        json["depth_lower"] = info.depth_lower;
    }
    if (info.lu) json["lu"] = json_lu(info);
    if (info.recommended)
        json["recommended"] = {{"strategy",
                                field_text(info.recommended->direct() ? SolverMode::direct : SolverMode::iterative)},
                               {"method", field_text(info.recommended->method)},
                               {"precond", field_text(info.recommended->precond)},
                               {"decisions", info.recommended->decisions}};
}

}  // namespace

double decades(const MatrixInfo& info)
{
    return info.smallest > 0 ? std::log10(info.largest) - std::log10(info.smallest) : 0;
}

Json to_json(const MatrixInfo& info)
{
    Json json;
    json["matrix"] = {{"rows", info.rows},
                      {"cols", info.cols},
                      {"nnz", info.nnz},
                      {"stored_zeros", info.stored_zeros},
                      {"complex", info.complex},
                      {"symmetric", info.symmetric},
                      {"hermitian", info.hermitian},
                      {"skew_symmetric", info.skew_symmetric},
                      {"pattern_symmetric", info.pattern_symmetric}};
    json["row_lengths"] = {{"min", info.lengths.shortest},
                           {"mean", info.lengths.mean},
                           {"max", info.lengths.longest},
                           {"empty", info.lengths.empty}};
    json["bandwidth"] = {{"lower", info.lower_bandwidth}, {"upper", info.upper_bandwidth}};
    json["values"] = {{"smallest", info.smallest}, {"largest", info.largest}, {"decades", decades(info)}};
    if (info.complex) json["values"]["imaginary"] = info.imaginary;
    add_square(info, json);
    for (const auto& [what, bytes] : estimates(info)) json["memory_bytes"][std::string(what)] = bytes;
    return json;
}

}  // namespace ilux
