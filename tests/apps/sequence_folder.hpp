#pragma once
// Small series written by hand, in both formats.

#include <fmt/core.h>

#include <complex>
#include <filesystem>
#include <string>
#include <vector>

#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

template <class T = double>
std::string bytes_of(const std::vector<T>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The lines of a pattern file, entries counted from 1.
inline std::string pattern_text(Index n, const std::vector<std::pair<Index, Index>>& entries)
{
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate pattern general\n% a pattern\n{} {} {}\n", n, n, entries.size());
    for (const auto& [i, j] : entries) text += fmt::format("{} {}\n", i, j);
    return text;
}

/// A folder of full 2×2 systems a₁₁ a₁₂ a₂₁ a₂₂ and their right-hand sides.
inline std::string write_series(const TempFolder& folder, const std::vector<double>& values,
                                const std::vector<double>& sides)
{
    folder.write("pattern.mtx", pattern_text(2, {{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
    folder.write("values.f64", bytes_of(values));
    if (!sides.empty()) folder.write("rhs.f64", bytes_of(sides));
    folder.write("meta.json", fmt::format(R"({{"n": 2, "nnz": 4, "k": {}}})", values.size() / 4));
    return folder.path().string();
}

/// The same of complex numbers.
inline std::string write_complex_series(const TempFolder& folder, const std::vector<std::complex<double>>& values,
                                        const std::vector<std::complex<double>>& sides)
{
    folder.write("pattern.mtx", pattern_text(2, {{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
    folder.write("values.c128", bytes_of(values));
    if (!sides.empty()) folder.write("rhs.c128", bytes_of(sides));
    folder.write("meta.json", fmt::format(R"({{"n": 2, "nnz": 4, "k": {}, "complex": true}})", values.size() / 4));
    return folder.path().string();
}

/// The text of a full 2×2 coordinate file.
inline std::string matrix_2x2(double a, double b, double c, double d)
{
    return fmt::format("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 {}\n1 2 {}\n2 1 {}\n2 2 {}\n", a, b,
                       c, d);
}

inline std::string complex_2x2(std::complex<double> a, std::complex<double> b, std::complex<double> c,
                               std::complex<double> d)
{
    std::string text = "%%MatrixMarket matrix coordinate complex general\n2 2 4\n";
    for (const auto& [place, z] : {std::pair("1 1", a), {"1 2", b}, {"2 1", c}, {"2 2", d}})
        text += fmt::format("{} {} {}\n", place, z.real(), z.imag());
    return text;
}

inline std::string complex_vector_2(std::complex<double> a, std::complex<double> b)
{
    return fmt::format("%%MatrixMarket matrix array complex general\n2 1\n{} {}\n{} {}\n", a.real(), a.imag(), b.real(),
                       b.imag());
}

inline std::string vector_2(double a, double b)
{
    return fmt::format("%%MatrixMarket matrix array real general\n2 1\n{}\n{}\n", a, b);
}

class CliOfSeries : public Cli {
protected:
    /// Every line of --json: the systems, and last the summary.
    std::vector<nlohmann::json> lines(const std::vector<std::string>& arguments, int code = 0)
    {
        std::vector<std::string> all{"sequence"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return json_lines(all, code);
    }
};

}  // namespace ilux::test
