#pragma once
// Values of enumerations as words: in options, JSON and reports.

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace ilux {

/// An enumeration with words gives them by `constexpr auto names(Ordering) { return words("amd", "none"); }`, in the
/// order of its values, which count from 0. Found by argument-dependent look-up.
template <class... Word>
constexpr std::array<std::string_view, sizeof...(Word)> words(Word... word)
{
    return {word...};
}
// clang-format off
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
    { names(e) } -> std::convertible_to<std::span<const std::string_view>>;
};
// clang-format on

/// The word of a value.
template <NamedEnum E>
std::string_view name(E value)
{
    return names(value)[static_cast<std::size_t>(value)];
}

}  // namespace ilux
