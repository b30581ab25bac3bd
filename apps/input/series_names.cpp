#include "ilux/apps/input/series_names.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_file.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& tag)
{
    return !tag.empty() && tag.find_first_not_of("0123456789") == std::string::npos;
}

/// What follows the letter in A_012.mtx, A12.mtx.gz, A_mesh.npz and the like, a number without leading zeros: a
/// right-hand side b… belongs to the matrix A… of its tag. Nothing for names with another letter.
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

/// The number in a file name such as A_012.mtx: 12; nothing for other names.
std::optional<std::string> number_of(const fs::path& file)
{
    auto number = tag_of(file, 'A');
    if (number && !is_number(*number)) number.reset();
    return number;
}

/// The only matrix there is, for all right-hand sides; numbers that no matrix has belong to none otherwise.
std::vector<SystemFiles> with_each(const std::string& matrix, const std::vector<std::string>& sides)
{
    std::vector<SystemFiles> all;
    for (const std::string& side : sides) all.push_back({matrix, side});
    return all;
}

using Numbered = std::map<std::pair<std::size_t, std::string>, std::string>;  ///< by the digits' count, then the digits

/// The files A… of a folder that have a number. @throws InvalidInput for two of one number
Numbered numbered_matrices(const std::string& folder)
{
    Numbered found;
    for (const fs::path& file : files_in(folder)) {
        const auto number = number_of(file);
        if (!number) continue;
        const auto added = found.try_emplace({number->size(), *number}, file.string());
        if (!added.second) throw_one_number(added.first->second, file.string());
    }
    return found;
}

/// The right-hand side beside a matrix A…; "" when there is none, or for other names. @throws InvalidInput for two of
/// them
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

std::vector<SystemFiles> with_those_beside(const std::vector<std::string>& matrices)
{
    std::map<fs::path, Sides> known;
    std::vector<SystemFiles>  all;
    for (const std::string& matrix : matrices) {
        std::error_code unknown;
        require(fs::exists(matrix, unknown),
                [&] { return fmt::format("{}: there is no such file or folder", matrix); });
        all.push_back({matrix, rhs_beside(matrix, known)});
    }
    return all;
}

/// A series is paired by the numbers of its files A… and b….
std::vector<SystemFiles> lettered_systems(const std::string& folder, const Numbered& matrices)
{
    Numbered sides;
    for (const auto& [tag, side] : sides_in(folder)) {
        if (!is_number(tag)) continue;
        const auto added = sides.try_emplace({tag.size(), tag}, side);
        if (!added.second) throw_one_number(added.first->second, side);
    }
    std::vector<std::string> matrix_names, side_names;
    for (const auto& [number, file] : matrices) matrix_names.push_back(file);
    for (const auto& [number, file] : sides) side_names.push_back(file);
    if (matrices.size() == 1 && sides.size() > 1) return with_each(matrix_names.front(), side_names);
    for (const auto& [number, side] : sides)
        if (!matrices.contains(number)) throw_no_matrix(side);
    return with_those_beside(matrix_names);
}

/// Files whose names differ in their last number alone, by that number.
using Family = std::map<double, std::string>;
using Families = std::map<std::string, Family>;  ///< by what the names have in common

/// Where the last number of a name begins and ends: 07, 0.0010, 1e-05. Equal where there is none.
std::pair<std::size_t, std::size_t> last_number(std::string_view name)
{
    const auto digit = [&](std::size_t p) {
        return p < name.size() && std::isdigit(static_cast<unsigned char>(name[p])) != 0;
    };
    const auto first_digit = [&](std::size_t p) {  // of those that end before p
        while (p > 0 && digit(p - 1)) --p;
        return p;
    };
    const auto with_fraction = [&](std::size_t p) {
        return p > 1 && name[p - 1] == '.' && digit(p - 2) ? first_digit(p - 1) : p;
    };
    std::size_t end = name.size();
    while (end > 0 && !digit(end - 1)) --end;
    const std::size_t begin = first_digit(end), whole = with_fraction(begin);
    if (whole < begin) return {whole, end};
    std::size_t exponent = begin;
    if (exponent > 0 && (name[exponent - 1] == '-' || name[exponent - 1] == '+')) --exponent;
    const bool has_exponent =
        exponent > 1 && (name[exponent - 1] == 'e' || name[exponent - 1] == 'E') && digit(exponent - 2);
    return {has_exponent ? with_fraction(first_digit(exponent - 1)) : begin, end};
}

/// Files are sorted by what their names have in common, # for the number. x_000.mtx and so on are solutions of a former
/// run.
Families families_in(const std::string& folder)
{
    Families all;
    for (const fs::path& file : files_in(folder)) {
        const std::string full = file.filename().string();
        if (!names_matrix_file(full)) continue;
        const std::string name(without_file_ending(full));
        const auto [begin, end] = last_number(name);
        double number = 0;
        std::from_chars(name.data() + begin, name.data() + end, number);
        const std::string common = begin < end ? name.substr(0, begin) + "#" + name.substr(end) : name;
        if (common == "x_#") continue;
        const auto added = all[common].try_emplace(number, file.string());
        if (!added.second) throw_one_number(added.first->second, file.string());
    }
    return all;
}

/// What the first readable file of a family says of its sizes. Nothing where none can be read.
std::optional<MatrixMarketHeader> sizes_of(const Family& family, const ReadLimit& limit)
{
    struct Seen {};
    MatrixMarketHeader sizes;
    for (const auto& [number, file] : family) try {
            const auto see = [&](const MatrixMarketHeader& header) {
                sizes = header;
                throw Seen();
            };
            (void)read_any_matrix(file, {.accept = see, .stop = limit.of(file)});
        } catch (const Seen&) {
            return sizes;
        } catch (const InvalidInput&) {  // refused in its turn
        }
    return std::nullopt;
}

/// Whether a name is one that right-hand sides have.
bool names_sides(const std::string& common)
{
    std::string lower(common);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower.starts_with("b") || lower.find("rhs") != std::string::npos || lower.find("resid") != std::string::npos;
}

/// @throws InvalidInput unless it is one
const Family& only(const std::string& folder, const Families& found, std::string_view what)
{
    std::vector<std::string> names;
    for (const auto& [common, family] : found) names.push_back(common);
    require(found.size() == 1, [&] {
        return fmt::format("{}: {} series of {}: {}; give the files of one", folder, names.size(), what,
                           fmt::join(names, ", "));
    });
    return found.begin()->second;
}

std::vector<SystemFiles> systems_by_sizes(const std::string& folder, const ReadLimit& limit)
{
    constexpr std::size_t most = 64;  // one file of each is read for its sizes
    const Families        all = families_in(folder);
    require(all.size() <= most,
            [&] { return fmt::format("{}: {} names that have nothing in common", folder, all.size()); });
    Families square, vectors;
    for (const auto& [common, family] : all)
        if (const auto sizes = sizes_of(family, limit); sizes && sizes->rows == sizes->cols)
            square.emplace(common, family);
        else if (sizes) vectors.emplace(common, family);
    require(!square.empty(), [&] {
        return fmt::format(
            "{}: neither pattern.mtx with its values nor A_000.mtx, A_001.mtx and so on, nor other square "
            "matrices whose names differ in a number",
            folder);
    });
    const Family& matrices = only(folder, square, "matrices");
    if (vectors.size() > 1) std::erase_if(vectors, [](const auto& one) { return !names_sides(one.first); });
    const Family             none;
    const Family&            sides = vectors.empty() ? none : only(folder, vectors, "right-hand sides");
    std::vector<SystemFiles> systems;
    if (matrices.size() == 1)
        for (const auto& [number, side] : sides) systems.push_back({matrices.begin()->second, side});
    if (!systems.empty()) return systems;
    for (const auto& [number, side] : sides)
        if (!matrices.contains(number)) throw_no_matrix(side);
    for (const auto& [number, matrix] : matrices)
        systems.push_back({matrix, sides.contains(number) ? sides.at(number) : ""});
    return systems;
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

}  // namespace

bool has_numbered_matrices(const std::string& folder)
{
    return std::ranges::any_of(files_in(folder), [](const fs::path& file) { return number_of(file).has_value(); });
}

std::vector<SystemFiles> systems_in(const std::string& folder, const ReadLimit& limit)
{
    const Numbered lettered = numbered_matrices(folder);
    return lettered.empty() ? systems_by_sizes(folder, limit) : lettered_systems(folder, lettered);
}

std::vector<SystemFiles> systems_of(const std::vector<std::string>& paths)
{
    const auto folder = [](const fs::path& path) { return path.parent_path().lexically_normal(); };
    std::set<std::pair<fs::path, std::string>> tags;
    std::vector<std::string>                   matrices, sides;
    for (const std::string& path : paths) {
        require_file(path, paths.size());
        if (const auto tag = tag_of(path, 'A')) tags.emplace(folder(path), *tag);
        (tag_of(path, 'b') ? sides : matrices).push_back(path);
    }
    if (matrices.size() == 1 && tags.size() == 1 && sides.size() > 1) return with_each(matrices.front(), sides);
    const bool numbered = std::ranges::any_of(tags, [](const auto& one) { return is_number(one.second); });
    matrices.clear();
    for (const std::string& path : paths) {
        const auto side = tag_of(path, 'b');
        if (side && tags.contains({folder(path), *side})) continue;
        if (side && is_number(*side) && numbered) throw_no_matrix(path);
        matrices.push_back(path);
    }
    return with_those_beside(matrices);
}

}  // namespace ilux::app
