#include "ilux/base/io/matrix_file.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/matrix_market_header.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/base/io/printable.hpp"

namespace ilux {
namespace {

using Parse = AnyMatrix (*)(std::string_view bytes, std::string_view name, const ReadOptions& options);

constexpr std::string_view hdf5_magic("\x89HDF\r\n\x1a\n", 8);

/// Its reader, where the bytes are of a kind that is no Matrix Market file.
Parse other_reader(std::string_view bytes)
{
    if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return detail::parse_npz;
    if (bytes.starts_with(detail::npy_magic)) return detail::parse_npy;
    if (detail::is_petsc(bytes)) return detail::parse_petsc;
    if (detail::is_matlab(bytes)) return detail::parse_matlab;
    if (detail::is_harwell_boeing(bytes)) return detail::parse_harwell_boeing;
    return nullptr;
}

/// Kinds of files that are known and not read, with what to do about them.
struct ForeignKind {
    std::string_view magic;
    std::size_t      at;
    std::string_view what;
};
constexpr std::array foreign_kinds{
    ForeignKind{{"\x28\xb5\x2f\xfd", 4}, 0, "compressed by zstd; unpack it: zstd -d FILE"},
    ForeignKind{{"\xfd"
                 "7zXZ\0",
                 6},
                0,
                "compressed by xz; unpack it: xz -dk FILE"},
    ForeignKind{"BZh", 0, "compressed by bzip2; unpack it: bzip2 -dk FILE"},
    ForeignKind{"7z\xbc\xaf\x27\x1c", 0, "a 7z archive; unpack it: 7z x FILE"},
    ForeignKind{"ustar", 257, "a tar archive; unpack it: tar xf FILE"},
    ForeignKind{hdf5_magic, 0,
                "an HDF5 file, and no MATLAB file of version 7.3; load it in Python (h5py) and write it by "
                "scipy.sparse.save_npz"},
    ForeignKind{"\x80\x02", 0, "a Python pickle; load it in Python and write it by scipy.sparse.save_npz"},
    ForeignKind{"\x80\x03", 0, "a Python pickle; load it in Python and write it by scipy.sparse.save_npz"},
    ForeignKind{"\x80\x04", 0, "a Python pickle; load it in Python and write it by scipy.sparse.save_npz"},
    ForeignKind{"\x80\x05", 0, "a Python pickle; load it in Python and write it by scipy.sparse.save_npz"},
};

/// What a file name promises, by its end.
struct FileEnding {
    std::string_view ending, what;
};
constexpr std::array file_endings{
    FileEnding{".mtx", "a Matrix Market file"},
    FileEnding{".npz", "a SciPy matrix (scipy.sparse.save_npz)"},
    FileEnding{".npy", "a NumPy array (numpy.save)"},
    FileEnding{".petsc", "a binary file of PETSc"},
    FileEnding{".mat", "a MATLAB file"},
    FileEnding{".rb", "a Rutherford-Boeing file"},
    FileEnding{".hb", "a Harwell-Boeing file"},
    FileEnding{".rua", "a Harwell-Boeing file"},
    FileEnding{".rsa", "a Harwell-Boeing file"},
    FileEnding{".rra", "a Harwell-Boeing file"},
    FileEnding{".rza", "a Harwell-Boeing file"},
    FileEnding{".cua", "a Harwell-Boeing file"},
    FileEnding{".csa", "a Harwell-Boeing file"},
    FileEnding{".cha", "a Harwell-Boeing file"},
    FileEnding{".pua", "a Harwell-Boeing file"},
    FileEnding{".psa", "a Harwell-Boeing file"},
};

const FileEnding* ending_of(std::string_view name)
{
    if (name.ends_with(".gz")) name.remove_suffix(3);
    for (const FileEnding& one : file_endings)
        if (name.ends_with(one.ending)) return &one;
    return nullptr;
}

/// Refuses what is not read, in words; returns where the Matrix Market reader should see it, and say what is wrong.
void refuse_foreign(std::string_view bytes, std::string_view name)
{
    for (const ForeignKind& kind : foreign_kinds)
        require(bytes.size() < kind.at || !bytes.substr(kind.at).starts_with(kind.magic),
                [&] { return fmt::format("{}: {}", name, kind.what); });
    const FileEnding* promised = ending_of(name);
    require(promised == nullptr || promised->ending == ".mtx" || bytes.starts_with("%%"), [&] {
        return fmt::format("{}: not {}, as its name says, nor of another kind that is read: is it damaged?", name,
                           promised->what);
    });
}

/// For complex values in a place of real ones, before memory is asked for.
ReadOptions of_real_values(ReadOptions options, std::string_view name)
{
    options.accept = [inner = std::move(options.accept), name](const MatrixMarketHeader& header) {
        require(!header.complex,
                [&] { return fmt::format("{}: expected real values: complex ones are not read here", name); });
        if (inner) inner(header);
    };
    return options;
}

/// The file's matrix by f(bytes, name, file), with what memory lacks said of the file.
template <class F>
auto of_whole_file(const std::string& path, const StopToken& stop, F&& f)
{
    try {
        TextFile          file(path, stop);
        const std::string name = shown_name(path);
        return f(file.view(), name, file);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory("no memory to read " + path);
    }
}

template <Scalar T>
CsrMatrix<T> as(AnyMatrix any)
{
    if (std::holds_alternative<CsrMatrix<T>>(any)) return std::get<CsrMatrix<T>>(std::move(any));
    if constexpr (is_complex<T>) {
        const auto&    A = std::get<CsrMatrix<double>>(any);
        std::vector<T> val(A.val().begin(), A.val().end());
        return CsrMatrix<T>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                         {A.col().begin(), A.col().end()}, std::move(val));
    } else throw InvalidInput("expected real values: complex ones are not read here");
}

}  // namespace

template <Scalar T>
CsrMatrix<T> read_matrix(const std::string& path, const ReadOptions& options)
{
    return of_whole_file(path, options.stop, [&](std::string_view bytes, const std::string& name, TextFile& file) {
        if (const Parse parse = other_reader(bytes))
            return as<T>(parse(bytes, name, is_complex<T> ? options : of_real_values(options, name)));
        refuse_foreign(bytes, name);
        return detail::parse_matrix_market<T>(file, name, options).A;
    });
}

AnyMatrix read_any_matrix(const std::string& path, const ReadOptions& options)
{
    return of_whole_file(path, options.stop, [&](std::string_view bytes, const std::string& name, TextFile& file) {
        if (const Parse parse = other_reader(bytes)) return parse(bytes, name, options);
        refuse_foreign(bytes, name);
        if (detail::says_complex(bytes))
            return AnyMatrix(detail::parse_matrix_market<std::complex<double>>(file, name, options).A);
        return AnyMatrix(detail::parse_matrix_market<double>(file, name, options).A);
    });
}

AnyMatrix parse_any_matrix(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    if (const Parse parse = other_reader(bytes)) return parse(bytes, name, options);
    refuse_foreign(bytes, name);
    if (detail::says_complex(bytes)) return parse_matrix<std::complex<double>>(bytes, name, options);
    return parse_matrix<double>(bytes, name, options);
}

template <Scalar T>
std::vector<T> read_vector(const std::string& path, Index column)
{
    const auto A = read_matrix<T>(path, {.part = FilePart::right_sides});
    require(column >= 0 && column < A.cols(), [&] {
        return fmt::format("{} holds {} columns; column {} (counted from 0) was asked for", path, A.cols(), column);
    });
    std::vector<T> x(A.rows());
    for (Index i = 0; i < A.rows(); ++i) x[i] = A.at(i, column);
    return x;
}

void require_solution_name(std::string_view name)
{
    const FileEnding* ending = ending_of(name);
    if (ending == nullptr || ending->ending == ".mtx" || ending->ending == ".npy") return;
    throw InvalidOption(
        fmt::format("{} is the name of {}; x is written as a Matrix Market file (.mtx) or a NumPy array (.npy)",
                    printable(name), ending->what));
}

bool names_matrix_file(std::string_view name) { return ending_of(name) != nullptr; }

std::string_view without_file_ending(std::string_view name)
{
    const FileEnding* ending = ending_of(name);
    if (name.ends_with(".gz")) name.remove_suffix(3);
    if (ending != nullptr) name.remove_suffix(ending->ending.size());
    return name;
}

template <Scalar T>
void write_solution(const FileTarget& file, Index n, std::span<const T> X, const std::string& comment)
{
    if (file.name.ends_with(".npy") || file.name.ends_with(".npy.gz")) write_npy(file, n, X);
    else write_columns(file, n, X, {.comment = comment});
}

#define ILUX_INSTANTIATE(T)                                                         \
    template CsrMatrix<T>   read_matrix<T>(const std::string&, const ReadOptions&); \
    template std::vector<T> read_vector<T>(const std::string&, Index);              \
    template void           write_solution(const FileTarget&, Index, std::span<const T>, const std::string&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
