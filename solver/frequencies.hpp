#pragma once
// Which frequencies a sweep goes through, from text.

#include <span>
#include <string_view>
#include <vector>

namespace ilux {

/// More than these are refused: who asks for them has mistaken COUNT.
inline constexpr double most_frequencies = 1e7;

/// Frequencies in Hz, in the order in which they are to be solved.
///
/// | text                   | frequencies                                                                             |
/// |------------------------|-----------------------------------------------------------------------------------------|
/// | `FIRST:LAST:log:COUNT` | COUNT of one ratio to the next, FIRST and LAST included | | `FIRST:LAST:lin:COUNT` |
/// COUNT of one distance, FIRST and LAST included                                          | | `FIRST:LAST:dec:COUNT` |
/// COUNT to a decade, as SPICE has them: FIRST·10^(k/COUNT) up to LAST, which is the last where it is one of these | |
/// `F,F,…`                | as they stand, in any order                                                             |
///
/// 0 < FIRST for log and dec, 0 ≤ FIRST for lin; FIRST < LAST, or FIRST = LAST and one frequency.
/// @throws InvalidOption for anything else: what was given, and what is expected
std::vector<double> parse_frequencies(std::string_view text);

/// @throws InvalidInput where there are none, and for one that is negative, infinite or NaN
void require_frequencies(std::span<const double> frequencies);

}  // namespace ilux
