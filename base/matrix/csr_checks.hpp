#pragma once
// What csr.cpp and csr_view.cpp refuse, and how they say it. Of base/ alone.

#include <fmt/core.h>

#include <string>

#include "ilux/base/error.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux::detail {

/// The value as a message shows it: 2, or 2-3i.
template <class T>
std::string shown(T value)
{
    if constexpr (is_complex<T>) return fmt::format("{}{:+}i", value.real(), value.imag());
    else return fmt::format("{}", value);
}

inline void require_size(Index rows, Index cols)
{
    require(rows >= 0 && cols >= 0, [&] { return fmt::format("a matrix cannot be {} x {}", rows, cols); });
}

template <class T>
[[noreturn, gnu::cold, gnu::noinline]] void throw_bad_entry(Index rows, Index cols, Index i, Index j, T value, Offset p)
{
    if (i >= 0 && i < rows && j >= 0 && j < cols)
        throw InvalidInput(fmt::format("entry {} at row {}, column {} (counted from 0) is {}, not a finite number", p,
                                       i, j, shown(value)));
    throw InvalidInput(fmt::format("entry {} is at row {}, column {} (counted from 0), outside a {} x {} matrix", p, i,
                                   j, rows, cols));
}

/// Once an entry: without the messages it is inlined.
template <class T>
inline void require_entry(Index rows, Index cols, Index i, Index j, T value, Offset p)
{
    if (i < 0 || i >= rows || j < 0 || j >= cols || !is_finite(value)) throw_bad_entry(rows, cols, i, j, value, p);
}

}  // namespace ilux::detail
