#include "ilux/apps/input/sequence_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ilux/apps/input/problem.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/base/pattern.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "values.f64 is read as it stands");

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

/// What follows the letter in A_012.mtx, A12.mtx.gz, A_mesh.mtx and the like, a number without leading zeros: a right-hand side
/// b… belongs to the matrix A… of its tag. Nothing for names with another letter.
std::optional<std::string> tag_of(const fs::path& path, char letter)
{
    std::string name = path.filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (!name.ends_with(".mtx") || !name.starts_with(letter)) return std::nullopt;
    std::string tag = name.substr(name[1] == '_' ? 2 : 1);
    tag.resize(tag.size() - 4);
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
        return fmt::format("{}: neither pattern.mtx with values.f64 nor A_000.mtx, A_001.mtx and so on", folder);
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

/// Where the patterns of equal order first differ, or "".
std::string difference_text(const CsrView<double>& A, const CsrView<double>& other)
{
    const auto differs = first_difference(other.row_ptr(), other.col(), A.row_ptr(), A.col());
    if (!differs) return "";
    const Index i = differs->line;
    const auto  mine = A.col().subspan(A.row_ptr()[i], A.row_ptr()[i + 1] - A.row_ptr()[i]);
    const auto  yours = other.col().subspan(other.row_ptr()[i], other.row_ptr()[i + 1] - other.row_ptr()[i]);
    const auto [p, q] = std::ranges::mismatch(mine, yours);
    const bool extra = p == mine.end() || (q != yours.end() && *q < *p);
    return fmt::format("the entry at row {}, column {} (counted from 1) is {}", i + 1, (extra ? *q : *p) + 1,
                       extra ? "new" : "missing");
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

/// Rows of `length` doubles in a file, which is opened. @throws InvalidInput unless that is a whole number of them, 1 at least
Index open_rows(std::ifstream& in, const std::string& file, Offset length)
{
    std::error_code failed;
    const auto      bytes = fs::file_size(file, failed);
    const auto      row_bytes = static_cast<std::uintmax_t>(length) * sizeof(double);
    require(!failed, [&] { return fmt::format("{}: {}", file, failed.message()); });
    require(bytes > 0 && bytes % row_bytes == 0 && bytes / row_bytes <= std::numeric_limits<Index>::max(), [&] {
        return fmt::format("{}: {} bytes; expected a multiple of {}, {} doubles for each system", file, bytes,
                           row_bytes, length);
    });
    in.open(file, std::ios::binary);
    require(in.is_open(), [&] { return fmt::format("{}: cannot be read", file); });
    return static_cast<Index>(bytes / row_bytes);
}

}  // namespace

bool is_series(const std::string& folder)
{
    return is_there(inside(folder, "pattern.mtx")) ||
           std::ranges::any_of(files_in(folder), [](const fs::path& file) { return number_of(file).has_value(); });
}

SequenceInput::SequenceInput(const std::vector<std::string>& paths, const std::string& rhs, const ReadLimit& limit)
    : limit_(limit)
{
    require(!paths.empty(), [] { return std::string("no folder and no files were given"); });
    name_ = paths.front();
    std::error_code unknown;
    if (paths.size() > 1 || !fs::is_directory(name_, unknown)) open_files(matrices_among(paths));
    else if (is_there(inside(name_, "pattern.mtx"))) open_folder();
    else open_files(numbered_files(name_));
    choose_rhs(rhs);
    b_.resize(static_cast<std::size_t>(A_.rows()));
}

void SequenceInput::open_folder()
{
    const std::string file = inside(name_, "pattern.mtx");
    MatrixMarket      read =
        read_matrix_market(file, {.line_order = true,
                                  .accept = [&](const MatrixMarketHeader& header) { require_pattern(header, file); },
                                  .stop = limit_.of(file)});
    require(read.duplicates == 0, [&] { return fmt::format("{}: {} entries stand twice", file, read.duplicates); });
    A_ = std::move(read.A);
    order_ = std::move(read.line_order);
    row_.resize(static_cast<std::size_t>(A_.nnz()));

    const std::string values = inside(name_, "values.f64"), sides = inside(name_, "rhs.f64");
    systems_ = open_rows(values_, values, A_.nnz());
    if (const std::string meta = inside(name_, "meta.json"); is_there(meta)) read_meta(meta);
    brings_rhs_ = is_there(sides);
    if (!brings_rhs_) return;
    const Index rows = open_rows(right_sides_, sides, A_.rows());
    require(rows == systems_, [&] {
        return fmt::format("{}: {} right-hand sides, but {} holds {} systems", sides, rows, values, systems_);
    });
}

void SequenceInput::read_meta(const std::string& file)
{
    const TextFile text(file);
    const auto     meta = nlohmann::json::parse(text.view(), nullptr, false);
    require(meta.is_object(), [&] { return fmt::format("{}: not a JSON object", file); });
    const std::pair<const char*, Offset> facts[] = {{"n", A_.rows()}, {"nnz", A_.nnz()}, {"k", systems_}};
    for (const auto& fact : facts) {
        const auto value = meta.value(fact.first, nlohmann::json());
        require(value.is_number_integer() && value == fact.second, [&] {
            return fmt::format("{}: {} is {}, but pattern.mtx and values.f64 say {}", file, fact.first, value.dump(),
                               fact.second);
        });
    }
}

void SequenceInput::open_files(const std::vector<std::string>& matrices)
{
    require(matrices.size() <= static_cast<std::size_t>(std::numeric_limits<Index>::max()),
            [&] { return fmt::format("{} files are too many", matrices.size()); });
    std::map<fs::path, Sides> known;
    for (const std::string& matrix : matrices) {
        require(is_there(matrix), [&] { return fmt::format("{}: there is no such file or folder", matrix); });
        files_.push_back({.matrix = matrix, .rhs = rhs_beside(matrix, known)});
    }
    systems_ = static_cast<Index>(files_.size());
    const auto with = std::ranges::count_if(files_, [](const Files& one) { return !one.rhs.empty(); });
    brings_rhs_ = with == systems_;
    take_pattern();
    if (with == 0 || brings_rhs_) return;
    const auto bare = std::ranges::find(files_, std::string(), &Files::rhs);
    throw InvalidInput(fmt::format("{}: there is no right-hand side beside it, as there is for others", bare->matrix));
}

/// Of the first file that can be used; one before it is refused in its turn, as any other.
void SequenceInput::take_pattern()
{
    std::string why;
    for (const Files& one : files_) try {
            const auto square = [&](const MatrixMarketHeader& header) { require_square(header, one.matrix); };
            A_ = read_matrix(one.matrix, {.accept = square, .stop = limit_.of(one.matrix)});
            require(A_.nnz() > 0, [&] { return fmt::format("{}: no entries but 0", one.matrix); });
            pattern_of_ = one.matrix;
            return;
        } catch (const InvalidInput& error) {
            if (why.empty()) why = error.what();
        }
    throw InvalidInput(why);
}

void SequenceInput::choose_rhs(const std::string& rhs)
{
    rhs_ = rhs == "auto" && !brings_rhs_ ? "A1" : rhs;
    if (rhs_ == "auto") return;
    if (rhs_ != "-" && !is_there(rhs_)) {
        if (rhs_ != "A1") load_rhs(rhs_, A_, name_);  // refuses what is no right-hand side
        return;
    }
    const auto columns = [&](const MatrixMarketHeader& header) {
        require(header.rows == A_.rows() && (header.cols == 1 || header.cols == systems_), [&] {
            return fmt::format(
                "{}: {} rows and {} columns; expected {} rows, and 1 column or one for each of {} systems", rhs_,
                header.rows, header.cols, A_.rows(), systems_);
        });
    };
    columns_ = read_matrix(rhs_, {.accept = columns, .stop = limit_.of(rhs_)});
}

std::string SequenceInput::label(Index k) const
{
    return files_.empty() ? fmt::format("{}", k)
                          : fs::path(files_[static_cast<std::size_t>(k)].matrix).filename().string();
}

void SequenceInput::read(Index k)
{
    require(k >= 0 && k < systems_, [&] { return fmt::format("system {} of {}", k, systems_); });
    if (k == there_) return;
    there_ = -1;
    if (files_.empty()) read_values(k);
    else read_matrix_file(k);
    read_rhs(k);
    there_ = k;
}

void SequenceInput::read_row(std::ifstream& in, const std::string& file, Index k, std::span<double> row) const
{
    const auto bytes = static_cast<std::streamoff>(row.size_bytes());
    in.clear();
    in.seekg(bytes * k);
    in.read(reinterpret_cast<char*>(row.data()), bytes);
    require(in.gcount() == bytes, [&] { return fmt::format("{}: ends within system {}", file, k); });
}

void SequenceInput::read_values(Index k)
{
    const std::string file = inside(name_, "values.f64");
    read_row(values_, file, k, row_);
    const auto val = A_.val();
    if (order_.empty()) std::ranges::copy(row_, val.begin());
    for (std::size_t line = 0; line < order_.size(); ++line) val[order_[line]] = row_[line];

    const auto bad = std::ranges::find_if(val, [](double v) { return !std::isfinite(v); });
    if (bad == val.end()) return;
    const auto p = bad - val.begin();
    const auto row = std::ranges::upper_bound(A_.row_ptr(), p) - A_.row_ptr().begin();
    throw InvalidInput(fmt::format("{}: system {}: the value at row {}, column {} (counted from 1) is {}", file, k, row,
                                   A_.col()[p] + 1, *bad));
}

void SequenceInput::read_matrix_file(Index k)
{
    const std::string& file = files_[static_cast<std::size_t>(k)].matrix;
    const auto         of_its_size = [&](const MatrixMarketHeader& header) {
        require(header.rows == A_.rows() && header.cols == A_.cols(), [&] {
            return fmt::format("{}: {} × {}, but {} is {} × {}", file, header.rows, header.cols, pattern_of_, A_.rows(),
                                       A_.cols());
        });
    };
    const CsrMatrix<double> read = read_matrix(file, {.accept = of_its_size, .stop = limit_.of(file)});
    if (const std::string difference = difference_text(A_, read); !difference.empty())
        throw InvalidInput(fmt::format("{}: another pattern than {}: {}", file, pattern_of_, difference));
    std::ranges::copy(read.val(), A_.val().begin());  // in place: others look at these arrays
}

void SequenceInput::read_rhs(Index k)
{
    if (columns_.rows() > 0) {
        const Index column = columns_.cols() == 1 ? 0 : k;
        for (Index i = 0; i < columns_.rows(); ++i) b_[static_cast<std::size_t>(i)] = columns_.at(i, column);
    } else if (rhs_.starts_with("random:")) {
        const auto seed = static_cast<std::uint64_t>(std::stoll(rhs_.substr(7))) + static_cast<std::uint64_t>(k);
        b_ = load_rhs(fmt::format("random:{}", static_cast<std::int64_t>(seed)), A_, name_);
    } else if (rhs_ != "auto") {
        b_ = load_rhs(rhs_, A_, fmt::format("{}: system {}", name_, label(k)));
    } else if (!files_.empty()) {
        const Files& files = files_[static_cast<std::size_t>(k)];
        b_ = load_rhs(files.rhs, A_, files.matrix, limit_);
    } else {
        const std::string file = inside(name_, "rhs.f64");
        read_row(right_sides_, file, k, b_);
        const auto bad = std::ranges::find_if(b_, [](double v) { return !std::isfinite(v); });
        require(bad == b_.end(), [&] {
            return fmt::format("{}: system {}: the value of row {} (counted from 1) is {}", file, k,
                               bad - b_.begin() + 1, *bad);
        });
    }
}

}  // namespace ilux::app
