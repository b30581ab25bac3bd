// MATLAB's files of version 7.3, which are files of HDF5: a dataset or a group for each variable, whose attributes say
// what it is. A dataset's dimensions are those of the variable, the last one first.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/io/hdf5_library.hpp"
#include "ilux/base/io/matlab.hpp"

namespace ilux::detail {
namespace {

using Kind = MatlabVariable::Kind;

/// Something of the library's, or nothing.
class Handle {
public:
    explicit Handle(hid_t id) : id_(id) {}
    ~Handle()
    {
        if (id_ >= 0) hdf5_library().H5Idec_ref(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Handle& operator=(Handle&&) = delete;

    explicit operator bool() const { return id_ >= 0; }
    hid_t    id() const { return id_; }

private:
    hid_t id_;
};

/// The library need not be built for threads, and prints what goes wrong unless it is told not to, for all of the
/// program.
class QuietHdf5 {
public:
    QuietHdf5() : h5_(hdf5_library()), lock_(one_at_a_time())
    {
        h5_.H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
        h5_.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietHdf5() { h5_.H5Eset_auto2(H5E_DEFAULT, print_, data_); }
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    static std::mutex& one_at_a_time()
    {
        static std::mutex mutex;
        return mutex;
    }

    const Hdf5Library&           h5_;
    std::unique_lock<std::mutex> lock_;
    H5E_auto2_t                  print_ = nullptr;
    void*                        data_ = nullptr;
};

/// The file in memory, open.
class Hdf5File {
public:
    Hdf5File(std::string_view bytes, std::string_view name)
        : h5_(hdf5_library()), name_(name), bytes_(bytes.size()), file_(open(bytes))
    {
        if (!file_) throw_damaged("it does not open");
    }
    [[noreturn]] void throw_damaged(std::string_view what) const
    {
        throw InvalidInput(fmt::format("{}: the MATLAB file is damaged: {}", name_, what));
    }
    std::string_view name() const { return name_; }

    Handle object(const std::string& path) const { return Handle(h5_.H5Oopen(file_.id(), path.c_str(), H5P_DEFAULT)); }
    bool   is_group(const Handle& object) const { return h5_.H5Iget_type(object.id()) == H5I_GROUP; }
    bool   is_dataset(const Handle& object) const { return h5_.H5Iget_type(object.id()) == H5I_DATASET; }
    bool   has(const std::string& path) const { return h5_.H5Lexists(file_.id(), path.c_str(), H5P_DEFAULT) > 0; }

    std::vector<std::string> names_in(const std::string& group) const;
    /// "" where there is none
    std::string text_attribute(const Handle& object, const char* name) const;
    double      number_attribute(const Handle& object, const char* name) const;
    /// The last one first.
    std::vector<Offset> sizes(const Handle& dataset) const;
    bool                complex(const Handle& dataset) const
    {
        const Handle type(h5_.H5Dget_type(dataset.id()));
        return h5_.H5Tget_class(type.id()) == H5T_COMPOUND;
    }
    /// @param part  "real" or "imag" of complex numbers, "" of others
    std::vector<double> numbers(const std::string& path, const char* part) const;

private:
    Handle open(std::string_view bytes) const
    {
        constexpr std::size_t step = 1 << 16;  // by which the file would grow
        constexpr unsigned    read_only = 0;   // H5F_ACC_RDONLY, whose macro calls the library
        const Handle          access(h5_.H5Pcreate(h5_.file_access));
        const bool            set =
            h5_.H5Pset_fapl_core(access.id(), step, 0) >= 0 &&
            h5_.H5Pset_file_image(access.id(), const_cast<char*>(bytes.data()), bytes.size()) >= 0;  // copied
        return Handle(set ? h5_.H5Fopen("in memory", read_only, access.id()) : -1);
    }

    QuietHdf5          quiet_;
    const Hdf5Library& h5_;
    std::string_view   name_;
    std::size_t        bytes_;
    Handle             file_;
};

std::vector<std::string> Hdf5File::names_in(const std::string& group) const
{
    const Handle of = object(group.empty() ? "/" : group);
    H5G_info_t   info{};
    if (!of || h5_.H5Gget_info(of.id(), &info) < 0) throw_damaged(group + " has no list of names");
    std::vector<std::string> names;
    for (hsize_t k = 0; k < info.nlinks; ++k) {
        std::array<char, 256> name{};
        const auto            length =
            h5_.H5Lget_name_by_idx(of.id(), ".", H5_INDEX_NAME, H5_ITER_INC, k, name.data(), name.size(), H5P_DEFAULT);
        if (length < 0) throw_damaged(group + " has a damaged list of names");
        names.emplace_back(name.data());
    }
    return names;
}

std::string Hdf5File::text_attribute(const Handle& object, const char* name) const
{
    if (h5_.H5Aexists(object.id(), name) <= 0) return "";
    const Handle attribute(h5_.H5Aopen(object.id(), name, H5P_DEFAULT));
    const Handle type(h5_.H5Aget_type(attribute.id()));
    std::string  text(h5_.H5Tget_class(type.id()) == H5T_STRING ? h5_.H5Tget_size(type.id()) : 0, '\0');
    if (text.empty() || text.size() > 64 || h5_.H5Aread(attribute.id(), type.id(), text.data()) < 0) return "";
    return text.substr(0, text.find('\0'));
}

double Hdf5File::number_attribute(const Handle& object, const char* name) const
{
    const Handle attribute(h5_.H5Aopen(object.id(), name, H5P_DEFAULT));
    double       value = -1;
    if (!attribute || h5_.H5Aread(attribute.id(), h5_.native_double, &value) < 0)
        throw_damaged(fmt::format("{} is no number", name));
    return value;
}

std::vector<Offset> Hdf5File::sizes(const Handle& dataset) const
{
    const Handle space(h5_.H5Dget_space(dataset.id()));
    const int    count = h5_.H5Sget_simple_extent_ndims(space.id());
    if (count < 0 || count > H5S_MAX_RANK) throw_damaged("a dataset without sizes");
    std::array<hsize_t, H5S_MAX_RANK> all{};
    h5_.H5Sget_simple_extent_dims(space.id(), all.data(), nullptr);
    return {all.begin(), all.begin() + count};
}

std::vector<double> Hdf5File::numbers(const std::string& path, const char* part) const
{
    constexpr double most_per_byte = 1032;  // deflate packs no better
    const Handle     dataset = object(path);
    if (!dataset || !is_dataset(dataset)) throw_damaged(path + " is missing");
    double product = 1;
    for (const Offset size : sizes(dataset)) product *= static_cast<double>(size);
    if (product < 0 || product > most_per_byte * static_cast<double>(bytes_))
        throw_damaged(fmt::format("{} has {} numbers, and the file {} bytes", path, product, bytes_));
    std::vector<double> all(static_cast<std::size_t>(product));
    const Handle        element(*part == '\0' ? -1 : h5_.H5Tcreate(H5T_COMPOUND, sizeof(double)));
    if (element) h5_.H5Tinsert(element.id(), part, 0, h5_.native_double);
    const hid_t type = element ? element.id() : h5_.native_double;
    if (h5_.H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0)
        throw_damaged(path + " cannot be read");
    return all;
}

using SharedFile = std::shared_ptr<const Hdf5File>;

std::vector<MatlabVariable> variables_in(const SharedFile& file, const std::string& group);

MatlabNumbers values_at(const Hdf5File& file, const std::string& path, bool complex)
{
    return {.real = file.numbers(path, complex ? "real" : ""),
            .imag = complex ? file.numbers(path, "imag") : std::vector<double>{}};
}

MatlabNumbers sparse_numbers(const Hdf5File& file, const std::string& path, bool complex)
{
    const auto    ptr = file.numbers(path + "/jc", "");
    const bool    filled = !ptr.empty() && ptr.back() > 0;  // else MATLAB writes no values
    MatlabNumbers all = filled ? values_at(file, path + "/data", complex) : MatlabNumbers{};
    const auto    row = filled ? file.numbers(path + "/ir", "") : std::vector<double>{};
    all.row = matlab_indices(row, 0);
    all.col = matlab_columns(ptr, std::min(row.size(), all.real.size()), file.name());
    all.row.resize(all.col.size());
    all.real.resize(all.col.size());
    if (complex) all.imag.resize(all.col.size());
    return all;
}

void describe_sparse(const SharedFile& file, const std::string& path, const Handle& group, MatlabVariable& one)
{
    const Handle ptr = file->object(path + "/jc");
    const Handle data = file->has(path + "/data") ? file->object(path + "/data") : Handle(-1);
    if (!ptr || !file->is_dataset(ptr)) file->throw_damaged(path + " has no columns");
    one.kind = Kind::sparse;
    one.rows = matlab_indices({file->number_attribute(group, "MATLAB_sparse")}, 0)[0];
    one.cols = -1;
    for (const Offset size : file->sizes(ptr)) one.cols += size;
    one.complex = data && file->complex(data);
    if (data)
        for (const Offset size : file->sizes(data)) one.entries += size;
    one.numbers = [file, path, complex = one.complex] { return sparse_numbers(*file, path, complex); };
}

void describe_dense(const SharedFile& file, const std::string& path, const Handle& dataset, MatlabVariable& one)
{
    const auto sizes = file->sizes(dataset);
    if (sizes.size() != 2) return;
    one.kind = Kind::dense;
    one.rows = sizes[1];
    one.cols = sizes[0];
    one.entries = one.cols == 0 || one.rows <= std::numeric_limits<Offset>::max() / one.cols ? one.rows * one.cols : -1;
    one.complex = file->complex(dataset);
    one.numbers = [file, path, complex = one.complex] { return values_at(*file, path, complex); };
}

MatlabVariable variable_at(const SharedFile& file, const std::string& path, const std::string& name)
{
    constexpr std::array<std::string_view, 11> of_numbers{"double", "single", "logical", "int8",  "uint8", "int16",
                                                          "uint16", "int32",  "uint32",  "int64", "uint64"};
    MatlabVariable                             one{.name = name};
    const Handle                               object = file->object(path);
    if (!object) return one;
    const std::string kind = file->text_attribute(object, "MATLAB_class");
    const bool        numbers = std::ranges::count(of_numbers, kind) > 0;
    if (kind == "struct" && file->is_group(object)) {
        one.kind = Kind::structure;
        one.fields = [file, path] { return variables_in(file, path); };
    } else if (numbers && file->is_group(object)) describe_sparse(file, path, object, one);
    else if (numbers && file->is_dataset(object)) describe_dense(file, path, object, one);
    return one;
}

std::vector<MatlabVariable> variables_in(const SharedFile& file, const std::string& group)
{
    std::vector<MatlabVariable> all;
    for (const std::string& name : file->names_in(group)) all.push_back(variable_at(file, group + "/" + name, name));
    return all;
}

}  // namespace

std::vector<MatlabVariable> matlab_7_3_variables(std::string_view bytes, std::string_view name)
{
    try {
        (void)hdf5_library();
    } catch (const InvalidInput& why) {
        throw_without_hdf5(name, why.what());
    }
    const auto file = std::make_shared<const Hdf5File>(bytes, name);
    auto       all = variables_in(file, "");
    std::erase_if(all, [](const MatlabVariable& one) { return one.name.starts_with('#'); });  // MATLAB's own
    return all;
}

}  // namespace ilux::detail
