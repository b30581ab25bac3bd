#pragma once
// Numbers as people write them.

namespace ilux::detail {

/// The number that begins at `first`: where it ends, or nullptr where there is none. value is the nearest double, which
/// is 0 or infinite for what is too small or too large.
const char* parse_decimal(const char* first, const char* end, double& value);

}  // namespace ilux::detail
