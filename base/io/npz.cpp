#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

#include "ilux/base/error.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/zip_archive.hpp"

namespace ilux::detail {
namespace {

/// The arrays of an archive by name, unpacked one at a time.
class NpzArchive {
public:
    NpzArchive(std::string_view bytes, std::string_view name, const StopToken& stop)
        : bytes_(bytes), name_(name), stop_(stop)
    {
        for (ZipMember& member : zip_members(bytes, name)) {
            std::string key = member.name;
            if (key.ends_with(".npy")) key.resize(key.size() - 4);
            members_.insert_or_assign(std::move(key), std::move(member));
        }
    }
    bool        has(const std::string& key) const { return members_.contains(key); }
    std::string keys() const
    {
        std::string all;
        for (const auto& [key, member] : members_)
            if (all.size() < 200) all += (all.empty() ? "" : ", ") + printable(key);
        return all.empty() ? "nothing" : all;
    }
    std::size_t size() const { return members_.size(); }
    std::string only() const { return members_.begin()->first; }
    std::string label(const std::string& key) const { return fmt::format("{}: {}", name_, printable(key)); }

    /// f(the array) while it is in memory.
    template <class F>
    auto with(const std::string& key, F&& f) const
    {
        const auto found = members_.find(key);
        require(found != members_.end(),
                [&] { return fmt::format("{}: no array '{}' in the archive, which holds {}", name_, key, keys()); });
        const ZipData data = zip_data(bytes_, found->second, name_, stop_);
        return f(parse_npy_array(data.view, label(key)));
    }
    ZipData            only_data() const { return zip_data(bytes_, members_.begin()->second, name_, stop_); }
    std::vector<Index> indices(const std::string& key) const
    {
        return with(key, [&](const NpyArray& array) { return indices_of(array, label(key)); });
    }
    /// Indices of a list of entries, for each dimension: "row" and "col", or both in "coords".
    std::vector<std::vector<Index>> places(std::size_t dimensions) const
    {
        if (!has("coords")) return {indices("row"), indices("col")};
        return with("coords", [&](const NpyArray& array) {
            const bool by_dimension =
                array.shape.size() == 2 && !array.by_columns && array.shape[0] == static_cast<Offset>(dimensions);
            require(by_dimension, [&] { return fmt::format("{}: expected {} rows", label("coords"), dimensions); });
            NpyArray flat = array;
            flat.shape = {array.size()};
            const std::vector<Index>        all = indices_of(flat, label("coords"));
            const auto                      count = static_cast<std::ptrdiff_t>(array.shape[1]);
            std::vector<std::vector<Index>> of;
            for (std::size_t d = 0; d < dimensions; ++d) {
                const auto begin = all.begin() + static_cast<std::ptrdiff_t>(d) * count;
                of.emplace_back(begin, begin + count);
            }
            if (dimensions == 1) of.emplace(of.begin(), of[0].size());
            return of;
        });
    }
    std::vector<Offset> offsets(const std::string& key) const
    {
        return with(key, [&](const NpyArray& array) { return offsets_of(array, label(key)); });
    }

private:
    std::string_view                              bytes_, name_;
    const StopToken&                              stop_;
    std::map<std::string, ZipMember, std::less<>> members_;
};

[[noreturn]] void throw_other_format(std::string_view name, const std::string& format)
{
    throw InvalidInput(fmt::format(
        "{0}: a SciPy matrix in the format {1}; read are csr, csc and coo. Convert it: python3 -c \"import scipy.sparse "
        "as s; s.save_npz('A.npz', s.load_npz('FILE').tocsr())\"",
        name, printable(format)));
}

/// Values of csr and csc may lie in arrays longer than what is in use.
template <class Number>
void cut_to_use(const std::vector<Offset>& ptr, std::vector<Number>& all)
{
    if (!ptr.empty() && ptr.back() >= 0 && ptr.back() < std::ssize(all))
        all.resize(static_cast<std::size_t>(ptr.back()));
}

template <Scalar T>
CsrMatrix<T> sparse_of(const NpzArchive& archive, const std::string& format, const MatrixMarketHeader& header,
                       std::string_view name, const ReadOptions& options, std::vector<T> val)
{
    const auto equal = [&](std::size_t rows, std::size_t cols) {
        require(rows == val.size() && cols == val.size(),
                [&] { return fmt::format("{}: {} and {} indices for {} values", name, rows, cols, val.size()); });
    };
    const bool vector = archive.offsets("shape").size() == 1;
    if (format == "coo") {
        auto at = archive.places(vector ? 1 : 2);
        if (vector) at[0].swap(at[1]);  // its places are those in one row
        equal(at[0].size(), at[1].size());
        return from_list(header, name, options, at[0], at[1], val);
    }
    auto ptr = archive.offsets("indptr");
    auto indices = archive.indices("indices");
    cut_to_use(ptr, indices);
    cut_to_use(ptr, val);
    equal(indices.size(), indices.size());
    if (format == "csc" || vector) return from_columns(header, name, options, ptr, indices, val);
    return from_rows(header, name, std::move(ptr), std::move(indices), std::move(val));
}

}  // namespace

AnyMatrix parse_npz(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    const NpzArchive archive(bytes, name, options.stop);
    if (!archive.has("format") && archive.size() == 1) {
        const ZipData data = archive.only_data();
        return parse_npy(data.view, archive.label(archive.only()), options);
    }
    require(archive.has("format"), [&] {
        return fmt::format("{}: an archive of {}; expected what scipy.sparse.save_npz writes, or one array alone", name,
                           archive.keys());
    });
    const std::string format = archive.with("format", text_of);
    if (format != "csr" && format != "csc" && format != "coo") throw_other_format(name, format);
    const auto shape = archive.offsets("shape");
    const bool vector = shape.size() == 1 && format != "csc";  // a column
    require(shape.size() == 2 || vector, [&] {
        return fmt::format("{}: an array of {} dimension{} in the format {}; expected two", name, shape.size(),
                           shape.size() == 1 ? "" : "s", format);
    });
    return archive.with("data", [&](const NpyArray& data) -> AnyMatrix {
        require(data.shape.size() == 1,
                [&] { return fmt::format("{}: values of {} dimensions; expected one", name, data.shape.size()); });
        MatrixMarketHeader header{.complex = has_complex_elements(data, archive.label("data"))};
        accept_sizes(header, shape[0], vector ? 1 : shape[1], data.size(), bytes.size(), name, options);
        const auto sparse = [&]<Scalar T>(T) -> AnyMatrix {
            return sparse_of<T>(archive, format, header, name, options, values_of<T>(data, archive.label("data")));
        };
        return header.complex ? sparse(std::complex<double>{}) : sparse(double{});
    });
}

}  // namespace ilux::detail
