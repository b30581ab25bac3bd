// Any bytes as a config file: refused as InvalidOption or InvalidInput, or the options written as JSON read back to
// themselves.

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ilux/apps/options_json.hpp"

using namespace ilux::app;

namespace {

void expect(bool holds)
{
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    SolveOptions options;
    try {
        read_config(options, {reinterpret_cast<const char*>(data), size}, "config");
    } catch (const ilux::InvalidOption&) {
        expect(to_json(options) == to_json(SolveOptions{}));
        return 0;
    } catch (const ilux::InvalidInput&) {
        expect(to_json(options) == to_json(SolveOptions{}));
        return 0;
    }
    ilux::validate(options);
    SolveOptions read;
    read_config(read, to_json(options).dump(), "config");
    expect(to_json(read) == to_json(options));
    return 0;
}
