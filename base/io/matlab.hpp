#pragma once
// What the readers of MATLAB's levels hand to parse_matlab(); for base/io alone.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/stop_token.hpp"
#include "ilux/base/types.hpp"

namespace ilux::detail {

/// The values of a variable. Entry p of a sparse one is at (row[p], col[p]); those of a dense one follow one another by
/// columns.
struct MatlabNumbers {
    std::vector<Index>  row = {}, col = {};    ///< of a sparse variable; −1 where the file's index is no Index
    std::vector<double> real = {}, imag = {};  ///< imag is empty unless the variable is complex
};

/// A variable of a file, or a field of a structure. What is asked of it lasts as long as the bytes that it was read
/// from.
struct MatlabVariable {
    enum class Kind { other, dense, sparse, structure };

    std::string name = "";
    Kind        kind = Kind::other;
    bool        complex = false;
    Offset      rows = 0, cols = 0;
    Offset      entries = 0;  ///< of a sparse one at most so many
    /// The numbers of a dense or a sparse variable. @throws InvalidInput "NAME: …" where they are damaged
    std::function<MatlabNumbers()> numbers = {};
    /// The field of a structure's first element. @throws as numbers
    std::function<std::vector<MatlabVariable>()> fields = {};
};

/// Whether the bytes begin with the head of a variable of level 4: such files have no mark of their own.
bool is_matlab_4(std::string_view bytes);

/// The variables of a file. @param name  of the file, for messages  @throws InvalidInput "NAME: …"
std::vector<MatlabVariable> matlab_4_variables(std::string_view bytes, std::string_view name);
/// Each packed variable is unpacked once, so that its checksum is known to be right, and again where it is asked for
/// its values.
std::vector<MatlabVariable> matlab_5_variables(std::string_view bytes, std::string_view name, const StopToken& stop);
/// By the library HDF5, which is loaded for the first of such files. @throws InvalidInput also where it is missing
std::vector<MatlabVariable> matlab_7_3_variables(std::string_view bytes, std::string_view name);

/// @throws InvalidInput "NAME: a MATLAB file of version 7.3: WHY", with what to do about it
[[noreturn]] void throw_without_hdf5(std::string_view name, std::string_view why);

/// Whole numbers of a file, counted from 0 where `first` is 0.
std::vector<Index> matlab_indices(const std::vector<double>& values, double first);
/// The column of each entry. @param ptr  where each column begins, and the end  @param there  entries in the file
/// @throws InvalidInput unless they ascend from 0 to `there` at most
std::vector<Index> matlab_columns(const std::vector<double>& ptr, std::size_t there, std::string_view name);

}  // namespace ilux::detail
