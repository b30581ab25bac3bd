#include "ilux/sptrsv/chunked_layout.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace ilux {
namespace {

static_assert(sizeof(ChunkTask) == 32);
constexpr Index least_team = 8;  // fewer do not hide the latency of what they load ahead

/// One chunk before anything is known of the others: rows first..first + row.size() − 1 in task order.
struct Chunk {
    Index                  first = 0;
    std::vector<Index>     row;
    std::vector<ChunkTask> tasks;

    std::size_t shared_bytes() const { return chunk_shared_bytes(row.size(), tasks.size()); }
};

template <class T>
Offset length(const CsrMatrix<T>& L, Index i)
{
    return L.row_ptr()[i + 1] - L.row_ptr()[i];
}

/// Steps that a lane takes at once. Four of them make the poll of a thin level slower, so short rows do with two.
template <class T>
int group_of(const CsrMatrix<T>& L)
{
    return L.nnz() > 2 * Offset{L.rows()} ? 4 : 2;
}

/// As few lanes as take a row in one go, `group` entries each [aliaga19 has one entry a lane].
int log2_lanes(Offset length, int group)
{
    const auto lanes = static_cast<std::uint64_t>((length + group - 1) / group);
    return lanes >= 32 ? 5 : std::bit_width(std::bit_ceil(std::max<std::uint64_t>(lanes, 1))) - 1;
}

/// Twice the tasks of a level: one half works while the other looks ahead. A warp more would only poll.
Index team_of(const Chunk& chunk, std::span<const Index> level)
{
    Index levels = 1;
    for (std::size_t k = 1; k < chunk.row.size(); ++k) levels += level[chunk.row[k]] != level[chunk.row[k - 1]];
    return std::max<Index>(least_team, static_cast<Index>(2 * chunk.tasks.size() / levels));
}

/// Rows first..end−1 by (level, length descending), cut into tasks.
template <class T>
Chunk make_chunk(const CsrMatrix<T>& L, std::span<const Index> level, Index first, Index end)
{
    const int group = group_of(L);
    Chunk     chunk{.first = first, .row = std::vector<Index>(end - first), .tasks = {}};
    std::iota(chunk.row.begin(), chunk.row.end(), first);
    std::sort(chunk.row.begin(), chunk.row.end(), [&](Index i, Index j) {
        const Offset li = length(L, i), lj = length(L, j);
        return level[i] != level[j] ? level[i] < level[j] : li != lj ? li > lj : i < j;
    });
    std::int32_t entries = 0;
    for (std::size_t k = 0; k < chunk.row.size();) {
        const Offset      longest = length(L, chunk.row[k]);
        const int         log2_part = log2_lanes(longest, group);
        const std::size_t most = std::min(chunk.row.size(), k + (std::size_t{32} >> log2_part));
        std::size_t       next = k + 1;
        while (next < most && level[chunk.row[next]] == level[chunk.row[k]]) ++next;
        const auto steps = static_cast<std::int32_t>((longest + (1 << log2_part) - 1) >> log2_part);
        chunk.tasks.push_back({.entries = entries,
                               .steps = steps,
                               .first = static_cast<std::int32_t>(k),
                               .rows = static_cast<std::int32_t>(next - k),
                               .log2_part = log2_part,
                               .export_slot = 0,
                               .exported = 0,
                               .asks_others = 0});
        entries += steps;
        k = next;
    }
    return chunk;
}

/// The chunks of rows first..end−1: one, or several where one would need too much shared memory.
template <class T>
void make_fitting_chunks(const CsrMatrix<T>& L, std::span<const Index> level, Index first, Index end,
                         std::size_t shared_bytes, std::vector<Chunk>& chunks)
{
    const bool single = end - first == 1;
    if (single || chunk_shared_bytes(end - first, 0) <= shared_bytes) {
        Chunk chunk = make_chunk(L, level, first, end);
        if (single || chunk.shared_bytes() <= shared_bytes) return chunks.push_back(std::move(chunk));
    }
    const Index middle = first + (end - first) / 2;
    make_fitting_chunks(L, level, first, middle, shared_bytes, chunks);
    make_fitting_chunks(L, level, middle, end, shared_bytes, chunks);
}

/// Rows 0 = bound_0 ≤ bound_1 ≤ … cut so that each part holds an equal share of entries and rows.
template <class T>
std::vector<Index> equal_shares(const CsrMatrix<T>& L, Index parts)
{
    const Index        n = L.rows();
    std::vector<Index> bound{0};
    for (Index part = 1; part < parts; ++part) {
        const Offset share = (L.nnz() + 2 * Offset{n}) * part / parts;
        Index        low = bound.back(), high = n;  // the first row whose work before it reaches the share
        while (low < high) {
            const Index middle = low + (high - low) / 2;
            L.row_ptr()[middle] + 2 * Offset{middle} < share ? low = middle + 1 : high = middle;
        }
        bound.push_back(low);
    }
    bound.push_back(n);
    return bound;
}

template <class T>
std::vector<Chunk> make_chunks(const CsrMatrix<T>& L, std::span<const Index> level, const ChunkedTuning& tuning)
{
    const Index parts = std::clamp<Index>(L.rows() / std::max<Index>(tuning.least_rows, 1), 1, tuning.chunks);
    const auto  bound = equal_shares(L, parts);
    std::vector<std::vector<Chunk>> made(parts);
#pragma omp parallel for schedule(dynamic)
    for (Index part = 0; part < parts; ++part)
        if (bound[part] < bound[part + 1])
            make_fitting_chunks(L, level, bound[part], bound[part + 1], tuning.shared_bytes, made[part]);
    std::vector<Chunk> chunks;
    for (auto& some : made) std::move(some.begin(), some.end(), std::back_inserter(chunks));
    return chunks;
}

/// Where every row went.
struct Places {
    std::vector<Index> chunk, position;  ///< n: position within its chunk
    std::vector<Index> slot;             ///< n: among the exported x, or −1
};

template <class T>
class Assembly {
public:
    Assembly(const CsrMatrix<T>& L, std::vector<Chunk> chunks) : L_(L), chunks_(std::move(chunks))
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
#pragma omp parallel for schedule(dynamic)
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
            out_.shared_bytes = std::max(out_.shared_bytes, chunks_[c].shared_bytes());
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

    const CsrMatrix<T>& L_;
    std::vector<Chunk>  chunks_;
    Places              place_;
    ChunkedLayout<T>    out_;
};

}  // namespace

template <class T>
ChunkedLayout<T> chunked_layout(const CsrMatrix<T>& L, std::span<const Index> level, const ChunkedTuning& tuning)
{
    auto               chunks = make_chunks(L, level, tuning);
    std::vector<Index> team(chunks.size());
    std::transform(chunks.begin(), chunks.end(), team.begin(),
                   [&](const Chunk& chunk) { return team_of(chunk, level); });
    auto layout = Assembly<T>(L, std::move(chunks)).run();
    layout.team = std::move(team);
    layout.group = group_of(L);
    return layout;
}

template ChunkedLayout<double> chunked_layout(const CsrMatrix<double>&, std::span<const Index>, const ChunkedTuning&);
template ChunkedLayout<float>  chunked_layout(const CsrMatrix<float>&, std::span<const Index>, const ChunkedTuning&);

}  // namespace ilux
