// Any bytes as a config file: refused as InvalidInput where they are no JSON object, as InvalidOption that names the
// first key which -p would refuse, too; or the options are those that -p sets, one leaf after another, and written as
// JSON, or as the texts of those that were changed, they read back to themselves.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/input/options_json.hpp"
#include "ilux/fuzz/expect.hpp"

using namespace ilux::app;
using ilux::fuzz::expect;

namespace {

using Json = nlohmann::ordered_json;

void expect_same(const SolveOptions& a, const SolveOptions& b)
{
    expect(to_json(a) == to_json(b), "the same options as JSON");
    const auto left = describe(a), right = describe(b);
    for (std::size_t k = 0; k < left.size(); ++k) expect(left[k].value == right[k].value, "the same options as text");
}

/// Leaf by leaf, by the text of -p.
struct ByText {
    SolveOptions options;
    std::string  refused;  ///< path of the first key that is, or ""

    void read(const Json& tree, const std::string& prefix)
    {
        for (const auto& [key, child] : tree.items()) {
            if (!refused.empty()) return;
            const std::string path = prefix + key;
            if (is_group(path) && key.find('.') == std::string::npos && child.is_object()) read(child, path + ".");
            else if (key.find('.') != std::string::npos || !set(path, child)) refused = "." + path;
        }
    }

private:
    static bool is_group(const std::string& path)
    {
        return path == "krylov" || path == "precond" || path == "lu" || path == "sptrsv" || path == "sequence";
    }

    bool set(const std::string& path, const Json& leaf)
    {
        if (leaf.is_structured() || leaf.is_null() || path.find('=') != std::string::npos) return false;
        const std::string text = leaf.is_string()         ? leaf.get<std::string>()
                                 : leaf.is_number_float() ? ilux::field_text(leaf.get<double>())
                                                          : leaf.dump();
        try {
            assign(options, path + "=" + text);
        } catch (const ilux::InvalidOption&) {
            return false;
        }
        return true;
    }
};

void expect_refusal(std::string_view text, const std::string& message)
{
    if (message.find("stands twice in one object") != std::string::npos) return;
    const Json tree = Json::parse(text, nullptr, false);
    expect(tree.is_object(), "InvalidOption is said of an object");
    ByText slow;
    slow.read(tree, "");
    expect(!slow.refused.empty(), "what -p takes is taken");
    expect(message.find(slow.refused.c_str() + 1) != std::string::npos,
           "the key is named");  // what() ends at a NUL in it
}

void expect_reading(std::string_view text, const SolveOptions& options)
{
    ByText slow;
    slow.read(Json::parse(text), "");
    expect(slow.refused.empty(), "what -p refuses is refused");
    expect_same(options, slow.options);
    ilux::validate(options);
    SolveOptions read, changed;
    read_config(read, to_json(options).dump(), "config");
    expect_same(options, read);
    for (const std::string& change : changed_options(options, {})) assign(changed, change);
    expect_same(options, changed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    SolveOptions           options;
    try {
        read_config(options, text, "config");
    } catch (const ilux::InvalidOption& refused) {
        expect_same(options, {});
        expect_refusal(text, refused.what());
        return 0;
    } catch (const ilux::InvalidInput& refused) {
        expect_same(options, {});
        expect(!Json::parse(text, nullptr, false).is_object() &&
                   std::string_view(refused.what()).starts_with("config:"),
               "only what is no JSON object is InvalidInput");
        return 0;
    }
    expect_reading(text, options);
    return 0;
}
