#pragma once
// Text from outside, made safe for a terminal: a file name may hold anything but '/' and NUL.

#include <string>
#include <string_view>

namespace ilux {

/// Bytes of the UTF-8 character that begins at p; 0 where there is none, or one that is no character (U+FFFE, U+FFFF).
std::size_t utf8_size(std::string_view text, std::size_t p);

/// The text with every control character (C0 with the line end, DEL, C1) and every byte that is no UTF-8 as a
/// backslash, x and two hexadecimal digits.
std::string printable(std::string_view text);

}  // namespace ilux
