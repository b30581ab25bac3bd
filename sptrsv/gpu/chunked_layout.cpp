#include "ilux/sptrsv/gpu/chunked_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/sptrsv/gpu/long_rows.hpp"

namespace ilux {
namespace {

static_assert(sizeof(ChunkTask) == 32);
constexpr Index least_team = 8;  // fewer warps do not hide the latency of what they load ahead

/// One chunk before anything is known of the others: its rows in the order of its tasks.
struct Chunk {
    std::vector<Index>     row;
    std::vector<ChunkTask> tasks;

    template <class T>
    std::size_t shared_bytes() const
    {
        return chunk_shared_bytes(row.size(), tasks.size(), sizeof(working_of<T>));
    }
};

template <class T>
Offset length(const CsrView<T>& L, Index i)
{
    return L.row_ptr()[i + 1] - L.row_ptr()[i];
}

Index levels_in(const Chunk& chunk, std::span<const Index> level)
{
    Index count = 1;
    for (std::size_t k = 1; k < chunk.row.size(); ++k) count += level[chunk.row[k]] != level[chunk.row[k - 1]];
    return count;
}

/// Rows first..end−1 by (level, class descending), each class cut into tasks.
template <class T>
Chunk make_chunk(const CsrView<T>& L, std::span<const Index> level, Index first, Index end)
{
    const int  group = group_of(L.rows(), L.nnz());
    const auto log2 = [&](Index i) { return log2_lanes(length(L, i), group); };
    Chunk      chunk{.row = std::vector<Index>(end - first), .tasks = {}};
    std::iota(chunk.row.begin(), chunk.row.end(), first);
    std::sort(chunk.row.begin(), chunk.row.end(), [&](Index i, Index j) {
        if (level[i] != level[j]) return level[i] < level[j];
        return log2(i) != log2(j) ? log2(i) > log2(j) : i < j;
    });
    std::int32_t entries = 0;
    for (std::size_t k = 0; k < chunk.row.size();) {
        const Index first_row = chunk.row[k];
        ChunkTask   task{.entries = entries,
                         .steps = 0,
                         .first = static_cast<std::int32_t>(k),
                         .rows = 0,
                         .log2_part = log2(first_row),
                         .export_slot = 0,
                         .exported = 0,
                         .asks_others = 0};
        for (; k < chunk.row.size() && task.rows < 32 >> task.log2_part; ++k, ++task.rows) {
            const Index i = chunk.row[k];
            if (level[i] != level[first_row] || log2(i) != task.log2_part) break;
            const Offset steps = (length(L, i) + (1 << task.log2_part) - 1) >> task.log2_part;
            task.steps = std::max(task.steps, static_cast<std::int32_t>(steps));
        }
        entries += task.steps;
        chunk.tasks.push_back(task);
    }
    return chunk;
}

/// The chunks of rows first..end−1: one, or several where one would need too much shared memory.
template <class T>
void make_fitting_chunks(const CsrView<T>& L, std::span<const Index> level, Index first, Index end,
                         std::size_t shared_bytes, std::vector<Chunk>& chunks)
{
    Chunk chunk = make_chunk(L, level, first, end);
    if (end - first == 1 || chunk.shared_bytes<T>() <= shared_bytes) return chunks.push_back(std::move(chunk));
    const Index middle = first + (end - first) / 2;
    make_fitting_chunks(L, level, first, middle, shared_bytes, chunks);
    make_fitting_chunks(L, level, middle, end, shared_bytes, chunks);
}

/// Rows 0 = bound_0 ≤ bound_1 ≤ … cut so that each part holds an equal share of entries and rows.
std::vector<Index> equal_shares(std::span<const Offset> row_ptr, Index parts)
{
    const auto         n = static_cast<Index>(row_ptr.size()) - 1;
    const Offset       work = row_ptr[n] + 2 * Offset{n};
    std::vector<Index> bound{0};
    for (Index part = 1; part < parts; ++part) {
        const Offset share = work / parts * part + work % parts * part / parts;
        Index        low = bound.back(), high = n;  // the first row whose work before it reaches the share
        while (low < high) {
            const Index middle = low + (high - low) / 2;
            row_ptr[middle] + 2 * Offset{middle} < share ? low = middle + 1 : high = middle;
        }
        bound.push_back(low);
    }
    bound.push_back(n);
    return bound;
}

template <class T>
std::vector<Chunk> make_chunks(const CsrView<T>& L, std::span<const Index> level, const ChunkedTuning& tuning)
{
    const auto                      bound = chunk_bounds(L.row_ptr(), tuning, sizeof(working_of<T>));
    const auto                      parts = static_cast<std::ptrdiff_t>(bound.size()) - 1;
    std::vector<std::vector<Chunk>> made(parts);
    RegionFailure                   failure;
#pragma omp parallel for schedule(dynamic) num_threads(Cpu().team())
    for (std::ptrdiff_t part = 0; part < parts; ++part)
        failure.run(
            [&] { make_fitting_chunks(L, level, bound[part], bound[part + 1], tuning.shared_bytes, made[part]); });
    failure.rethrow();
    std::vector<Chunk> chunks;
    for (auto& some : made) std::move(some.begin(), some.end(), std::back_inserter(chunks));
    return chunks;
}

/// Where every row went.
struct RowPlaces {
    std::vector<Index> chunk, position;  ///< n: position within its chunk
    std::vector<Index> slot;             ///< n: among the exported x, or −1
};

template <class T>
class Assembly {
public:
    Assembly(const CsrView<T>& L, std::vector<Chunk> chunks) : L_(L), chunks_(std::move(chunks))
    {
        const auto n = static_cast<std::size_t>(L_.rows());
        place_ = {std::vector<Index>(n), std::vector<Index>(n), std::vector<Index>(n, -1)};
        out_.chunk_ptr.assign(1, 0);
        out_.task_ptr.assign(1, 0);
        out_.row.resize(n);
    }

    ChunkedLayout<T> run()
    {
        place_rows();
        export_rows();
        const Offset steps = number_entries();
        out_.source.resize(32 * steps);
        out_.val.assign(32 * steps, T{0});
        const auto chunks = static_cast<std::ptrdiff_t>(chunks_.size());
#pragma omp parallel for schedule(dynamic) num_threads(Cpu().team())
        for (std::ptrdiff_t c = 0; c < chunks; ++c)
            for (Index t = out_.task_ptr[c]; t < out_.task_ptr[c + 1]; ++t)
                fill_entries(static_cast<Index>(c), out_.tasks[t]);
        return std::move(out_);
    }

private:
    void place_rows()
    {
        for (std::size_t c = 0; c < chunks_.size(); ++c) {
            const auto& row = chunks_[c].row;
            for (std::size_t k = 0; k < row.size(); ++k) {
                place_.chunk[row[k]] = static_cast<Index>(c);
                place_.position[row[k]] = static_cast<Index>(k);
                out_.row[out_.chunk_ptr[c] + k] = row[k];
            }
            out_.chunk_ptr.push_back(out_.chunk_ptr[c] + static_cast<Index>(row.size()));
            out_.task_ptr.push_back(out_.task_ptr[c] + static_cast<Index>(chunks_[c].tasks.size()));
            out_.shared_bytes = std::max(out_.shared_bytes, chunks_[c].template shared_bytes<T>());
        }
    }

    /// Slots go to the rows that other chunks read, in the order of positions.
    void export_rows()
    {
        const Index       n = L_.rows();
        std::vector<char> read(n, 0);
        for (Index i = 0; i < n; ++i)
            for (Offset p = L_.row_ptr()[i]; p < L_.row_ptr()[i + 1]; ++p)
                if (place_.chunk[L_.col()[p]] != place_.chunk[i]) read[L_.col()[p]] = 1;
        for (const Index i : out_.row)
            if (read[i]) place_.slot[i] = out_.slots++;
    }

    /// Tasks get their entries one after another over all chunks. Returns the number of steps.
    Offset number_entries()
    {
        Offset steps = 0;
        Index  slot = 0;
        for (const auto& chunk : chunks_)
            for (ChunkTask task : chunk.tasks) {
                task.entries = static_cast<std::int32_t>(steps);
                steps += task.steps;
                require(steps <= std::numeric_limits<std::int32_t>::max(), [&] {
                    return fmt::format("chunked: {} entries make over 2147483647 steps of 32; take another engine",
                                       L_.nnz());
                });
                task.export_slot = slot;
                for (std::int32_t r = 0; r < task.rows; ++r)
                    if (place_.slot[chunk.row[task.first + r]] >= 0) {
                        task.exported |= 1u << r;
                        ++slot;
                    }
                out_.tasks.push_back(task);
            }
        return steps;
    }

    void fill_entries(Index c, ChunkTask& task)
    {
        const Index  part = Index{1} << task.log2_part;
        const Offset base = 32 * Offset{task.entries};
        const Index  zero = out_.chunk_ptr[c + 1] - out_.chunk_ptr[c];
        std::fill_n(out_.source.begin() + base, 32 * Offset{task.steps}, zero);
        for (Index r = 0; r < task.rows; ++r) {
            const Index i = out_.row[out_.chunk_ptr[c] + task.first + r];
            for (Offset p = L_.row_ptr()[i], e = 0; p < L_.row_ptr()[i + 1]; ++p, ++e) {
                const Index  j = L_.col()[p];
                const Offset at = base + 32 * (e / part) + r * part + e % part;
                out_.source[at] = place_.chunk[j] == c ? place_.position[j] : -1 - place_.slot[j];
                out_.val[at] = L_.val()[p];
                task.asks_others |= place_.chunk[j] != c;
            }
        }
    }

    const CsrView<T>&  L_;
    std::vector<Chunk> chunks_;
    RowPlaces          place_;
    ChunkedLayout<T>   out_;
};

template <class T>
ChunkedLayout<T> layout_of_split(const CsrView<T>& L, const ChunkedTuning& tuning)
{
    const auto         level = levels(L);
    auto               chunks = make_chunks(L, level, tuning);
    std::vector<Index> team(chunks.size());
    std::transform(chunks.begin(), chunks.end(), team.begin(), [&](const Chunk& chunk) {
        return team_of(static_cast<Index>(chunk.tasks.size()), levels_in(chunk, level));
    });
    auto layout = Assembly<T>(L, std::move(chunks)).run();
    layout.team = std::move(team);
    layout.group = group_of(L.rows(), L.nnz());
    layout.depth = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1;
    return layout;
}

}  // namespace

int log2_lanes(Offset length, int group)
{
    const auto lanes = static_cast<std::uint64_t>((length + group - 1) / group);
    return lanes >= 32 ? 5 : std::bit_width(std::bit_ceil(std::max<std::uint64_t>(lanes, 1))) - 1;
}

int group_of(Index n, Offset nnz) { return nnz > 2 * Offset{n} ? 4 : 2; }

Index team_of(Index tasks, Index levels)
{
    return static_cast<Index>(std::max<Offset>(least_team, 2 * Offset{tasks} / levels));
}

std::vector<Index> halved(std::span<const Index> chunk_ptr, const std::vector<bool>& fits)
{
    std::vector<Index> finer;
    for (std::size_t c = 0; c + 1 < chunk_ptr.size(); ++c) {
        const Index first = chunk_ptr[c], rows = chunk_ptr[c + 1] - first;
        finer.push_back(first);
        if (!fits[c] && rows > 1) finer.push_back(first + rows / 2);
    }
    finer.push_back(chunk_ptr.back());
    return finer.size() == chunk_ptr.size() ? std::vector<Index>() : finer;
}

std::vector<Index> chunk_bounds(std::span<const Offset> row_ptr, const ChunkedTuning& tuning, std::size_t value_bytes)
{
    const auto  n = static_cast<Index>(row_ptr.size()) - 1;
    const Index parts = std::clamp<Index>(n / std::max<Index>(tuning.least_rows, 1), 1, std::max(tuning.chunks, 1));
    auto        bound = equal_shares(row_ptr, parts);
    bound.erase(std::unique(bound.begin(), bound.end()), bound.end());
    for (auto finer = bound; !finer.empty();) {
        bound = std::move(finer);
        std::vector<bool> fits;
        for (std::size_t c = 0; c + 1 < bound.size(); ++c)
            fits.push_back(chunk_shared_bytes(bound[c + 1] - bound[c], 0, value_bytes) <= tuning.shared_bytes);
        finer = halved(bound, fits);
    }
    return bound;
}

template <class T>
ChunkedLayout<T> chunked_layout(const CsrView<T>& L, const ChunkedTuning& tuning)
{
    if (longest_row(L.row_ptr()) <= tuning.longest) return layout_of_split(L, tuning);
    const auto split = split_long_rows(L, tuning.longest, tuning.segment);
    auto       layout = layout_of_split(split.L, tuning);
    for (Index& i : layout.row) i = split.row[i];
    return layout;
}

#define ILUX_INSTANTIATE(T) template ChunkedLayout<T> chunked_layout(const CsrView<T>&, const ChunkedTuning&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
