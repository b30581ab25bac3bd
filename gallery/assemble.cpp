#include "ilux/gallery/assemble.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux::gallery {
namespace {

template <Scalar S>
std::string value_text(S value)
{
    if constexpr (is_complex<S>) return fmt::format("{} {:+}i", value.real(), value.imag());
    else return fmt::format("{}", value);
}

}  // namespace

template <Scalar S>
RowWriterOf<S>::RowWriterOf(Index rows, Index cols, double entries_per_row) : rows_(rows), cols_(cols)
{
    row_ptr_.reserve(static_cast<std::size_t>(rows) + 1);
    row_ptr_.push_back(0);
    const auto room = static_cast<std::size_t>(rows * entries_per_row) + 1;
    col_.reserve(room);
    val_.reserve(room);
}

template <Scalar S>
void RowWriterOf<S>::end_row()
{
    const auto begin = static_cast<std::size_t>(row_ptr_.back());
    const bool ascending = std::adjacent_find(col_.begin() + begin, col_.end(), std::greater_equal<>{}) == col_.end();
    if (!ascending) sort_row(begin);
    row_ptr_.push_back(static_cast<Offset>(col_.size()));
}

template <Scalar S>
void RowWriterOf<S>::sort_row(std::size_t begin)
{
    unsorted_.clear();
    for (std::size_t p = begin; p < col_.size(); ++p) unsorted_.emplace_back(col_[p], val_[p]);
    std::ranges::stable_sort(unsorted_, {}, &std::pair<Index, S>::first);  // duplicates keep their order
    std::size_t out = begin;
    for (const auto& [j, value] : unsorted_) {
        if (out > begin && col_[out - 1] == j) {
            val_[out - 1] += value;
        } else {
            col_[out] = j;
            val_[out++] = value;
        }
    }
    col_.resize(out);
    val_.resize(out);
}

template <Scalar S>
CsrMatrix<S> RowWriterOf<S>::finish() &&
{
    ILUX_ASSERT(row_ptr_.size() == static_cast<std::size_t>(rows_) + 1);
    const auto bad = std::ranges::find_if(val_, [](S value) { return !is_finite(value); });
    if (bad != val_.end()) {
        const auto p = bad - val_.begin();
        const auto i = std::ranges::upper_bound(row_ptr_, p) - row_ptr_.begin() - 1;
        throw InvalidOption(fmt::format("the parameters give {} at row {}, column {} (counted from 1)",
                                        value_text(*bad), i + 1, col_[p] + 1));
    }
    return CsrMatrix<S>::from_sorted(rows_, cols_, std::move(row_ptr_), std::move(col_), std::move(val_));
}

#define ILUX_INSTANTIATE(S) template class RowWriterOf<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

Index checked_rows(std::string_view problem, double rows)
{
    constexpr auto most = std::numeric_limits<Index>::max();
    if (!(rows <= most))
        throw InvalidOption(fmt::format("{} would have {:.15g} rows; at most {} fit", problem, rows, most));
    return static_cast<Index>(rows);
}

double keyed_unit(std::uint64_t key, std::uint64_t seed)
{
    std::uint64_t z = key + 0x9e3779b97f4a7c15u * (seed + 1);
    for (int round = 0; round < 2; ++round) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return static_cast<double>(z >> 11) * 0x1p-53;
}

double power_of_two(double x)
{
    const double whole = std::floor(x);
    return std::ldexp(1 + (x - whole), static_cast<int>(whole));
}

double log_spread(double u, double low, double decades)
{
    constexpr double bits_per_decade = 3.321928094887362;  // log₂ 10
    return low * power_of_two(decades * bits_per_decade * u);
}

}  // namespace ilux::gallery
