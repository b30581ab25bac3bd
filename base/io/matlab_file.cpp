// MATLAB's files of level 5 and 7.3, by the library matio, which opens files by name only, and HDF5 under it by a true one: it is
// given a copy of its own, which nobody changes meanwhile.

#include <fmt/core.h>
#include <hdf5.h>
#include <matio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>

#include "ilux/base/error.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace {

struct FreeVariable {
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

/// The bytes as a file that goes with this object.
class CopiedFile {
public:
    CopiedFile(std::string_view bytes, std::string_view name)
        : path_((std::filesystem::temp_directory_path() / "ilux_matlab_XXXXXX").string())
    {
        const int file = mkstemp(path_.data());
        while (file >= 0 && !bytes.empty()) {
            const ssize_t count = write(file, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) break;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        const int why = errno;
        if (file >= 0) close(file);
        if (file >= 0 && bytes.empty()) return;
        if (file >= 0) unlink(path_.c_str());
        throw InvalidInput(
            fmt::format("{}: matio needs a copy of it, and {} cannot be written: {}", name, path_, std::strerror(why)));
    }
    ~CopiedFile() { unlink(path_.c_str()); }
    CopiedFile(const CopiedFile&) = delete;
    CopiedFile&        operator=(const CopiedFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// HDF5 prints what goes wrong, unless it is told not to.
class QuietHdf5 {
public:
    QuietHdf5()
    {
        H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    H5E_auto2_t print_ = nullptr;
    void*       data_ = nullptr;
};

class MatlabFile {
public:
    MatlabFile(const CopiedFile& file, std::string_view name)
        : name_(name), file_(Mat_Open(file.path().c_str(), MAT_ACC_RDONLY), Mat_Close)
    {
        require(file_ != nullptr, [&] { return fmt::format("{}: matio cannot open this MATLAB file", name_); });
    }
    /// All variables without their values.
    std::vector<Variable> list() const
    {
        std::vector<Variable> all;
        Mat_Rewind(file_.get());
        while (Variable one{Mat_VarReadNextInfo(file_.get())}) all.push_back(std::move(one));
        return all;
    }
    Variable read(const std::string& variable) const
    {
        Variable one(Mat_VarRead(file_.get(), variable.c_str()));
        require(one != nullptr, [&] {
            return fmt::format("{}: the variable {} cannot be read: is the file truncated?", name_, variable);
        });
        return one;
    }

private:
    std::string_view                        name_;
    std::unique_ptr<mat_t, int (*)(mat_t*)> file_;
};

/// matio fills what is missing of a file with whatever was in memory, so the lengths of the variables are held against the file's.
void require_whole(std::string_view bytes, std::string_view name)
{
    constexpr std::size_t      head = 128;
    constexpr std::string_view hdf5("MATLAB 7.3");
    if (bytes.starts_with(hdf5)) return;
    const std::endian order = bytes.size() > head && bytes[126] == 'M' ? std::endian::big : std::endian::little;
    std::size_t       at = head;
    while (at < bytes.size() && bytes.size() - at >= 8)
        at += 8 + std::size_t{load<std::uint32_t>(bytes.data() + at + 4, order)};
    require(at == bytes.size() && bytes.size() > head, [&] {
        return fmt::format("{}: the variables of this MATLAB file end at byte {}, the file at {}: is it truncated?",
                           name, at, bytes.size());
    });
}

bool is_sparse(const matvar_t& one) { return one.class_type == MAT_C_SPARSE && one.rank == 2; }
bool is_dense(const matvar_t& one)
{
    return one.rank == 2 && one.class_type >= MAT_C_DOUBLE && one.class_type <= MAT_C_UINT64;
}

/// The variable to read, and its field "" or of a structure.
std::pair<std::string, std::string> choose(const std::vector<Variable>& all, FilePart part, std::string_view name)
{
    const std::string wanted = part == FilePart::matrix ? "A" : "b";
    std::string       names;
    const matvar_t*   only = nullptr;
    int               candidates = 0;
    for (const Variable& one : all) {
        if (one->name == nullptr) continue;
        if (one->name == wanted && (is_sparse(*one) || is_dense(*one))) return {wanted, ""};
        names += (names.empty() ? "" : ", ") + printable(one->name);
    }
    for (const Variable& one : all) {  // of the SuiteSparse Matrix Collection
        if (one->name == std::string_view("Problem") && one->class_type == MAT_C_STRUCT) return {"Problem", wanted};
        if (one->name == nullptr || !(part == FilePart::matrix ? is_sparse(*one) : is_dense(*one))) continue;
        only = one.get();
        ++candidates;
    }
    if (candidates == 0 && part == FilePart::matrix && all.size() == 1 && is_dense(*all[0])) return {all[0]->name, ""};
    require(candidates == 1, [&] {
        return fmt::format("{}: a MATLAB file of {}; expected a variable {}, or {} alone", name,
                           names.empty() ? "nothing" : names, wanted,
                           part == FilePart::matrix ? "one sparse matrix" : "one dense array");
    });
    return {only->name, ""};
}

template <class E, class Out>
void widen_all(const void* data, Out&& out, std::size_t count)
{
    for (std::size_t p = 0; p < count; ++p) out(p, static_cast<double>(static_cast<const E*>(data)[p]));
}

/// out(p, value) for each of `count` numbers. @throws InvalidInput for a type that is none
template <class Out>
void each_number(matio_types type, const void* data, std::size_t count, std::string_view name, Out&& out)
{
    switch (type) {
        case MAT_T_DOUBLE:
            return widen_all<double>(data, out, count);
        case MAT_T_SINGLE:
            return widen_all<float>(data, out, count);
        case MAT_T_INT8:
            return widen_all<std::int8_t>(data, out, count);
        case MAT_T_UINT8:
            return widen_all<std::uint8_t>(data, out, count);
        case MAT_T_INT16:
            return widen_all<std::int16_t>(data, out, count);
        case MAT_T_UINT16:
            return widen_all<std::uint16_t>(data, out, count);
        case MAT_T_INT32:
            return widen_all<std::int32_t>(data, out, count);
        case MAT_T_UINT32:
            return widen_all<std::uint32_t>(data, out, count);
        case MAT_T_INT64:
            return widen_all<std::int64_t>(data, out, count);
        case MAT_T_UINT64:
            return widen_all<std::uint64_t>(data, out, count);
        default:
            throw InvalidInput(fmt::format("{}: values that are no numbers", name));
    }
}

template <Scalar T>
std::vector<T> matlab_values(const matvar_t& one, const void* data, std::size_t count, std::string_view name)
{
    std::vector<T> all(count);
    require(data != nullptr || count == 0,
            [&] { return fmt::format("{}: the values are missing: is the file truncated?", name); });
    if (count == 0) return all;
    if constexpr (is_complex<T>) {
        const auto& parts = *static_cast<const mat_complex_split_t*>(data);
        require(parts.Re != nullptr && parts.Im != nullptr,
                [&] { return fmt::format("{}: the values are missing: is the file truncated?", name); });
        each_number(one.data_type, parts.Re, count, name, [&](std::size_t p, double value) { all[p].real(value); });
        each_number(one.data_type, parts.Im, count, name, [&](std::size_t p, double value) { all[p].imag(value); });
    } else each_number(one.data_type, data, count, name, [&](std::size_t p, double value) { all[p] = value; });
    return all;
}

template <Scalar T>
AnyMatrix matlab_matrix(const matvar_t& one, MatrixMarketHeader header, std::size_t bytes, std::string_view name,
                        const ReadOptions& options)
{
    const auto rows = static_cast<Offset>(one.dims[0]), cols = static_cast<Offset>(one.dims[1]);
    header.array = !is_sparse(one);
    if (header.array) {
        const std::size_t each = Mat_SizeOf(one.data_type), have = one.nbytes / std::max<std::size_t>(each, 1);
        require(each > 0 && (cols == 0 || rows <= static_cast<Offset>(have) / cols),
                [&] { return fmt::format("{}: {} x {} values are not there", name, rows, cols); });
        accept_sizes(header, rows, cols, rows * cols, bytes, name, options);
        return from_dense<T>(header, name, false, matlab_values<T>(one, one.data, rows * cols, name));
    }
    const auto* sparse = static_cast<const mat_sparse_t*>(one.data);
    require(sparse != nullptr && (sparse->jc != nullptr || cols == 0) && (sparse->ir != nullptr || sparse->nir == 0),
            [&] { return fmt::format("{}: the sparse matrix is incomplete: is the file truncated?", name); });
    std::vector<Offset> col_ptr(sparse->jc, sparse->jc + sparse->njc);
    require(!col_ptr.empty() && col_ptr.back() <= sparse->nir && col_ptr.back() <= sparse->ndata, [&] {
        return fmt::format("{}: {} pointers, {} indices and {} values do not belong together", name, sparse->njc,
                           sparse->nir, sparse->ndata);
    });
    const auto entries = static_cast<std::size_t>(col_ptr.back());
    accept_sizes(header, rows, cols, col_ptr.back(), bytes, name, options);
    std::vector<Index> row(entries);
    for (std::size_t p = 0; p < entries; ++p)  // −1 is refused by its place
        row[p] = sparse->ir[p] <= static_cast<std::uint32_t>(std::numeric_limits<Index>::max())
                     ? static_cast<Index>(sparse->ir[p])
                     : -1;
    return from_columns(header, name, options, col_ptr, row, matlab_values<T>(one, sparse->data, entries, name));
}

}  // namespace

bool reads_matlab() { return true; }

AnyMatrix parse_matlab(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    require_whole(bytes, name);
    static std::mutex     one_at_a_time;  // HDF5 need not be built for threads, and its error handler is one for all
    const std::lock_guard lock(one_at_a_time);
    const QuietHdf5       quiet;
    const CopiedFile      copy(bytes, name);
    const MatlabFile      file(copy, name);
    const auto [variable, field] = choose(file.list(), options.part, name);
    const Variable  whole = file.read(variable);
    const matvar_t* one = whole.get();
    if (!field.empty()) one = Mat_VarGetStructFieldByName(whole.get(), field.c_str(), 0);
    const std::string label = fmt::format("{}: {}{}{}", name, printable(variable), field.empty() ? "" : ".", field);
    require(one != nullptr && (is_sparse(*one) || is_dense(*one)) && one->dims != nullptr,
            [&] { return fmt::format("{}: no matrix of numbers", label); });
    const MatrixMarketHeader header{.complex = one->isComplex != 0};
    return header.complex ? matlab_matrix<std::complex<double>>(*one, header, bytes.size(), label, options)
                          : matlab_matrix<double>(*one, header, bytes.size(), label, options);
}

}  // namespace ilux::detail
