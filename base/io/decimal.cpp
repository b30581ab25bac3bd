#include "ilux/base/io/decimal.hpp"

#include <fast_float/fast_float.h>

#include <system_error>

namespace ilux::detail {

const char* parse_decimal(const char* first, const char* end, double& value)
{
    const auto [stop, error] = fast_float::from_chars(first, end, value);
    // What is out of range has its 0 or infinity in every version, and is an error only in newer ones.
    return error == std::errc{} || error == std::errc::result_out_of_range ? stop : nullptr;
}

}  // namespace ilux::detail
