#include "ilux/direct/gpu/monitor_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ilux {
namespace {

using Piece = MonitorPlan::Piece;
using Kind = MonitorPlan::Kind;

constexpr int all_lanes = 5;  // log2 of a warp
/// By the logarithm of the lanes that a piece takes.
using Buckets = std::array<std::vector<Piece>, all_lanes + 1>;

int log2_lanes_for(Offset count)
{
    const auto lanes = static_cast<unsigned>((count + MonitorPlan::per_lane - 1) / MonitorPlan::per_lane);
    return lanes <= 1 ? 0 : std::bit_width(lanes - 1);
}

/// Entries first … last − 1 in pieces of at most `most`. @param diag  entry
template <class Add>
void cut(Offset first, Offset last, Offset diag, Index column, Add add)
{
    for (; first < last; first += MonitorPlan::most) {
        const auto   count = static_cast<std::int16_t>(std::min<Offset>(MonitorPlan::most, last - first));
        const Offset at = std::clamp<Offset>(diag - first, -1, MonitorPlan::most);
        add(Piece{first, column, count, static_cast<std::int16_t>(at)});
    }
}

void append(MonitorPlan& plan, const std::vector<Piece>& pieces, int log2_lanes, Kind kind)
{
    const std::size_t each = std::size_t{MonitorPlan::warp} >> log2_lanes;
    for (std::size_t p = 0; p < pieces.size(); p += each) {
        plan.task.push_back(
            {static_cast<std::int32_t>(plan.piece.size()), static_cast<std::int16_t>(log2_lanes), kind});
        const std::size_t end = std::min(p + each, pieces.size());
        plan.piece.insert(plan.piece.end(), &pieces[p], &pieces[p] + (end - p));
        plan.piece.insert(plan.piece.end(), each - (end - p), Piece{});
    }
}

}  // namespace

MonitorPlan monitor_plan(const LuPattern& P)
{
    MonitorPlan        plan;
    Buckets            whole, f;
    std::vector<Piece> parts;
    for (Index k = 0; k < P.n; ++k) {
        const Offset first = P.col_ptr[k], last = P.col_ptr[k + 1], length = last - first;
        const bool   is_long = length > MonitorPlan::most;
        const auto   number = is_long ? static_cast<Index>(plan.long_column.size()) : k;
        auto&        pieces = is_long ? parts : whole[log2_lanes_for(length)];
        cut(first, last, P.diag[k], number, [&](const Piece& piece) { pieces.push_back(piece); });
        if (is_long) plan.long_column.push_back({k, static_cast<std::int32_t>((length - 1) / MonitorPlan::most + 1)});
        cut(P.nnz() + P.f_col_ptr[k], P.nnz() + P.f_col_ptr[k + 1], 0, k,
            [&](const Piece& piece) { f[log2_lanes_for(piece.count)].push_back(piece); });
    }
    append(plan, parts, all_lanes, Kind::part);
    for (int lanes = all_lanes; lanes >= 0; --lanes) append(plan, whole[lanes], lanes, Kind::whole);
    for (int lanes = all_lanes; lanes >= 0; --lanes) append(plan, f[lanes], lanes, Kind::f);
    return plan;
}

}  // namespace ilux
