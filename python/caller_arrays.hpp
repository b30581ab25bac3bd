#pragma once
// Arrays and texts of Python, as the C interface takes them.

#include <ilux.h>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

namespace nb = nanobind;

namespace ilux::python {

using Array = nb::ndarray<>;
using ReadOnly = nb::ndarray<nb::ro>;

/// A status that is no success of the call; the package makes exceptions of them.
struct Failed {
    int         status;
    std::string message;
};

inline bool on_device(const ReadOnly& array) { return array.device_type() == nb::device::cuda::value; }

/// Its values lie one after another, by rows or by columns.
inline bool is_packed(const ReadOnly& array)
{
    std::int64_t by_rows = 1, by_columns = 1;
    bool         rows = true, columns = true;
    for (std::size_t d = 0; d < array.ndim(); ++d) {
        const std::size_t last = array.ndim() - 1 - d;
        columns = columns && (array.shape(d) <= 1 || array.stride(d) == by_columns);
        rows = rows && (array.shape(last) <= 1 || array.stride(last) == by_rows);
        by_columns *= static_cast<std::int64_t>(array.shape(d));
        by_rows *= static_cast<std::int64_t>(array.shape(last));
    }
    return array.size() == 0 || rows || columns;
}

/// The last line of defence against a read or write beyond an array.
inline void require_array(const ReadOnly& array, std::int64_t count, nb::dlpack::dtype type, const char* name)
{
    if (static_cast<std::int64_t>(array.size()) < count)
        throw Failed{ILUX_BAD_INPUT, std::string(name) + " has " + std::to_string(array.size()) + " entries, not " +
                                         std::to_string(count)};
    if (array.dtype() != type)
        throw Failed{ILUX_BAD_INPUT, std::string(name) + " is of another type than it has to be"};
    if (!is_packed(array)) throw Failed{ILUX_BAD_INPUT, std::string(name) + " does not lie in one piece: pass a copy"};
}

/// The text for a callee who would take a zero byte for its end.
inline const char* for_c(const std::string& text)
{
    if (text.find('\0') != std::string::npos) throw Failed{ILUX_BAD_INPUT, "a text has a zero byte in it"};
    return text.c_str();
}

/// A NumPy array with a copy of what lies there.
inline nb::object copied(const void* data, std::int64_t count, nb::dlpack::dtype type)
{
    const std::size_t shape[1] = {static_cast<std::size_t>(count)};
    return nb::ndarray<nb::numpy>(const_cast<void*>(data), 1, shape, nb::handle(), nullptr, type)
        .cast(nb::rv_policy::copy);
}

}  // namespace ilux::python
