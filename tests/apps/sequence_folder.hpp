#pragma once
// Small series written by hand, in both formats.

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

inline std::string bytes_of(const std::vector<double>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
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

/// The text of a full 2×2 coordinate file.
inline std::string matrix_2x2(double a, double b, double c, double d)
{
    return fmt::format("%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 {}\n1 2 {}\n2 1 {}\n2 2 {}\n", a, b,
                       c, d);
}

inline std::string vector_2(double a, double b)
{
    return fmt::format("%%MatrixMarket matrix array real general\n2 1\n{}\n{}\n", a, b);
}

}  // namespace ilux::test
