#include "ilux/apps/input/series_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

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

/// How many rows of `length` numbers a file holds. @throws InvalidInput unless that is a whole number of them, 1 at
/// least
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
    return is_there(inside(folder, "pattern.mtx")) || has_numbered_matrices(folder);
}

SeriesFiles::SeriesFiles(const std::vector<std::string>& paths, const ReadLimit& limit)
{
    require(!paths.empty(), [] { return std::string("no folder and no files were given"); });
    name = paths.front();
    std::error_code unknown;
    if (paths.size() > 1 || !fs::is_directory(name, unknown)) open_files(systems_of(paths), limit);
    else if (is_there(inside(name, "pattern.mtx"))) open_folder(limit);
    else open_files(systems_in(name, limit), limit);
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

void SeriesFiles::open_files(std::vector<SystemFiles> systems_there, const ReadLimit& limit)
{
    files = std::move(systems_there);
    require(files.size() <= static_cast<std::size_t>(std::numeric_limits<Index>::max()),
            [&] { return fmt::format("{} files are too many", files.size()); });
    systems = static_cast<Index>(files.size());
    const auto with = std::ranges::count_if(files, [](const SystemFiles& one) { return !one.rhs.empty(); });
    brings_rhs = with == systems;
    one_matrix = systems > 1 && brings_rhs && files.front().matrix == files.back().matrix;
    take_pattern(limit);
    if (with == 0 || brings_rhs) return;
    const auto bare = std::ranges::find(files, std::string(), &SystemFiles::rhs);
    throw InvalidInput(fmt::format("{}: there is no right-hand side beside it, as there is for others", bare->matrix));
}

/// Takes the pattern of the first file that can be used. A file before it is refused in its turn, like any other.
void SeriesFiles::take_pattern(const ReadLimit& limit)
{
    std::string why;
    for (const SystemFiles& one : files) try {
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
