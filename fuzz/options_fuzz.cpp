// Any text as -p PATH=VALUE: it is refused as InvalidOption, or the option set prints and reads back to itself.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ilux/apps/options.hpp"

using namespace ilux::app;

namespace {

void expect(bool holds)
{
    if (!holds) std::abort();
}

void expect_same(const SolveOptions& a, const SolveOptions& b)
{
    const auto left = describe(a), right = describe(b);
    for (std::size_t k = 0; k < left.size(); ++k) expect(left[k].value == right[k].value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    SolveOptions options;
    try {
        assign(options, {reinterpret_cast<const char*>(data), size});
    } catch (const ilux::InvalidOption&) {
        expect_same(options, {});
        return 0;
    }
    ilux::validate(options);
    SolveOptions read;
    for (const FieldHelp& field : describe(options)) ilux::set_field(read, field.path, field.value);
    expect_same(options, read);
    return 0;
}
