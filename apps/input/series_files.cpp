#include "ilux/apps/input/series_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/text_file.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

std::string inside(const std::string& folder, const char* file) { return (fs::path(folder) / file).string(); }

bool is_there(const std::string& file)
{
    std::error_code unknown;
    return fs::exists(file, unknown);
}

bool is_number(const std::string& tag)
{
    return !tag.empty() && tag.find_first_not_of("0123456789") == std::string::npos;
}

/// What follows the letter in A_012.mtx, A12.mtx.gz, A_mesh.npz and the like, a number without leading zeros: a right-hand side
/// b… belongs to the matrix A… of its tag. Nothing for names with another letter.
std::optional<std::string> tag_of(const fs::path& path, char letter)
{
    const std::string full = path.filename().string();
    if (!names_matrix_file(full) || !full.starts_with(letter)) return std::nullopt;
    const std::string name(without_file_ending(full));
    if (name.empty()) return std::nullopt;
    std::string tag = name.substr(name.size() > 1 && name[1] == '_' ? 2 : 1);
    if (is_number(tag)) tag.erase(0, std::min(tag.find_first_not_of('0'), tag.size() - 1));
    return tag;
}

/// @throws InvalidInput when the folder cannot be read
std::vector<fs::path> files_in(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::error_code       failed;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, failed))
        files.push_back(folder / entry.path().filename());
    require(!failed, [&] { return fmt::format("{}: {}", folder.string(), failed.message()); });
    return files;
}

using Sides = std::multimap<std::string, std::string>;  ///< right-hand sides of a folder by tag

Sides sides_in(const fs::path& folder)
{
    Sides sides;
    for (const fs::path& file : files_in(folder))
        if (const auto tag = tag_of(file, 'b')) sides.emplace(*tag, file.string());
    return sides;
}

[[noreturn]] void throw_no_matrix(const std::string& side)
{
    throw InvalidInput(fmt::format("{}: no matrix goes with it", side));
}

[[noreturn]] void throw_one_number(const std::string& file, const std::string& other)
{
    throw InvalidInput(fmt::format("{} and {} have one number", std::min(file, other), std::max(file, other)));
}

/// Of A_012.mtx and the like: 12; nothing for other names.
std::optional<std::string> number_of(const fs::path& file)
{
    auto number = tag_of(file, 'A');
    if (number && !is_number(*number)) number.reset();
    return number;
}

/// @throws InvalidInput when there are none, two of one number, or a right-hand side whose matrix is missing
std::vector<std::string> numbered_files(const std::string& folder)
{
    std::map<std::pair<std::size_t, std::string>, std::string> found;  // by the digits' count, then the digits
    for (const fs::path& file : files_in(folder)) {
        const auto number = number_of(file);
        if (!number) continue;
        const auto added = found.try_emplace({number->size(), *number}, file.string());
        if (!added.second) throw_one_number(added.first->second, file.string());
    }
    require(!found.empty(), [&] {
        return fmt::format("{}: neither pattern.mtx with its values nor A_000.mtx, A_001.mtx and so on", folder);
    });
    for (const auto& [tag, side] : sides_in(folder))
        if (is_number(tag) && !found.contains({tag.size(), tag})) throw_no_matrix(side);
    std::vector<std::string> files;
    for (const auto& [number, file] : found) files.push_back(file);
    return files;
}

/// The right-hand side beside a matrix A…; "" when there is none, or for other names. @throws InvalidInput for two of them
std::string rhs_beside(const fs::path& matrix, std::map<fs::path, Sides>& known)
{
    const auto tag = tag_of(matrix, 'A');
    if (!tag) return "";
    const fs::path folder = matrix.parent_path();
    if (!known.contains(folder)) known.emplace(folder, sides_in(folder));
    const auto [first, end] = known.at(folder).equal_range(*tag);
    if (first == end) return "";
    if (std::next(first) != end) throw_one_number(first->second, std::next(first)->second);
    return first->second;
}

void require_file(const std::string& path, std::size_t arguments)
{
    std::error_code unknown;
    require(!fs::is_directory(path, unknown), [&] {
        return fmt::format("{} is a folder, and {} arguments were given: a series is one folder, or files alone", path,
                           arguments);
    });
    require(!path.starts_with("gallery:"), [&] {
        return fmt::format("{}: a series is a folder or files; `ilux gallery {} --out A_000.mtx` writes its first",
                           path, path.substr(path.find(':') + 1));
    });
}

/// `dir/*.mtx` names the right-hand sides as well: those that belong to another file are left out.
/// @throws InvalidInput for a numbered one that belongs to none of the numbered matrices
std::vector<std::string> matrices_among(const std::vector<std::string>& paths)
{
    const auto folder = [](const fs::path& path) { return path.parent_path().lexically_normal(); };
    std::set<std::pair<fs::path, std::string>> tags;
    for (const std::string& path : paths) {
        require_file(path, paths.size());
        if (const auto tag = tag_of(path, 'A')) tags.emplace(folder(path), *tag);
    }
    const bool numbered = std::ranges::any_of(tags, [](const auto& one) { return is_number(one.second); });
    std::vector<std::string> matrices;
    for (const std::string& path : paths) {
        const auto side = tag_of(path, 'b');
        if (side && tags.contains({folder(path), *side})) continue;
        if (side && is_number(*side) && numbered) throw_no_matrix(path);
        matrices.push_back(path);
    }
    return matrices;
}

void require_square(const MatrixMarketHeader& header, const std::string& file)
{
    require(header.rows == header.cols, [&] {
        return fmt::format("{}: {} rows and {} columns; a system needs a square matrix", file, header.rows,
                           header.cols);
    });
    require(header.rows > 0 && header.entries > 0, [&] { return fmt::format("{}: no rows or no entries", file); });
}

void require_pattern(const MatrixMarketHeader& header, const std::string& file)
{
    require(!header.array && header.symmetry == Symmetry::general,
            [&] { return fmt::format("{}: expected a general coordinate file", file); });
    require_square(header, file);
}

/// How many rows of `length` numbers a file holds. @throws InvalidInput unless that is a whole number of them, 1 at least
Index rows_in(const std::string& file, Offset length, bool complex)
{
    std::error_code failed;
    const auto      bytes = fs::file_size(file, failed);
    const auto      row_bytes = static_cast<std::uintmax_t>(length) * sizeof(double) * (complex ? 2 : 1);
    require(!failed, [&] { return fmt::format("{}: {}", file, failed.message()); });
    require(bytes > 0 && bytes % row_bytes == 0 && bytes / row_bytes <= std::numeric_limits<Index>::max(), [&] {
        return fmt::format("{}: {} bytes; expected a multiple of {}, {} {} for each system", file, bytes, row_bytes,
                           length, complex ? "complex numbers of two doubles" : "doubles");
    });
    return static_cast<Index>(bytes / row_bytes);
}

nlohmann::json meta_of(const std::string& folder)
{
    const std::string file = inside(folder, "meta.json");
    if (!is_there(file)) return {};
    const TextFile text(file);
    auto           meta = nlohmann::json::parse(text.view(), nullptr, false);
    require(meta.is_object(), [&] { return fmt::format("{}: not a JSON object", file); });
    return meta;
}

/// What meta.json says of the values, or, where it says nothing, which file of values is there.
bool has_complex_values(const std::string& folder)
{
    const std::string real = inside(folder, "values.f64"), complex = inside(folder, "values.c128");
    const auto        meta = meta_of(folder);
    if (!meta.contains("complex")) {
        require(!is_there(real) || !is_there(complex), [&] {
            return fmt::format("{} and {} are both there; \"complex\": true or false in meta.json says which counts",
                               real, complex);
        });
        return is_there(complex);
    }
    const auto& says = meta["complex"];
    require(says.is_boolean(), [&] {
        return fmt::format("{}: complex is {}; expected true or false", inside(folder, "meta.json"), says.dump());
    });
    const bool is = says.get<bool>();
    require(is_there(is ? complex : real) || !is_there(is ? real : complex), [&] {
        return fmt::format("{}: the values of {} are {}, but meta.json says \"complex\": {}", is ? real : complex,
                           folder, is ? "real" : "complex", is);
    });
    return is;
}

}  // namespace

bool is_series(const std::string& folder)
{
    return is_there(inside(folder, "pattern.mtx")) ||
           std::ranges::any_of(files_in(folder), [](const fs::path& file) { return number_of(file).has_value(); });
}

SeriesFiles::SeriesFiles(const std::vector<std::string>& paths, const ReadLimit& limit)
{
    require(!paths.empty(), [] { return std::string("no folder and no files were given"); });
    name = paths.front();
    std::error_code unknown;
    if (paths.size() > 1 || !fs::is_directory(name, unknown)) open_files(matrices_among(paths), limit);
    else if (is_there(inside(name, "pattern.mtx"))) open_folder(limit);
    else open_files(numbered_files(name), limit);
}

void SeriesFiles::open_folder(const ReadLimit& limit)
{
    pattern_of = inside(name, "pattern.mtx");
    const bool complex = has_complex_values(name);
    if (complex) read_pattern<std::complex<double>>(limit);
    else read_pattern<double>(limit);
    values = inside(name, complex ? "values.c128" : "values.f64");
    systems = rows_in(values, std::visit([](const auto& A) { return A.nnz(); }, pattern), complex);
    check_meta();
    find_sides();
}

template <Scalar S>
void SeriesFiles::read_pattern(const ReadLimit& limit)
{
    const auto      accept = [&](const MatrixMarketHeader& header) { require_pattern(header, pattern_of); };
    MatrixMarket<S> read =
        read_matrix_market<S>(pattern_of, {.line_order = true, .accept = accept, .stop = limit.of(pattern_of)});
    require(read.duplicates == 0,
            [&] { return fmt::format("{}: {} entries stand twice", pattern_of, read.duplicates); });
    pattern = std::move(read.A);
    line_order = std::move(read.line_order);
}

void SeriesFiles::check_meta() const
{
    const auto meta = meta_of(name);
    if (meta.is_null()) return;
    const auto [n, nnz] =
        std::visit([](const auto& A) { return std::pair<Offset, Offset>(A.rows(), A.nnz()); }, pattern);
    const std::pair<const char*, Offset> facts[] = {{"n", n}, {"nnz", nnz}, {"k", systems}};
    for (const auto& fact : facts) {
        const auto value = meta.value(fact.first, nlohmann::json());
        require(value.is_number_integer() && value == fact.second, [&] {
            return fmt::format("{}: {} is {}, but pattern.mtx and {} say {}", inside(name, "meta.json"), fact.first,
                               value.dump(), fs::path(values).filename().string(), fact.second);
        });
    }
}

/// Real ones serve a complex A, complex ones no real A.
void SeriesFiles::find_sides()
{
    const std::string real = inside(name, "rhs.f64"), complex_file = inside(name, "rhs.c128");
    if (complex()) {
        require(!is_there(real) || !is_there(complex_file),
                [&] { return fmt::format("{} and {} are both there; one of them is to go", real, complex_file); });
        complex_sides = is_there(complex_file);
    } else {
        require(is_there(real) || !is_there(complex_file),
                [&] { return fmt::format("{}: complex right-hand sides, but the matrices are real", complex_file); });
    }
    brings_rhs = complex_sides || is_there(real);
    if (!brings_rhs) return;
    sides = complex_sides ? complex_file : real;
    const Offset n = std::visit([](const auto& A) { return A.rows(); }, pattern);
    const Index  rows = rows_in(sides, n, complex_sides);
    require(rows == systems, [&] {
        return fmt::format("{}: {} right-hand sides, but {} holds {} systems", sides, rows, values, systems);
    });
}

void SeriesFiles::open_files(const std::vector<std::string>& matrices, const ReadLimit& limit)
{
    require(matrices.size() <= static_cast<std::size_t>(std::numeric_limits<Index>::max()),
            [&] { return fmt::format("{} files are too many", matrices.size()); });
    std::map<fs::path, Sides> known;
    for (const std::string& matrix : matrices) {
        require(is_there(matrix), [&] { return fmt::format("{}: there is no such file or folder", matrix); });
        files.push_back({.matrix = matrix, .rhs = rhs_beside(matrix, known)});
    }
    systems = static_cast<Index>(files.size());
    const auto with = std::ranges::count_if(files, [](const Pair& one) { return !one.rhs.empty(); });
    brings_rhs = with == systems;
    take_pattern(limit);
    if (with == 0 || brings_rhs) return;
    const auto bare = std::ranges::find(files, std::string(), &Pair::rhs);
    throw InvalidInput(fmt::format("{}: there is no right-hand side beside it, as there is for others", bare->matrix));
}

/// Of the first file that can be used; one before it is refused in its turn, as any other.
void SeriesFiles::take_pattern(const ReadLimit& limit)
{
    std::string why;
    for (const Pair& one : files) try {
            const auto square = [&](const MatrixMarketHeader& header) { require_square(header, one.matrix); };
            pattern = read_any_matrix(one.matrix, {.accept = square, .stop = limit.of(one.matrix)});
            require(std::visit([](const auto& A) { return A.nnz() > 0; }, pattern),
                    [&] { return fmt::format("{}: no entries but 0", one.matrix); });
            pattern_of = one.matrix;
            return;
        } catch (const InvalidInput& error) {
            if (why.empty()) why = error.what();
        }
    throw InvalidInput(why);
}

}  // namespace ilux::app
