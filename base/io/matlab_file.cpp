// Which variable of a MATLAB file is wanted, and the matrix of it.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/matlab.hpp"
#include "ilux/base/io/printable.hpp"

namespace ilux::detail {
namespace {

using Kind = MatlabVariable::Kind;

constexpr std::string_view mark_5 = "MATLAB 5.0 MAT-file", mark_7_3 = "MATLAB 7.3 MAT-file";

std::string names_of(const std::vector<MatlabVariable>& all)
{
    std::string names;
    for (const MatlabVariable& one : all)
        if (!one.name.empty()) names += (names.empty() ? "" : ", ") + printable(one.name);
    return names.empty() ? "nothing" : names;
}

const MatlabVariable* named(const std::vector<MatlabVariable>& all, std::string_view name)
{
    for (const MatlabVariable& one : all)
        if (one.name == name) return &one;
    return nullptr;
}

bool has_numbers(const MatlabVariable* one)
{
    return one != nullptr && (one->kind == Kind::dense || one->kind == Kind::sparse);
}

/// The only variable of a kind; nullptr where there are none or several. MATLAB keeps data of its own in one without a
/// name.
const MatlabVariable* only(const std::vector<MatlabVariable>& all, Kind kind)
{
    const MatlabVariable* found = nullptr;
    for (const MatlabVariable& one : all)
        if (one.kind == kind && !one.name.empty()) {
            if (found != nullptr) return nullptr;
            found = &one;
        }
    return found;
}

/// The variable to read. @param label  in: of the file; out: of the variable
MatlabVariable chosen(const std::vector<MatlabVariable>& all, FilePart part, std::string& label)
{
    const bool        matrix = part == FilePart::matrix;
    const std::string wanted = matrix ? "A" : "b";
    if (const auto* one = named(all, wanted); has_numbers(one)) return label += ": " + wanted, *one;
    if (const auto* problem = named(all, "Problem"); problem != nullptr && problem->kind == Kind::structure) {
        label += ": Problem." + wanted;  // as files of the SuiteSparse Matrix Collection have it
        const auto  fields = problem->fields();
        const auto* one = named(fields, wanted);
        require(has_numbers(one), [&] { return fmt::format("{}: no matrix of numbers", label); });
        return *one;
    }
    const auto* one = only(all, matrix ? Kind::sparse : Kind::dense);
    if (one == nullptr && matrix && all.size() == 1) one = only(all, Kind::dense);
    require(one != nullptr, [&] {
        return fmt::format("{}: a MATLAB file of {}; expected a variable {}, or {} alone", label, names_of(all), wanted,
                           matrix ? "one sparse matrix" : "one dense array");
    });
    label += ": " + printable(one->name);
    return *one;
}

template <Scalar T>
std::vector<T> merged(MatlabNumbers& numbers)
{
    if constexpr (is_complex<T>) {
        std::vector<T> all(numbers.real.size());
        for (std::size_t p = 0; p < all.size(); ++p) all[p] = {numbers.real[p], numbers.imag[p]};
        return all;
    } else return std::move(numbers.real);
}

template <Scalar T>
AnyMatrix matrix_of(const MatlabVariable& one, const MatrixMarketHeader& header, std::string_view name,
                    const ReadOptions& options)
{
    MatlabNumbers        numbers = one.numbers();
    const std::vector<T> values = merged<T>(numbers);
    if (header.array) return from_dense<T>(header, name, false, values);
    return from_list<T>(header, name, options, numbers.row, numbers.col, values);
}

}  // namespace

std::vector<Index> matlab_indices(const std::vector<double>& values, double first)
{
    std::vector<Index> all;
    all.reserve(values.size());
    for (const double value : values) {
        const double index = value - first;
        const bool   fits = index >= 0 && index <= std::numeric_limits<Index>::max() && index == std::floor(index);
        all.push_back(fits ? static_cast<Index>(index) : -1);
    }
    return all;
}

std::vector<Index> matlab_columns(const std::vector<double>& ptr, std::size_t there, std::string_view name)
{
    const auto descends = [](double a, double b) { return !(a <= b); };
    require(!ptr.empty() && ptr.front() == 0 && std::ranges::adjacent_find(ptr, descends) == ptr.end() &&
                ptr.back() <= static_cast<double>(there),
            [&] { return fmt::format("{}: the columns do not ascend from entry 0 to {}", name, there); });
    std::vector<Index> col;
    col.reserve(static_cast<std::size_t>(ptr.back()));
    for (std::size_t j = 1; j < ptr.size(); ++j)
        col.resize(static_cast<std::size_t>(ptr[j]), static_cast<Index>(j - 1));
    return col;
}

void throw_without_hdf5(std::string_view name, std::string_view why)
{
    throw InvalidInput(fmt::format("{}: a MATLAB file of version 7.3: {}. In MATLAB save it without -v7.3", name, why));
}

bool is_matlab(std::string_view bytes)
{
    return bytes.starts_with(mark_5) || bytes.starts_with(mark_7_3) || is_matlab_4(bytes);
}

AnyMatrix parse_matlab(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    const auto           all = bytes.starts_with(mark_5)     ? matlab_5_variables(bytes, name, options.stop)
                               : bytes.starts_with(mark_7_3) ? matlab_7_3_variables(bytes, name)
                                                             : matlab_4_variables(bytes, name);
    std::string          label(name);
    const MatlabVariable one = chosen(all, options.part, label);
    MatrixMarketHeader   header{.array = one.kind == Kind::dense, .complex = one.complex};
    accept_sizes(header, one.rows, one.cols, one.entries, bytes.size(), label, options);
    return one.complex ? matrix_of<std::complex<double>>(one, header, label, options)
                       : matrix_of<double>(one, header, label, options);
}

}  // namespace ilux::detail
