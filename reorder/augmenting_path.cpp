#include "ilux/reorder/augmenting_path.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "ilux/base/tasks.hpp"

namespace ilux {

PathSearch::Met& PathSearch::slot_of(Index column)
{
    const std::size_t mask = met_.size() - 1;
    std::size_t       k = static_cast<std::uint32_t>(column) * std::uint64_t{0x9e3779b97f4a7c15} >> 32 & mask;
    while (met_[k].search == search_ && met_[k].column != column) k = (k + 1) & mask;
    return met_[k];
}

void PathSearch::grow()
{
    std::vector<Met> old(2 * met_.size());
    std::swap(old, met_);
    for (const Met& m : old)
        if (m.search == search_) slot_of(m.column) = m;
}

void PathSearch::begin()
{
    ++search_;
    met_count_ = 0;
    stack_.clear();
    heap_.clear();
    nearest_ = {};
    foreign_ = std::numeric_limits<double>::infinity();
}

/// Shortens the distances of the row's columns, of which those up to `tied` need no heap.
void PathSearch::scan(Index row, double base, double tied)
{
    scanned_ += static_cast<double>(a_.row_ptr[row + 1] - a_.row_ptr[row]);
    step_();
    for (Offset p = a_.row_ptr[row]; p < a_.row_ptr[row + 1]; ++p) {
        const Index               j = a_.col[p];
        const Assignment::Column& c = a_.column[j];
        if (c.owner == Assignment::closed) continue;
        const bool   is_foreign = owner_ != Assignment::no_one && c.owner != owner_;
        const double v = is_foreign ? v_before_[j] : c.v;
        const double distance = base + std::max(0.0, a_.cost[p] - a_.u[row] - v);
        if (is_foreign) foreign_ = std::min(foreign_, distance);
        if (is_foreign || !(distance < nearest_.distance)) continue;
        if (c.row < 0) {
            nearest_ = {row, p, distance};
            continue;
        }
        Met* m = &slot_of(j);
        if (m->search != search_) {
            if (2 * ++met_count_ > met_.size()) {
                grow();
                m = &slot_of(j);
            }
        } else if (m->final || !(distance < m->distance)) {
            continue;
        }
        *m = {.column = j, .search = search_, .row = row, .entry = p, .distance = distance};
        if (distance <= tied) {
            stack_.push_back(j);
        } else {
            heap_.emplace_back(distance, j);
            std::ranges::push_heap(heap_, std::greater{});
        }
    }
}

/// The next column by distance. The heap may hold it at older distances, too, which are found final.
/// @param lowest  the last distance from the heap
/// @return whether there is one before the nearest free column
bool PathSearch::next(double& lowest, Index& column)
{
    if (!(nearest_.distance > lowest + a_.tie) || foreign_ <= lowest) return false;
    if (!stack_.empty()) {
        column = stack_.back();
        stack_.pop_back();
        return true;
    }
    if (heap_.empty() || !(heap_.front().first < nearest_.distance)) return false;
    column = heap_.front().second;
    std::ranges::pop_heap(heap_, std::greater{});
    heap_.pop_back();
    if (const Met& m = slot_of(column); !m.final) lowest = m.distance;
    return true;
}

/// The steps back from the nearest free column.
void PathSearch::trace(Index row, AugmentingPath& path)
{
    path.length = nearest_.distance;
    path.steps.push_back({nearest_.row, nearest_.entry});
    while (path.steps.back().row != row) {
        const Met& m = slot_of(a_.col[a_.entry_of_row[path.steps.back().row]]);
        path.steps.push_back({m.row, m.entry});
    }
}

AugmentingPath PathSearch::from(Index row, double most_entries)
{
    begin();
    AugmentingPath path;
    const double   most = scanned_ + most_entries;
    double         lowest = 0;
    scan(row, 0, a_.tie);
    for (Index j; next(lowest, j);) {
        Met& m = slot_of(j);
        if (m.final) continue;
        if (scanned_ > most) return path;
        m.final = true;
        path.settled.push_back({j, m.distance});
        scan(a_.column[j].row, m.distance, lowest + a_.tie);
    }
    if (foreign_ < nearest_.distance) path.end = PathEnd::foreign;
    else path.end = nearest_.row >= 0 ? PathEnd::free_column : PathEnd::closed;
    if (path.end == PathEnd::free_column) trace(row, path);
    return path;
}

void augment(Assignment& a, const AugmentingPath& path)
{
    for (const auto& [row, entry] : path.steps) a.match(row, entry);
    for (const auto& [column, distance] : path.settled) a.column[column].v += std::min(0.0, distance - path.length);
    for (const auto& settled : path.settled) a.make_tight(a.column[settled.column].row);
    a.make_tight(path.steps.front().row);
}

namespace {

constexpr Index block_length = 64;

/// The region of each block of unknowns, and how many there are.
struct Regions {
    std::vector<Index> of_block;
    Index              count = 0;

    Index of(Index unknown) const { return of_block[unknown / block_length]; }
};

/// From the first block without one a region grows over the entries of rows, nearest first, until it has a share of the
/// free rows. Blocks, since a region of theirs is found in one sequential pass over the pattern.
Regions grown_regions(const Assignment& a, std::span<const Index> free_rows)
{
    const auto  share = static_cast<Index>(std::clamp<std::size_t>(free_rows.size() / 64, 64, 1024));
    const Index blocks = (a.rows() + block_length - 1) / block_length;

    Regions            regions{.of_block = std::vector<Index>(blocks, -1)};
    std::vector<Index> free_in_block(blocks, 0), queue;
    for (const Index i : free_rows) ++free_in_block[i / block_length];
    const auto take = [&](Index block) {
        if (regions.of_block[block] >= 0) return;
        regions.of_block[block] = regions.count;
        queue.push_back(block);
    };
    for (Index first = 0; first < blocks; ++first) {
        if (regions.of_block[first] >= 0) continue;
        queue.clear();
        take(first);
        Index have = 0;
        for (std::size_t k = 0; k < queue.size() && have < share; ++k) {
            const Index begin = queue[k] * block_length, end = begin + std::min(block_length, a.rows() - begin);
            have += free_in_block[queue[k]];
            for (Offset p = a.row_ptr[begin]; p < a.row_ptr[end]; ++p) take(a.col[p] / block_length);
        }
        ++regions.count;
    }
    return regions;
}

/// Each region augments from its own rows over its own columns. @param most  entries to scan  @return those scanned
double augment_regions(Assignment& a, std::span<const Index> rows, double most, const StopToken& stop)
{
    const double        most_entries = std::min(4096., most / static_cast<double>(rows.size()));
    const auto          regions = grown_regions(a, rows);
    std::vector<double> v_before(a.rows()), scanned(regions.count, 0);
    for_pieces(a.rows(), [&](Index, Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            v_before[j] = a.column[j].v;
            a.column[j].owner = regions.of(j);
        }
    });
    std::vector<std::vector<Index>> rows_of(regions.count);
    for (const Index i : rows) rows_of[regions.of(i)].push_back(i);
    for_tasks(regions.count, [&](Index region) {
        stop.check();
        PathSearch search(a, stop, region, v_before);
        for (const Index i : rows_of[region]) {
            const auto path = search.from(i, most_entries);
            if (path.end == PathEnd::free_column) augment(a, path);
        }
        scanned[region] = search.scanned();
    });
    return std::accumulate(scanned.begin(), scanned.end(), 0.);
}

}  // namespace

std::vector<Index> augment_in_regions(Assignment& a, std::vector<Index> rows, double& scanned, double most,
                                      const StopToken& stop)
{
    constexpr std::size_t few = 512;
    for (std::size_t before = 2 * rows.size(); rows.size() >= few && 2 * rows.size() <= before && scanned <= most;) {
        before = rows.size();
        scanned += augment_regions(a, rows, most - scanned, stop);
        std::erase_if(rows, [&](Index i) { return a.entry_of_row[i] >= 0; });
    }
    return rows;
}

}  // namespace ilux
