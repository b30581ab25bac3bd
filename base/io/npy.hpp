#pragma once
// NumPy's .npy files: one array each, in a file of its own or in an archive; for base/io alone.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3.

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/any_matrix.hpp"
#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/io/matrix_market.hpp"

namespace ilux::detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// An array as it lies in the file.
struct NpyArray {
    char                kind = 0;  ///< f, c, i, u, b; S and U for text
    int                 item = 0;  ///< bytes of one element
    std::endian         order = std::endian::little;
    bool                by_columns = false;
    std::vector<Offset> shape;
    std::string_view    data;  ///< all elements, no more

    Offset size() const { return static_cast<Offset>(data.size()) / item; }
};

/// @throws InvalidInput naming what is wrong with the header, or how many bytes there are
NpyArray parse_npy_array(std::string_view bytes, std::string_view name);

std::string         text_of(const NpyArray& array);  ///< of kind S or U
std::vector<Offset> offsets_of(const NpyArray& array, std::string_view name);
/// @throws InvalidInput also for what is no Index
std::vector<Index> indices_of(const NpyArray& array, std::string_view name);
/// Real numbers of any type, or complex ones where T is.
template <Scalar T>
std::vector<T> values_of(const NpyArray& array, std::string_view name);
/// Refuses what values_of() does not read, with the way to convert it. @return whether they are complex
bool has_complex_elements(const NpyArray& array, std::string_view name);

/// An array of one or two dimensions as a matrix.
AnyMatrix parse_npy(std::string_view bytes, std::string_view name, const ReadOptions& options);

}  // namespace ilux::detail

namespace ilux {

/// Writes n×k numbers as a .npy file, of two dimensions unless k is 1. @param X  k columns of n, one after another
template <Scalar T>
void write_npy(const FileTarget& file, Index n, std::span<const T> X);

}  // namespace ilux
