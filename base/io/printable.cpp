#include "ilux/base/io/printable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace ilux {
namespace {

unsigned char byte(std::string_view text, std::size_t p) { return static_cast<unsigned char>(text[p]); }

/// Tells whether the character of `size` bytes at p is a control character.
bool is_control(std::string_view text, std::size_t p, std::size_t size)
{
    const unsigned char first = byte(text, p);
    if (size == 1) return first < 0x20 || first == 0x7f;
    return size == 2 && first == 0xc2 && byte(text, p + 1) < 0xa0;  // U+0080 to U+009F
}

}  // namespace

std::size_t utf8_size(std::string_view text, std::size_t p)
{
    const unsigned    first = byte(text, p);
    const std::size_t size = first < 0x80         ? 1
                             : first >> 5 == 0x6  ? 2
                             : first >> 4 == 0xe  ? 3
                             : first >> 3 == 0x1e ? 4
                                                  : 0;
    if (size <= 1 || p + size > text.size()) return size == 1;
    constexpr std::array<unsigned, 5> least{0, 0, 0x80, 0x800, 0x10000};
    unsigned                          code = first & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) {
        if (byte(text, p + k) >> 6 != 2) return 0;
        code = code << 6 | (byte(text, p + k) & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[size] || code > 0x10ffff || surrogate || code == 0xfffe || code == 0xffff ? 0 : size;
}

std::string printable(std::string_view text)
{
    std::string safe;
    for (std::size_t p = 0; p < text.size();) {
        const std::size_t size = utf8_size(text, p), taken = std::max<std::size_t>(size, 1);
        if (size > 0 && !is_control(text, p, size)) safe += text.substr(p, size);
        else
            for (std::size_t k = p; k < p + taken; ++k) safe += fmt::format("\\x{:02x}", byte(text, k));
        p += taken;
    }
    return safe;
}

}  // namespace ilux
