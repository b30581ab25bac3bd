#include "ilux/solver/json/fields_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace ilux::detail {
namespace {

using Json = nlohmann::ordered_json;

/// A JSON leaf as the text that parse_field reads.
std::string text_of(const std::string& path, const Json& leaf)
{
    switch (leaf.type()) {
        case Json::value_t::string:
            return leaf.get<std::string>();
        case Json::value_t::boolean:
            return field_text(leaf.get<bool>());
        case Json::value_t::number_integer:
        case Json::value_t::number_unsigned:
            return leaf.dump();
        case Json::value_t::number_float:
            return field_text(leaf.get<double>());
        default:
            throw InvalidOption(fmt::format("{}: expected a value, not {}", path, leaf.type_name()));
    }
}

/// The names of the tree that stand for groups: every proper prefix of a leaf's path.
bool is_group(const std::string& path, const std::vector<std::string>& leaves)
{
    return std::ranges::any_of(leaves, [&](const std::string& leaf) { return leaf.starts_with(path + "."); });
}

void walk(const Json& tree, const std::string& prefix, const std::vector<std::string>& leaves, const SetField& set)
{
    for (const auto& [key, child] : tree.items()) {
        const std::string path = prefix.empty() ? key : prefix + "." + key;
        if (key.find('.') != std::string::npos) throw_unknown_field(path, leaves);
        if (!is_group(path, leaves)) set(path, std::ranges::count(leaves, path) ? text_of(path, child) : "");
        else if (child.is_object()) walk(child, path, leaves, set);
        else throw InvalidOption(fmt::format("{}: expected an object of options, not {}", path, child.type_name()));
    }
}

/// "line 3, column 17" of the byte at which the parser stopped.
std::string place(std::string_view text, std::size_t byte)
{
    const auto before = text.substr(0, byte > 0 ? std::min(byte - 1, text.size()) : 0);
    const auto newline = before.rfind('\n');
    const auto column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'), column);
}

/// Refuses a key that stands twice in one object, which the parser would let the later one win.
class DuplicateKeys {
public:
    bool operator()(int, Json::parse_event_t event, const Json& parsed)
    {
        if (event == Json::parse_event_t::object_start) open_.emplace_back();
        if (event == Json::parse_event_t::object_end) open_.pop_back();
        if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second)
            throw InvalidOption(fmt::format("the key '{}' stands twice in one object", parsed.get<std::string>()));
        return true;
    }

private:
    std::vector<std::set<std::string>> open_;
};

Json parsed(std::string_view text, std::string_view file)
{
    try {
        return Json::parse(text, DuplicateKeys());
    } catch (const Json::parse_error& error) {
        throw InvalidInput(fmt::format("{}: not JSON at {}", file, place(text, error.byte)));
    } catch (const Json::exception&) {
        throw InvalidInput(fmt::format("{}: a number does not fit", file));
    }
}

}  // namespace

Json::json_pointer field_pointer(const std::string& path)
{
    std::string text = "/" + path;
    for (char& c : text)
        if (c == '.') c = '/';
    return Json::json_pointer(text);
}

void read_leaves(std::string_view text, std::string_view file, const std::vector<std::string>& leaves,
                 const SetField& set)
{
    try {
        const Json tree = parsed(text, file);
        require(tree.is_object(),
                [&] { return fmt::format("{}: expected a JSON object of options, not {}", file, tree.type_name()); });
        walk(tree, "", leaves, set);
    } catch (const InvalidOption& error) {
        throw InvalidOption(fmt::format("{}: {}", file, error.what()));
    }
}

}  // namespace ilux::detail
