#pragma once
// Fields of fixed width as Fortran's formats lay them out, (5E16.8) and the like; for base/io alone.

#include <string_view>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::detail {

/// Where numbers stand in a line.
struct FortranField {
    std::size_t begin = 0, width = 0;
    int         decimals = 0;   ///< digits behind the point
    int         scale = 0;      ///< of 1P and the like: what is written without an exponent is 10^scale times as large
    bool        whole = false;  ///< of format I
};

/// The fields of one line. Repeated groups, nX and nP are understood; of numbers I, E, D, F, G, ES and EN.
/// @throws BadLine "expected a format as (5E16.8), found …"
std::vector<FortranField> parse_fortran_format(std::string_view text);

/// A number as Fortran writes it: 1.5E+03, 1.5D3, 1.5+103, .5, 12. @param text  without blanks at both ends
/// @throws BadLine where it is none, not finite, or without the point that its format has
double parse_fortran_number(std::string_view text, const FortranField& field);

}  // namespace ilux::detail
