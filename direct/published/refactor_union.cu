// Left-looking refactorization in place by the member union [islu_24, algorithm 4].
//
// Launch shape: one launch a level of left-looking dependences, a block a column; columns of a level read only columns
// of earlier launches. Terminates: nobody waits but at barriers of a block, which all its threads reach, for what
// decides on them is the same for all. Repeatable: bitwise, for an entry is written by one thread between two barriers,
// by ascending i.

#include "ilux/direct/published/refactor_union.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/gpu/device_delay.hpp"
#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/gpu/device_updates.hpp"

namespace ilux {
namespace {

constexpr unsigned whole_warp = ~0u;
constexpr int      batch = 32;  // updates whose whereabouts are loaded together; a block has at least as many threads
constexpr int      most_threads = 1024;

/// One u_ik: L(:,i), and its segment of Vdata.
struct Update {
    Offset lower;  ///< first entry of L(:,i)
    Offset data;   ///< its first position, or its first run
    Index  count;  ///< entries of L(:,i)
    Index  runs;
};

struct Column {
    Index  k;
    Offset begin;
    Index  entries;
};

template <UnionIndex index>
__device__ Update load_update(const LuPatternView& P, const UnionView& V, const Column& column, Offset p)
{
    const Index i = P.row[p];
    Update      update{P.diag[i] + 1, 0, 0, 0};
    update.count = static_cast<Index>(P.col_ptr[i + 1] - update.lower);
    if constexpr (index <= UnionIndex::runs) {
        const Offset segment = V.first[column.k] + (p - column.begin);
        update.data = V.len[segment];
        if constexpr (index == UnionIndex::runs) update.runs = static_cast<Index>(V.len[segment + 1] - update.data);
        if constexpr (index == UnionIndex::wide) update.data -= V.first_wide;
        if constexpr (index == UnionIndex::runs) update.data -= V.first_run;
    }
    return update;
}

/// By the whole warp, for 32 consecutive t: at most 32 runs reach into them, one a lane.
__device__ Index position_in_runs(const UnionRun* runs, Index count, Index t)
{
    const int   lane = lane_of_warp();
    const Index base = t - lane;
    Index       r = 0;  // the last run that begins at base or before
    for (Index end = count; end - r > 1;) {
        const Index middle = r + (end - r) / 2;
        if (runs[middle].begin <= base) r = middle;
        else end = middle;
    }
    const bool     exists = r + lane < count;
    const UnionRun run = exists ? runs[r + lane] : UnionRun{};
    const Index    begin = lane == 0 ? base : run.begin;  // of run r within these 32
    const unsigned begins =
        __reduce_or_sync(whole_warp, exists && begin < base + 32 ? 1u << static_cast<unsigned>(begin - base) : 0u);
    const int  own = __popc(begins & (whole_warp >> (31 - lane))) - 1;
    const auto position = static_cast<Index>(run.position) - static_cast<Index>(run.begin);
    return __shfl_sync(whole_warp, position, own) + t;
}

/// Where entry t of L(:,i), U(i,k) being entry p, lands in column k. All lanes of the warp call it, with consecutive t;
/// for lanes beyond the last entry it is anything.
template <UnionIndex index>
__device__ Index position_of(const LuPatternView& P, const UnionView& V, const Column& column, const Update& update,
                             Offset p, Index t)
{
    const bool live = t < update.count;
    if constexpr (index == UnionIndex::plain) return live ? V.plain[update.data + t] : 0;
    if constexpr (index == UnionIndex::wide) return live ? static_cast<Index>(V.wide[update.data + t]) : 0;
    if constexpr (index == UnionIndex::runs) return position_in_runs(V.runs + update.data, update.runs, t);
    if constexpr (index >= UnionIndex::lookup) {
        if (!live) return 0;
        const Index row = P.row[update.lower + t];
        if constexpr (index == UnionIndex::search) {  // behind row i and what was before, with room for what follows
            const Index least = static_cast<Index>(p - column.begin) + 1 + t;
            return find_row(P.row + column.begin, least, column.entries - (update.count - t), row);
        }
        const UnionWord word = V.words[V.first[column.k] + row / 32 - P.row[column.begin] / 32];
        return static_cast<Index>(word.before) + __popc(word.bits & ((1u << (row % 32)) - 1));
    }
}

/// x ← x − L(:,i) x_i for i ∈ U(:,k), ascending; x is column k, in place.
/// @param updates  shared by the block: `batch`
template <UnionIndex index, class T>
__device__ void apply_updates(const LuPatternView& P, const UnionView& V, const Column& column, Update* updates, T* val,
                              unsigned delay)
{
    T* const     x = val + column.begin;
    const Offset end = P.diag[column.k];
    const Index  threads = static_cast<Index>(blockDim.x);
    const Index  first = static_cast<Index>(threadIdx.x) - lane_of_warp();
    for (Offset from = column.begin; from < end; from += batch) {
        const int count = static_cast<int>(min(end - from, Offset{batch}));
        __syncthreads();  // the last batch is done with
        if (threadIdx.x < count) updates[threadIdx.x] = load_update<index>(P, V, column, from + threadIdx.x);
        __syncthreads();
        for (int u = 0; u < count; ++u) {
            const Update update = updates[u];
            if (update.count == 0) continue;
            const T x_i = val[from + u];
            for (Index base = first; base < update.count; base += threads) {
                const Index t = base + lane_of_warp();
                const Index at = position_of<index>(P, V, column, update, from + u, t);
                if (t < update.count) x[at] = eliminated(x[at], val[update.lower + t], x_i);
            }
            wait_at_random(delay, static_cast<unsigned>(column.k + 31 * u + first));
            __syncthreads();
        }
    }
}

/// val is read and written in this launch: no __restrict__, no read-only cache.
template <class T>
__global__ void __launch_bounds__(most_threads)
    refactor_level(LuPatternView P, UnionView V, const Index* columns, T* val, unsigned delay)
{
    __shared__ Update updates[batch];
    const Index       k = columns[blockIdx.x];
    const Offset      begin = P.col_ptr[k], diag = P.diag[k], end = P.col_ptr[k + 1];
    const Column      column{k, begin, static_cast<Index>(end - begin)};
    wait_at_random(delay, blockIdx.x);
    switch (V.index[k]) {
        case UnionIndex::plain:
            apply_updates<UnionIndex::plain>(P, V, column, updates, val, delay);
            break;
        case UnionIndex::wide:
            apply_updates<UnionIndex::wide>(P, V, column, updates, val, delay);
            break;
        case UnionIndex::runs:
            apply_updates<UnionIndex::runs>(P, V, column, updates, val, delay);
            break;
        case UnionIndex::lookup:
            apply_updates<UnionIndex::lookup>(P, V, column, updates, val, delay);
            break;
        case UnionIndex::search:
            apply_updates<UnionIndex::search>(P, V, column, updates, val, delay);
            break;
    }
    const Divisor<T> by_pivot(val[diag]);
    for (Offset q = diag + 1 + threadIdx.x; q < end; q += blockDim.x) val[q] = by_pivot(val[q]);
}

/// Columns first … first + count − 1 of LuLevels.
struct Launch {
    Offset first = 0;
    Index  count = 0;
    int    threads = 0;
};

/// Steps that columns take with blocks of 32, 64, …, 1024 threads: a step is up to so many entries of one update.
constexpr int block_sizes = 6;
using Steps = std::array<double, block_sizes>;

Steps steps_of(const LuPattern& P, Index k)
{
    Steps steps{};
    for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
        const Index count = P.lower_count(P.row[p]);
        for (int s = 0; s < block_sizes; ++s) steps[s] += (count + (32 << s) - 1) / (32 << s);
    }
    return steps;
}

/// The blocks with which a level takes the fewest steps in a row: those of its longest column, or all there are, as
/// many blocks at a time as the device has room for. The smallest of equal ones.
int threads_of(const LuPattern& P, std::span<const Index> columns, double device_threads)
{
    Steps longest{}, all{};
    for (const Index k : columns) {
        const Steps steps = steps_of(P, k);
        for (int s = 0; s < block_sizes; ++s) {
            longest[s] = std::max(longest[s], steps[s]);
            all[s] += steps[s];
        }
    }
    int        best = 0;
    const auto cost = [&](int s) { return std::max(longest[s], all[s] * (32 << s) / device_threads); };
    for (int s = 1; s < block_sizes; ++s)
        if (cost(s) < cost(best)) best = s;
    return 32 << best;
}

std::vector<Launch> launches_of(const LuPattern& P, const LuLevels& levels, double device_threads)
{
    std::vector<Launch> launches;
    for (Index l = 0; l < levels.depth(); ++l) {
        const Offset first = levels.level_ptr[l];
        const auto   count = static_cast<Index>(levels.level_ptr[l + 1] - first);
        launches.push_back(
            {first, count, threads_of(P, std::span(levels.column).subspan(first, count), device_threads)});
    }
    return launches;
}

double threads_of_device(Gpu& gpu)
{
    int threads = 0;
    cuda::check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, gpu.device()),
                "cudaDeviceGetAttribute");
    return static_cast<double>(threads) * gpu.state().multiprocessors;
}

}  // namespace

template <Scalar S>
struct UnionRefactor<S>::State {
    State(Gpu& gpu, std::shared_ptr<const GpuLuPattern> given, const UnionTuning& tuning,
          const detail::KernelTrial& trial)
        : pattern(std::move(given)),
          members(gpu, *pattern, tuning.memory_limit > 0 ? tuning.memory_limit : gpu_memory(gpu.device()).free / 4,
                  tuning.forced),
          delay(trial.delay)
    {
        const LuLevels levels = lu_levels(pattern->host(), DependencyRule::left);
        launches = launches_of(pattern->host(), levels, threads_of_device(gpu));
        arrays.add(levels.column, columns);
        arrays.upload(gpu);
    }

    void launch(Gpu& gpu, S* val) const
    {
        const auto stream = cuda::stream(gpu);
        for (const Launch& level : launches) {
            refactor_level<<<level.count, level.threads, 0, stream>>>(pattern->view(), members.view(),
                                                                      columns + level.first, cuda::as_values(val),
                                                                      delay);
            cuda::check_launch("refactor_level");
        }
    }

    std::shared_ptr<void>               graph;  // the last to go: freeing the arrays waits for its launches
    S*                                  graph_val = nullptr;
    std::shared_ptr<const GpuLuPattern> pattern;
    GpuMemberUnion                      members;
    DeviceArrays                        arrays;
    const Index*                        columns = nullptr;
    std::vector<Launch>                 launches;
    unsigned                            delay;
};

template <Scalar S>
UnionRefactor<S>::UnionRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const UnionTuning& tuning,
                                const detail::KernelTrial& trial)
    : state_(std::make_unique<State>(gpu, std::move(pattern), tuning, trial))
{}
template <Scalar S>
UnionRefactor<S>::~UnionRefactor() = default;
template <Scalar S>
UnionRefactor<S>::UnionRefactor(UnionRefactor&&) noexcept = default;
template <Scalar S>
UnionRefactor<S>& UnionRefactor<S>::operator=(UnionRefactor&&) noexcept = default;

template <Scalar S>
void UnionRefactor<S>::run(Gpu& gpu, DeviceSpan<S> val)
{
    State& s = *state_;
    require(val.size() >= s.pattern->entries(), [&] {
        return "room for " + std::to_string(val.size()) + " entries where the pattern has " +
               std::to_string(s.pattern->entries());
    });
    if (s.launches.empty()) return;
    const cuda::Range range("islu");
    if (cuda::capturing(cuda::stream(gpu))) return s.launch(gpu, val.data());
    if (!s.graph || s.graph_val != val.data()) {
        if (s.graph) gpu.synchronize();
        s.graph = cuda::capture_graph(gpu, [&] { s.launch(gpu, val.data()); });
        s.graph_val = val.data();
    }
    if (s.graph) cuda::launch_graph(gpu, s.graph);
    else s.launch(gpu, val.data());
}

template <Scalar S>
const GpuMemberUnion& UnionRefactor<S>::members() const
{
    return state_->members;
}
template <Scalar S>
const UnionPlan& UnionRefactor<S>::plan() const
{
    return state_->members.plan();
}
template <Scalar S>
double UnionRefactor<S>::build_seconds() const
{
    return state_->members.seconds();
}
template <Scalar S>
std::size_t UnionRefactor<S>::bytes() const
{
    return state_->members.bytes() + state_->arrays.bytes();
}

#define ILUX_INSTANTIATE(S) template class UnionRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
