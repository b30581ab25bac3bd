// PETSc's binary files: big-endian numbers, whole ones of 32 or 64 bits as PETSc was configured, values real or
// complex. The file does not tell which: integers by their first bytes, since a class id fits 32 bits; values by the
// length of the file. As MatView_SeqAIJ_Binary, MatView_Dense_Binary and VecView_Binary write them.

#include <fmt/core.h>

#include <array>
#include <optional>

#include "ilux/base/error.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace {

constexpr Offset matrix_id = 1211216, vector_id = 1211214, index_set_id = 1211218;

struct PetscObject {
    Offset      id = 0, rows = 0, cols = 1, entries = 0;
    bool        dense = false;
    std::size_t lengths = 0, indices = 0, values = 0;  ///< where they begin
};

/// Whole numbers and values of a file whose two sizes are known.
class PetscFile {
public:
    PetscFile(std::string_view bytes, std::size_t integer, std::size_t scalar)
        : bytes_(bytes), integer_(integer), scalar_(scalar)
    {}
    std::size_t size() const { return bytes_.size(); }
    std::size_t integer() const { return integer_; }
    std::size_t scalar() const { return scalar_; }
    bool        has(std::size_t at, Offset count, std::size_t each) const
    {
        return at <= bytes_.size() && fits(count, each, bytes_.size() - at);
    }
    Offset whole(std::size_t at) const
    {
        return integer_ == 4 ? load<std::endian::big, std::int32_t>(bytes_.data() + at)
                             : load<std::endian::big, std::int64_t>(bytes_.data() + at);
    }
    double number(std::size_t at) const { return load<std::endian::big, double>(bytes_.data() + at); }
    template <Scalar T>
    std::vector<T> values(std::size_t at, Offset count) const
    {
        std::vector<T> all(static_cast<std::size_t>(count));
        for (T& one : all) {
            if constexpr (is_complex<T>) one = {number(at), number(at + 8)};
            else one = number(at);
            at += sizeof(T);
        }
        return all;
    }

private:
    std::string_view bytes_;
    std::size_t      integer_, scalar_;
};

/// Sum of the rows' lengths; nothing where they are not there or one is negative.
std::optional<Offset> entries_of(const PetscFile& file, const PetscObject& object)
{
    if (!file.has(object.lengths, object.rows, file.integer())) return std::nullopt;
    Offset sum = 0;
    for (Offset i = 0; i < object.rows; ++i) {
        const Offset length = file.whole(object.lengths + static_cast<std::size_t>(i) * file.integer());
        if (length < 0 || length > object.cols || !fits(length, 1, file.size())) return std::nullopt;
        sum += length;
        if (!fits(sum, 1, file.size())) return std::nullopt;
    }
    return sum;
}

/// The object at a place, which moves behind it; nothing where the bytes cannot be one.
std::optional<PetscObject> take_object(const PetscFile& file, std::size_t& at)
{
    const std::size_t word = file.integer();
    if (!file.has(at, 2, word)) return std::nullopt;
    PetscObject object{.id = file.whole(at), .rows = file.whole(at + word)};
    if (object.id == vector_id || object.id == index_set_id) {
        const std::size_t each = object.id == vector_id ? file.scalar() : word;
        object.values = at + 2 * word;
        object.entries = object.rows;
        if (!file.has(object.values, object.entries, each)) return std::nullopt;
        at = object.values + static_cast<std::size_t>(object.entries) * each;
        return object;
    }
    if (object.id != matrix_id || !file.has(at, 4, word)) return std::nullopt;
    object.cols = file.whole(at + 2 * word);
    const Offset promised = file.whole(at + 3 * word);
    object.lengths = object.values = at + 4 * word;
    object.dense = promised == -1;
    if (object.rows < 0 || object.cols < 0) return std::nullopt;
    if (object.dense) {
        if (object.rows > 0 && object.cols > 0) {
            if (!file.has(object.values, object.cols, file.scalar())) return std::nullopt;
            if (!file.has(object.values, object.rows, file.scalar() * object.cols)) return std::nullopt;
            object.entries = object.rows * object.cols;
        }
    } else {
        const auto sum = entries_of(file, object);
        const bool too_many_to_say = word == 4 && promised == std::numeric_limits<std::int32_t>::max();
        if (!sum || (*sum != promised && !too_many_to_say)) return std::nullopt;
        object.entries = *sum;
        object.indices = object.lengths + static_cast<std::size_t>(object.rows) * word;
        if (!file.has(object.indices, object.entries, word + file.scalar())) return std::nullopt;
        object.values = object.indices + static_cast<std::size_t>(object.entries) * word;
    }
    at = object.values + static_cast<std::size_t>(object.entries) * file.scalar();
    return object;
}

/// All objects of a file that ends with the last; none where it does not.
std::vector<PetscObject> objects_of(const PetscFile& file)
{
    std::vector<PetscObject> all;
    for (std::size_t at = 0; at < file.size();) {
        const auto object = take_object(file, at);
        if (!object) return {};
        all.push_back(*object);
    }
    return all;
}

template <Scalar T>
CsrMatrix<T> sparse_matrix(const PetscFile& file, const PetscObject& object, const MatrixMarketHeader& header,
                           std::string_view name)
{
    const std::size_t   word = file.integer();
    std::vector<Offset> row_ptr{0};
    row_ptr.reserve(static_cast<std::size_t>(object.rows) + 1);
    for (Offset i = 0; i < object.rows; ++i)
        row_ptr.push_back(row_ptr.back() + file.whole(object.lengths + static_cast<std::size_t>(i) * word));
    std::vector<Index> col(static_cast<std::size_t>(object.entries));
    for (std::size_t p = 0; p < col.size(); ++p) {
        const Offset j = file.whole(object.indices + p * word);
        col[p] = j == static_cast<Index>(j) ? static_cast<Index>(j) : -1;  // −1 is refused by its place
    }
    return from_rows(header, name, std::move(row_ptr), std::move(col), file.values<T>(object.values, object.entries));
}

/// One object, or vectors of one length as columns.
template <Scalar T>
AnyMatrix matrix_of(const PetscFile& file, const std::vector<PetscObject>& objects, std::string_view name,
                    const ReadOptions& options)
{
    const PetscObject& first = objects.front();
    const bool         dense = first.dense || first.id == vector_id;
    MatrixMarketHeader header{.array = dense, .complex = is_complex<T>};
    const auto         cols = first.id == vector_id ? std::ssize(objects) : first.cols;
    accept_sizes(header, first.rows, cols, dense ? first.rows * cols : first.entries, file.size(), name, options);
    if (!dense) return sparse_matrix<T>(file, first, header, name);
    std::vector<T> all;
    for (const PetscObject& object : objects) {
        const auto values = file.values<T>(object.values, object.entries);
        all.insert(all.end(), values.begin(), values.end());
    }
    return from_dense<T>(header, name, first.dense, all);
}

/// What is asked for, of all objects.
std::vector<PetscObject> chosen(const std::vector<PetscObject>& all, FilePart part, std::string_view name)
{
    std::vector<PetscObject> matrices, vectors;
    for (const PetscObject& one : all)
        if (one.id != index_set_id) (one.id == matrix_id ? matrices : vectors).push_back(one);
    require(!matrices.empty() || !vectors.empty(),
            [&] { return fmt::format("{}: a PETSc file of index sets, without a matrix or a vector", name); });
    if (vectors.empty() || (part == FilePart::matrix && !matrices.empty())) return {matrices.front()};
    if (!matrices.empty()) return {vectors.front()};
    for (const PetscObject& one : vectors)
        require(one.rows == vectors.front().rows, [&] {
            return fmt::format("{}: PETSc vectors of {} and {} values; expected columns of one length", name,
                               vectors.front().rows, one.rows);
        });
    return vectors;
}

std::size_t integer_bytes(std::string_view bytes)
{
    for (const std::size_t integer : {4, 8}) {
        if (bytes.size() < integer) continue;
        const Offset id = PetscFile(bytes, integer, 8).whole(0);
        if (id == matrix_id || id == vector_id || id == index_set_id) return integer;
    }
    return 0;
}

}  // namespace

bool is_petsc(std::string_view bytes) { return integer_bytes(bytes) != 0; }

AnyMatrix parse_petsc(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    const std::size_t integer = integer_bytes(bytes);
    require(integer != 0, [&] { return fmt::format("{}: not a binary file of PETSc", name); });
    const PetscFile real(bytes, integer, 8), complex(bytes, integer, 16);
    if (const auto all = objects_of(real); !all.empty())
        return matrix_of<double>(real, chosen(all, options.part, name), name, options);
    if (const auto all = objects_of(complex); !all.empty())
        return matrix_of<std::complex<double>>(complex, chosen(all, options.part, name), name, options);
    throw InvalidInput(fmt::format(
        "{}: {} bytes of a PETSc file with {}-bit integers, in which matrices and vectors fit neither with real values of "
        "8 bytes nor with complex ones of 16: it is truncated, or of single or quadruple precision, which is not read",
        name, bytes.size(), 8 * integer));
}

}  // namespace ilux::detail
