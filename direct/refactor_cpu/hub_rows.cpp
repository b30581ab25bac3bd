#include "ilux/direct/refactor_cpu/hub_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ilux/direct/refactor_cpu/refactor_program.hpp"

namespace ilux::detail {
namespace {

constexpr double per_piece = 50e-9, per_row = 4e-9, per_term = 1.5e-9;  // seconds
constexpr double hub_hop = 0.2e-6;
constexpr Offset least_terms = 64;  // of a piece that is cut off

/// A counting sort, which keeps the order inside a row: continues ptr to `rows` rows. @return where a row's next one
/// goes
template <class Count>
auto sort_by_rows(std::vector<Offset>& ptr, Index rows, Count&& each)
{
    const auto first = static_cast<Index>(ptr.size()) - 1;
    ptr.resize(rows + std::size_t{1}, 0);
    each([&](Index row) { ++ptr[row + 1]; });
    std::partial_sum(ptr.begin() + first, ptr.end(), ptr.begin() + first);
    return [first, next = std::vector<Offset>(ptr.begin() + first, ptr.end() - 1)](Index row) mutable {
        return next[row - first]++;
    };
}

}  // namespace

HubRows::HubRows(const LuPattern& P, std::vector<Index> hubs, std::span<const Index> task_of, Index tasks)
    : column(std::move(hubs)), row_ptr(1, 0), term_ptr(1, 0), input_ptr(1, 0), hub_piece(1, 0), place_(P.n)
{
    std::vector<std::pair<Index, Piece>> of_tasks;
    for (Index h = 0; h < this->hubs(); ++h) {
        const Index first = row_ptr.back();
        list_rows(P, column[h], task_of);
        list_terms(P, column[h]);
        list_inputs(P, column[h]);

        const auto task = [&](Index row) { return task_of[P.row[position[row]]]; };
        Index      row = first;
        while (row < row_ptr.back() && task(row) >= 0) {
            const Index begin = row;
            while (row < row_ptr.back() && task(row) == task(begin)) ++row;
            of_tasks.emplace_back(task(begin), Piece{.hub = h,
                                                     .row = begin,
                                                     .rows_end = row,
                                                     .term = term_ptr[begin],
                                                     .terms_end = term_ptr[row]});
        }
        top_row.push_back(row);
    }
    std::stable_sort(of_tasks.begin(), of_tasks.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    task_piece.assign(tasks + std::size_t{1}, 0);
    for (const auto& [t, p] : of_tasks) {
        piece.push_back(p);
        ++task_piece[t + 1];
    }
    std::partial_sum(task_piece.begin(), task_piece.end(), task_piece.begin());
    hub_piece.front() = static_cast<Index>(piece.size());
    last_piece.assign(position.size(), -1);
}

void HubRows::list_rows(const LuPattern& P, Index k, std::span<const Index> task_of)
{
    std::vector<Offset> order(P.col_ptr[k + 1] - P.col_ptr[k]);
    std::iota(order.begin(), order.end(), P.col_ptr[k]);
    const auto task = [&](Offset p) {
        return static_cast<std::uint32_t>(task_of[P.row[p]]);
    };  // that of the top is the last
    std::stable_sort(order.begin(), order.end(), [&](Offset a, Offset b) { return task(a) < task(b); });
    for (const Offset p : order) {
        place_[P.row[p]] = static_cast<Index>(position.size());
        position.push_back(static_cast<std::uint32_t>(p));
    }
    row_ptr.push_back(static_cast<Index>(position.size()));
}

void HubRows::list_terms(const LuPattern& P, Index k)
{
    const auto each = [&](auto&& visit) {
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            for (Offset q = P.diag[P.row[p]] + 1; q < P.col_ptr[P.row[p] + 1]; ++q) visit(place_[P.row[q]], q, p);
    };
    auto next = sort_by_rows(term_ptr, row_ptr.back(),
                             [&](auto&& count) { each([&](Index row, Offset, Offset) { count(row); }); });
    l.resize(term_ptr.back());
    u.resize(term_ptr.back());
    each([&](Index row, Offset q, Offset p) {
        const Offset t = next(row);
        l[t] = static_cast<std::uint32_t>(q);
        u[t] = static_cast<std::uint32_t>(p);
    });
}

void HubRows::list_inputs(const LuPattern& P, Index k)
{
    auto next = sort_by_rows(input_ptr, row_ptr.back(), [&](auto&& count) {
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) count(place_[P.in_row[e]]);
    });
    source.resize(input_ptr.back());
    scale.resize(input_ptr.back());
    for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) {
        const Offset t = next(place_[P.in_row[e]]);
        source[t] = P.in_source[e];
        scale[t] = P.in_scale[e];
    }
}

double HubRows::cut_next_hub(const LuPattern& P, std::span<const Index> task_of, std::span<const double> ready)
{
    const auto          h = static_cast<Index>(hub_piece.size()) - 1;
    const Index         k = column[h], first = top_row[h], end = row_ptr[h + 1];
    std::vector<double> row_ready(end - first, 0);
    double              finished = 0;
    for (Index row = first; row < end; ++row) place_[P.row[position[row]]] = row;
    for (Index row = first; row < end; ++row) {
        double     start = 0;  // when what the piece at hand waits for is ready
        const auto open = [&](Offset t) {
            piece.push_back(
                {.hub = h, .row = row, .rows_end = row + 1, .term = t, .terms_end = t, .wait = std::ssize(waits)});
        };
        const auto close = [&](Offset t) {
            Piece& p = piece.back();
            p.terms_end = t;
            p.waits_end = std::ssize(waits);
            p.seconds = per_piece + per_row + per_term * double(t - p.term);
            start += p.seconds + hub_hop;
        };
        open(term_ptr[row]);
        for (Offset t = term_ptr[row]; t < term_ptr[row + 1]; ++t) {
            const Index i = P.row[u[t]];
            if (task_of[i] >= 0) continue;
            const double available = std::max(ready[i], row_ready[place_[i] - first]);
            if (available > start && t - piece.back().term >= least_terms) {
                close(t);
                open(t);
                waits.push_back(P.n + static_cast<Index>(piece.size()) - 2);
            }
            start = std::max(start, available);
            waits.push_back(i);
            waits.push_back(P.n + last_piece[place_[i]]);
        }
        close(term_ptr[row + 1]);
        row_ready[row - first] = start;
        last_piece[row] = static_cast<Index>(piece.size()) - 1;
        if (P.row[position[row]] >= k) finished = std::max(finished, start);
    }
    hub_piece.push_back(static_cast<Index>(piece.size()));
    return finished;
}

std::span<const Index> HubRows::before_division(const LuPattern& P, Index h) const
{
    const Index below = P.lower_count(column[h]) + 1;  // rows of the top ascend, so these come last
    return std::span(last_piece).subspan(row_ptr[h + 1] - below, below);
}

std::size_t HubRows::bytes() const
{
    return bytes_of(column, row_ptr, top_row, position, term_ptr, l, u, input_ptr, source, scale, piece, task_piece,
                    hub_piece, last_piece, waits, place_);
}

}  // namespace ilux::detail
