// Any text as -p PATH=VALUE: it is refused as InvalidOption that names the path, or the option set prints and reads
// back to itself, as text and as JSON.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ilux/apps/input/options_json.hpp"
#include "ilux/fuzz/expect.hpp"

using namespace ilux::app;
using ilux::fuzz::expect;

namespace {

void expect_same(const SolveOptions& a, const SolveOptions& b)
{
    const auto left = describe(a), right = describe(b);
    for (std::size_t k = 0; k < left.size(); ++k) expect(left[k].value == right[k].value);
}

bool is_utf8(const std::string& text)
{
    try {
        (void)nlohmann::ordered_json(text).dump();
    } catch (const nlohmann::ordered_json::type_error&) {
        return false;
    }
    return true;
}

/// Remarks on options without effect name an option that was set, and come once each.
void expect_remarks(const SolveOptions& options)
{
    const auto changed = changed_options(options, {});
    for (const bool series : {false, true})
        for (const bool direct : {false, true}) {
            const auto remarks = options_without_effect(options, {.direct = direct, .iterative = !direct}, series);
            expect(remarks.size() <= changed.size());
            for (const std::string& remark : remarks) expect(remark.starts_with(changed.front()));
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    SolveOptions           options;
    try {
        assign(options, text);
    } catch (const ilux::InvalidOption& refused) {
        expect_same(options, {});
        const std::string path(text.substr(0, text.find('=')));  // what() ends at a NUL in it
        expect(std::string_view(refused.what()).find(path.c_str()) != std::string_view::npos);
        return 0;
    }
    ilux::validate(options);
    SolveOptions by_text, by_json, by_change;
    for (const FieldHelp& field : describe(options)) ilux::set_field(by_text, field.path, field.value);
    if (is_utf8(options.rhs) && is_utf8(options.near_null))
        read_config(by_json, to_json(options).dump(), "config");  // JSON holds nothing else
    else by_json = options;
    const auto changed = changed_options(options, {});
    expect(changed.size() <= 1);
    for (const std::string& change : changed) assign(by_change, change);
    for (const SolveOptions& read : {by_text, by_json, by_change}) expect_same(options, read);
    expect_remarks(options);
    return 0;
}
