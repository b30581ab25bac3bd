#include "ilux/reorder/scale_exponents.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ilux {
namespace {

constexpr double max_exponent = 1000;

bool inside(double exponent) { return std::abs(exponent) <= max_exponent; }

bool all_inside(const ScaleExponents& e)
{
    return std::ranges::all_of(e.row, inside) && std::ranges::all_of(e.column, inside);
}

/// Each connected part of the matrix may move a factor 2^t from its columns to its rows: choose the t that balances
/// the extreme exponents.
void centre_components(const Assignment& a, ScaleExponents& e)
{
    const Offset        n = a.rows();
    std::vector<Offset> root(2 * n);  // disjoint sets of rows 0 … n−1 and columns n … 2n−1
    std::iota(root.begin(), root.end(), Offset{0});
    const auto find = [&](Offset x) {
        for (; root[x] != x; x = root[x]) root[x] = root[root[x]];
        return x;
    };
    for (Index i = 0; i < n; ++i)
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p)
            if (a.cost[p] < Assignment::infinite) root[find(n + a.col[p])] = find(i);
    std::vector<double> low(root.size(), Assignment::infinite), high(root.size(), -Assignment::infinite);
    const auto          widen = [&](Offset x, double exponent) {
        low[find(x)] = std::min(low[find(x)], exponent);
        high[find(x)] = std::max(high[find(x)], exponent);
    };
    const auto middle = [&](Offset x) { return (low[find(x)] + high[find(x)]) / 2; };
    for (Index i = 0; i < n; ++i) {
        widen(i, e.row[i]);
        widen(n + i, -e.column[i]);
    }
    for (Index i = 0; i < n; ++i) {
        e.row[i] -= middle(i);
        e.column[i] += middle(n + i);
    }
}

/// Cuts exponents to ±max_exponent, and lowers them until no scaled entry is above 1.
void cut(const Assignment& a, ScaleExponents& e)
{
    const auto clamp = [](double exponent) { return std::clamp(exponent, -max_exponent, max_exponent); };
    std::ranges::transform(e.row, e.row.begin(), clamp);
    std::ranges::transform(e.column, e.column.begin(), clamp);
    std::vector<double> excess(a.rows(), 0);
    for (Index i = 0; i < a.rows(); ++i)
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p)
            excess[a.col[p]] = std::max(excess[a.col[p]], e.of_entry(a, i, p));
    for (Index j = 0; j < a.rows(); ++j) e.column[j] = std::max(e.column[j] - excess[j], -max_exponent);
    for (Index i = 0; i < a.rows(); ++i) {  // entries still too large have c_j = 2^-1000: r_i ≥ 2^-24 is enough
        double largest = 0;
        for (Offset p = a.row_ptr[i]; p < a.row_ptr[i + 1]; ++p) largest = std::max(largest, e.of_entry(a, i, p));
        e.row[i] -= largest;
    }
}

}  // namespace

ScaleExponents scale_exponents(const Assignment& a)
{
    ScaleExponents e{.row = a.u, .column = {}};
    std::ranges::transform(e.row, a.log_row_max, e.row.begin(), std::minus{});
    e.column.reserve(a.column.size());
    for (const auto& c : a.column) e.column.push_back(c.v);
    if (!all_inside(e)) centre_components(a, e);
    if (!all_inside(e)) cut(a, e);
    return e;
}

}  // namespace ilux
