#include "ilux/reorder/assignment.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

/// 0 instead of the minimum of nothing: what duals of empty rows and columns are.
double or_zero(double minimum) { return minimum == Assignment::infinite ? 0 : minimum; }

/// x ← min(x, value), while other threads do the like.
void lower(double& x, double value)
{
    std::atomic_ref shared(x);
    for (double seen = shared.load(std::memory_order_relaxed);
         value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed);) {
    }
}

/// @return the largest cost of the row that is not infinite
double set_costs(std::span<const double> value, double& log_max, std::span<double> cost)
{
    double largest = 0, max_cost = 0;
    for (const double a : value) largest = std::max(largest, std::abs(a));
    log_max = largest > 0 ? std::log2(largest) : 0;
    for (std::size_t p = 0; p < value.size(); ++p) {
        cost[p] = value[p] == 0 ? Assignment::infinite : log_max - std::log2(std::abs(value[p]));
        if (cost[p] < Assignment::infinite) max_cost = std::max(max_cost, cost[p]);
    }
    return max_cost;
}

}  // namespace

Assignment::Assignment(const CsrView<double>& A)
    : row_ptr(A.row_ptr()),
      col(A.col()),
      cost(A.val().size()),
      log_row_max(A.rows()),
      u(A.rows()),
      column(A.rows(), Column{.v = Assignment::infinite}),
      entry_of_row(A.rows(), -1)
{
    std::vector<double> max_cost(pieces_of(rows()), 0);
    for_pieces(rows(), [&](Index piece, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const auto length = static_cast<std::size_t>(row_ptr[i + 1] - row_ptr[i]);
            max_cost[piece] = std::max(max_cost[piece], set_costs(A.val().subspan(row_ptr[i], length), log_row_max[i],
                                                                  std::span(cost).subspan(row_ptr[i], length)));
            for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) lower(column[col[p]].v, cost[p]);
        }
    });
    for (Column& c : column) c.v = or_zero(c.v);
    for_pieces(rows(), [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) u[i] = lowest_slack(i);
    });
    const double largest = max_cost.empty() ? 0 : std::ranges::max(max_cost);
    tie = 50 * std::numeric_limits<double>::epsilon() * (1 + largest);
}

double Assignment::lowest_slack(Index i) const
{
    double lowest = Assignment::infinite;
    for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) lowest = std::min(lowest, cost[p] - column[col[p]].v);
    return or_zero(lowest);
}

}  // namespace ilux
