// Any bytes as a folder of a series: refused with a sentence, or every system is what the lines of its files say, as a
// slow reader finds them by itself. Input: files one after another, each behind a line "=== NAME". Where there is a
// pattern.mtx and no values.f64, two systems are written beside it: the value of line p (counted from 0) of system k is
// 1000 k + p + 1. Run: sequence_fuzz fuzz/corpus/sequence

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/base/error.hpp"
#include "ilux/fuzz/expect.hpp"

namespace {

using namespace ilux;
using fuzz::expect;
namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

/// Names are plain ones: nothing is written outside the folder.
bool is_plain(std::string_view name)
{
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
    return !name.empty() && name.size() <= 20 && name.front() != '.' &&
           name.find_first_not_of(plain) == std::string_view::npos;
}

Files files_of(std::string_view input)
{
    constexpr std::string_view mark = "=== ";
    Files                      files;
    while (input.starts_with(mark)) {
        const auto end_of_name = input.find('\n');
        if (end_of_name == std::string_view::npos) break;
        const std::string name(input.substr(mark.size(), end_of_name - mark.size()));
        const auto        next = input.find("\n=== ", end_of_name);
        const auto        end = next == std::string_view::npos ? input.size() : next + 1;
        if (is_plain(name)) files[name] = input.substr(end_of_name + 1, end - end_of_name - 1);
        input.remove_prefix(end);
    }
    return files;
}

/// The words of every line that is neither blank nor a comment; the banner is the first.
std::vector<std::vector<std::string>> lines_of(std::string text)
{
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (text.find('\n') == std::string::npos) std::ranges::replace(text, '\r', '\n');
    std::vector<std::vector<std::string>> lines;
    std::istringstream                    in(text);
    for (std::string line; std::getline(in, line);) {
        std::vector<std::string> words(1);
        for (const char c : line)
            if (std::string_view(" \t\r\v\f").find(c) == std::string_view::npos) words.back() += c;
            else if (!words.back().empty()) words.emplace_back();
        if (words.back().empty()) words.pop_back();
        if (words.empty() || (!lines.empty() && words.front().front() == '%')) continue;
        lines.push_back(std::move(words));
    }
    return lines;
}

double number(std::string word)
{
    std::ranges::replace(word, 'd', 'e');
    std::ranges::replace(word, 'D', 'e');
    return std::strtod(word.c_str(), nullptr);
}

struct Line {
    long                 i, j;  // counted from 1
    std::complex<double> value;
};

template <class S>
S as(std::complex<double> value)
{
    if constexpr (ilux::is_complex<S>) return value;
    else return value.real();
}

/// What a coordinate file says, line by line, if it is well-formed: the caller knows that ilux took it for such.
struct Reading {
    std::string       symmetry;
    std::vector<Line> lines;
};

Reading slow_reading(const std::string& text)
{
    const auto words = lines_of(text);
    expect(words.size() >= 2 && words[0].size() == 5 && words[1].size() == 3);
    Reading reading{.symmetry = words[0][4], .lines = {}};
    for (char& c : reading.symmetry) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (std::size_t line = 2; line < words.size(); ++line) {
        const auto& now = words[line];
        expect(now.size() >= 2 && now.size() <= 4);
        reading.lines.push_back({.i = std::atol(now[0].c_str()),
                                 .j = std::atol(now[1].c_str()),
                                 .value = {now.size() > 2 ? number(now[2]) : 1, now.size() > 3 ? number(now[3]) : 0}});
    }
    return reading;
}

bool is_array(const std::string& text)
{
    const auto words = lines_of(text);
    return !words.empty() && words[0].size() > 2 && std::tolower(static_cast<unsigned char>(words[0][2][0])) == 'a';
}

bool is_packed(const std::string& bytes) { return bytes.starts_with("\x1f\x8b"); }

/// Matrices of more rows would only cost time and memory.
bool is_small(const std::string& text)
{
    const auto words = lines_of(text);
    return words.size() < 2 || std::ranges::all_of(words[1], [](const std::string& word) {
               return std::abs(std::strtod(word.c_str(), nullptr)) <= 2000;
           });
}

/// pattern.mtx: each value where its line says, and no others.
template <class S>
void expect_in_order(const Reading& pattern, const CsrView<S>& A, Index k)
{
    expect(std::ssize(pattern.lines) == A.nnz());
    for (std::size_t p = 0; p < pattern.lines.size(); ++p) {
        const auto& [i, j, value] = pattern.lines[p];
        expect(A.at(static_cast<Index>(i - 1), static_cast<Index>(j - 1)) == 1000. * k + static_cast<double>(p) + 1);
    }
}

/// A numbered file: the sums of what its lines say, mirrored where it stores one triangle.
template <class S>
void expect_sums(const Reading& file, const CsrView<S>& A)
{
    std::map<std::pair<long, long>, std::complex<double>> sums;
    const auto                                            add = [&](long i, long j, std::complex<double> value) {
        const auto added = sums.try_emplace({i, j}, value);
        if (!added.second) added.first->second += value;
    };
    for (const auto& [i, j, value] : file.lines) {
        add(i, j, value);
        if (file.symmetry == "general" || i == j) continue;
        add(j, i, file.symmetry == "skew-symmetric" ? -value : file.symmetry == "hermitian" ? std::conj(value) : value);
    }
    expect(std::ssize(sums) <= A.nnz());  // the others are of other files, and 0 here
    Offset others = 0;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            others += !sums.contains({i + 1, A.col()[p] + 1}) && A.val()[p] == S(0);
    expect(std::ssize(sums) + others == A.nnz());
    for (const auto& [place, value] : sums)
        expect(A.at(static_cast<Index>(place.first - 1), static_cast<Index>(place.second - 1)) == as<S>(value));
}

/// A folder of its own for this process, empty for every input.
class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("ilux_sequence_fuzz_" + std::to_string(getpid()))) {}
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string fill(const Files& files) const
    {
        fs::remove_all(path_);
        fs::create_directory(path_);
        for (const auto& [name, bytes] : files) std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_.string();
    }

private:
    fs::path path_;
};

/// Two systems of as many values as pattern.mtx has lines of data.
std::string two_systems(const std::string& pattern)
{
    std::string bytes;
    const auto  lines = static_cast<Index>(lines_of(pattern).size()) - 2;
    for (Index k = 0; k < 2; ++k)
        for (Index p = 0; p < lines; ++p) {
            const double value = 1000. * k + p + 1;
            bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
    return bytes;
}

/// @return whether system k was taken
template <class S>
bool read(app::SequenceInput<S>& input, Index k)
{
    try {
        input.read(k);
    } catch (const InvalidInput& why) {
        expect(*why.what() != '\0');
        return false;
    }
    expect(std::ssize(input.b()) == input.A().rows());
    for (const S value : input.A().val()) expect(is_finite(value));
    for (const S value : input.b()) expect(is_finite(value));
    return true;
}

/// @param made  whether values.f64 is of two_systems
template <class S>
void check(app::SequenceInput<S>& input, Files& files, bool made)
{
    for (Index k = input.systems() - 1; k >= 0; --k) {
        if (!read(input, k)) continue;
        if (made && !is_complex<S> && !is_packed(files["pattern.mtx"]))
            expect_in_order<S>(slow_reading(files["pattern.mtx"]), input.A(), k);
        else if (const auto file = files.find(input.label(k));
                 file != files.end() && !is_packed(file->second) && !is_array(file->second))
            expect_sums<S>(slow_reading(file->second), input.A());
    }
}

void check(Files files)
{
    static const Folder folder;
    const bool          made = files.contains("pattern.mtx") && !files.contains("values.f64");
    if (made) files["values.f64"] = two_systems(files["pattern.mtx"]);
    std::optional<app::AnySequence> any;
    try {
        any = app::load_any_sequence({folder.fill(files)});
    } catch (const InvalidInput& why) {
        expect(*why.what() != '\0');
        return;
    }
    std::visit([&](auto& input) { check(input, files, made); }, *any);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Files files = files_of({reinterpret_cast<const char*>(data), size});
    if (files.empty() || !std::ranges::all_of(files, [](const auto& file) { return is_small(file.second); })) return 0;
    check(std::move(files));
    return 0;
}
