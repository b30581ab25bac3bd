// MATLAB's files of level 4 (save -v4): a head of five whole numbers before each variable, and no mark of the file.
// Format: MathWorks, "MAT-File Format", "Level 4 MAT-File Format".

#include <fmt/core.h>

#include <array>
#include <optional>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matlab.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace level_4 {
namespace {

using Kind = MatlabVariable::Kind;

constexpr std::size_t head_bytes = 20;

/// The head of a variable. Its first number is 1000 M + 10 P + T: the byte order, the type of the numbers, what they
/// are.
struct Head {
    std::endian   order;
    std::uint32_t type, text_or_sparse, rows, cols, name_bytes;
    bool          complex;

    std::size_t value_bytes() const
    {
        constexpr std::array<std::size_t, 6> of_type{8, 4, 4, 2, 2, 1};
        return of_type[type];
    }
    /// The number of values in either part. Each factor is below 2³².
    std::size_t values() const { return std::size_t{rows} * cols; }
};

std::optional<Head> head_of(std::string_view bytes)
{
    if (bytes.size() < head_bytes) return std::nullopt;
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        const auto number = [&](std::size_t k) { return load<std::uint32_t>(bytes.data() + 4 * k, order); };
        const auto word = number(0) - (order == std::endian::big ? 1000U : 0U);
        const Head head{order, word / 10, word % 10, number(1), number(2), number(4), number(3) == 1};
        if (head.type > 5 || head.text_or_sparse > 2 || head.rows >> 31 != 0 || head.cols >> 31 != 0) continue;
        if (number(3) <= 1 && head.name_bytes >= 2 && head.name_bytes <= 1024) return head;
    }
    return std::nullopt;
}

std::vector<double> numbers_of(const Head& head, const char* at, std::size_t count)
{
    std::vector<double> all(count);
    for (std::size_t p = 0; p < count; ++p, at += head.value_bytes()) {
        const auto as = [&]<class E>(E) { return static_cast<double>(load<E>(at, head.order)); };
        all[p] = head.type == 0   ? as(double{})
                 : head.type == 1 ? as(float{})
                 : head.type == 2 ? as(std::int32_t{})
                 : head.type == 3 ? as(std::int16_t{})
                 : head.type == 4 ? as(std::uint16_t{})
                                  : as(std::uint8_t{});
    }
    return all;
}

MatlabNumbers dense_numbers(const Head& head, const char* at)
{
    MatlabNumbers all{.real = numbers_of(head, at, head.values())};
    if (head.complex) all.imag = numbers_of(head, at + head.values() * head.value_bytes(), head.values());
    return all;
}

/// Columns of row numbers, column numbers, values and, of a complex one, imaginary parts. The last row has the sizes.
MatlabVariable sparse_variable(const Head& head, const char* at, std::string_view name)
{
    require(head.rows >= 1 && (head.cols == 3 || head.cols == 4) && !head.complex, [&] {
        return fmt::format("{}: the MATLAB file is damaged: a sparse matrix of {} × {} numbers", name, head.rows,
                           head.cols);
    });
    const std::size_t count = head.rows - 1;
    const auto        column = [=](std::uint32_t j) { return at + std::size_t{head.rows} * j * head.value_bytes(); };
    const auto        size = [&](std::uint32_t j) {
        const double whole = numbers_of(head, column(j) + count * head.value_bytes(), 1)[0];
        return static_cast<Offset>(matlab_indices({whole}, 0)[0]);
    };
    const bool complex = head.cols == 4;
    return {.kind = Kind::sparse,
            .complex = complex,
            .rows = size(0),
            .cols = size(1),
            .entries = static_cast<Offset>(count),
            .numbers = [=] {
                return MatlabNumbers{.row = matlab_indices(numbers_of(head, column(0), count), 1),
                                     .col = matlab_indices(numbers_of(head, column(1), count), 1),
                                     .real = numbers_of(head, column(2), count),
                                     .imag = complex ? numbers_of(head, column(3), count) : std::vector<double>{}};
            }};
}

MatlabVariable variable_of(const Head& head, const char* at, std::string_view name)
{
    if (head.text_or_sparse == 1) return {};
    if (head.text_or_sparse == 2) return sparse_variable(head, at, name);
    return {.kind = Kind::dense,
            .complex = head.complex,
            .rows = head.rows,
            .cols = head.cols,
            .entries = static_cast<Offset>(head.values()),
            .numbers = [=] { return dense_numbers(head, at); }};
}

}  // namespace
}  // namespace level_4

bool is_matlab_4(std::string_view bytes)
{
    using namespace level_4;
    const auto head = head_of(bytes);
    if (!head || bytes.size() < head_bytes + head->name_bytes) return false;
    const std::string_view name = bytes.substr(head_bytes, head->name_bytes);
    return name.find('\0') == name.size() - 1;
}

std::vector<MatlabVariable> matlab_4_variables(std::string_view bytes, std::string_view name)
{
    using namespace level_4;
    std::vector<MatlabVariable> all;
    for (auto rest = bytes; !rest.empty();) {
        const auto head = head_of(rest);
        const auto parts = head && head->complex ? 2U : 1U;
        const auto before = head_bytes + (head ? head->name_bytes : 0);
        const bool named = head && before <= rest.size();
        require(named && head->values() <= (rest.size() - before) / (head->value_bytes() * parts), [&] {
            return fmt::format("{}: the variable at byte {} of this MATLAB file is damaged or ends early", name,
                               bytes.size() - rest.size());
        });
        const std::string_view text = rest.substr(head_bytes, head->name_bytes);
        rest.remove_prefix(before);
        all.push_back(variable_of(*head, rest.data(), name));
        all.back().name = text.substr(0, text.find('\0'));
        rest.remove_prefix(head->values() * head->value_bytes() * parts);
    }
    return all;
}

}  // namespace ilux::detail
