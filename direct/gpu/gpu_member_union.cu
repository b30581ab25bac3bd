// The member union made in parallel [islu_24, algorithm 3]: all updates are independent, and so are their entries.
//
// Launch shape: 8 warps a block; a warp looks after 32 entries of L + U in turn, its lanes after the entries of L(:,i).
// Lookup words: a thread an entry. Nobody waits for anybody. Repeatable: bitwise; atomics only add integers and set
// bits.

#include "ilux/direct/gpu/gpu_member_union.hpp"

#include <algorithm>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/gpu/device_sums.hpp"
#include "ilux/direct/gpu/device_updates.hpp"

namespace ilux {
namespace {

using cuda::check;
using cuda::check_launch;

constexpr int      block_size = update_threads;
constexpr unsigned whole_warp = ~0u;

/// Vdata, for those who write it.
struct UnionRoom {
    Offset*        len = nullptr;
    std::uint16_t* plain = nullptr;
    std::uint32_t* wide = nullptr;
    UnionRun*      runs = nullptr;
    UnionWord*     words = nullptr;
};

/// Which lanes begin a run, chunk after chunk of a segment.
class RunStarts {
public:
    __device__ unsigned operator()(Index t, Index position, bool live)
    {
        Index before = __shfl_up_sync(whole_warp, position, 1);
        if (lane_of_warp() == 0) before = last_;
        last_ = __shfl_sync(whole_warp, position, 31);
        return __ballot_sync(whole_warp, live && (t == 0 || position != before + 1));
    }

private:
    Index last_ = -1;
};

__device__ Index runs_of_segment(const LuPatternView& P, Index k, Offset p)
{
    RunStarts starts;
    Index     runs = 0;
    walk_segment(P, k, p, [&](Index t, Index position, bool live) { runs += __popc(starts(t, position, live)); });
    return runs;
}

/// @param runs  n zeros
__global__ void __launch_bounds__(block_size) count_runs_by_column(LuPatternView P, Offset* runs)
{
    each_update(P, [&](Index k, Offset p) {
        const Index count = runs_of_segment(P, k, p);
        if (lane_of_warp() == 0) atomicAdd(reinterpret_cast<unsigned long long*>(runs + k), count);
    });
}

/// len_e ← what segment e has of Vdata
__global__ void __launch_bounds__(block_size) measure_segments(LuPatternView P, UnionView V, Offset* len)
{
    each_update(P, [&](Index k, Offset p) {
        const UnionIndex index = V.index[k];
        if (index > UnionIndex::runs) return;
        const Index i = P.row[p];
        const Index length =
            index == UnionIndex::runs ? runs_of_segment(P, k, p) : static_cast<Index>(P.col_ptr[i + 1] - P.diag[i] - 1);
        if (lane_of_warp() == 0) len[V.first[k] + (p - P.col_ptr[k])] = length;
    });
}

__global__ void __launch_bounds__(block_size) fill_segments(LuPatternView P, UnionView V, UnionRoom to)
{
    each_update(P, [&](Index k, Offset p) {
        const UnionIndex index = V.index[k];
        if (index > UnionIndex::runs) return;
        const Offset at = V.len[V.first[k] + (p - P.col_ptr[k])];
        RunStarts    starts;
        Offset       run = at - V.first_run;
        walk_segment(P, k, p, [&](Index t, Index position, bool live) {
            if (index == UnionIndex::runs) {
                const unsigned begins = starts(t, position, live), mine = 1u << lane_of_warp();
                if (begins & mine)
                    to.runs[run + __popc(begins & (mine - 1))] = {static_cast<std::uint16_t>(t),
                                                                  static_cast<std::uint16_t>(position)};
                run += __popc(begins);
            } else if (live) {
                if (index == UnionIndex::plain) to.plain[at + t] = static_cast<std::uint16_t>(position);
                else to.wide[at - V.first_wide + t] = static_cast<std::uint32_t>(position);
            }
        });
    });
}

/// @param words  zeros
__global__ void __launch_bounds__(block_size) fill_words(LuPatternView P, UnionView V, UnionWord* words)
{
    const Offset p = Offset{blockIdx.x} * block_size + threadIdx.x;
    if (p >= P.nnz) return;
    const Index  k = column_of(P, p);
    const Offset begin = P.col_ptr[k];
    if (V.index[k] != UnionIndex::lookup || P.diag[k] == begin) return;
    const Index row = P.row[p], of_row = row / 32;
    UnionWord&  word = words[V.first[k] + of_row - P.row[begin] / 32];
    atomicOr(&word.bits, 1u << (row % 32));
    if (p == begin || P.row[p - 1] / 32 != of_row) word.before = static_cast<std::uint32_t>(p - begin);
}

unsigned blocks_for(Offset entries) { return static_cast<unsigned>((entries + block_size - 1) / block_size); }

std::vector<Offset> runs_by_column(Gpu& gpu, const LuPatternView& P)
{
    const cuda::Range    range("member union: count runs");
    DeviceBuffer<Offset> runs(P.n);
    count_runs_by_column<<<blocks_for(P.nnz), block_size, 0, cuda::stream(gpu)>>>(P, runs.data());
    check_launch("count_runs_by_column");
    std::vector<Offset> host(P.n);
    download<Offset>(gpu, runs, host);
    return host;
}

void build(Gpu& gpu, const LuPatternView& P, const UnionLayout& layout, const UnionView& V, const UnionRoom& to)
{
    const cuda::Range range("member union: build");
    const auto        stream = cuda::stream(gpu);
    const unsigned    blocks = blocks_for(P.nnz);
    if (layout.segments > 0) {
        measure_segments<<<blocks, block_size, 0, stream>>>(P, V, to.len);
        check_launch("measure_segments");
        add_up(gpu, to.len, layout.segments + 1);
        fill_segments<<<blocks, block_size, 0, stream>>>(P, V, to);
        check_launch("fill_segments");
    }
    if (layout.words > 0) {
        fill_words<<<blocks, block_size, 0, stream>>>(P, V, to.words);
        check_launch("fill_words");
    }
    gpu.synchronize();
}

template <class V>
std::vector<V> downloaded(Gpu& gpu, const V* device, Offset count)
{
    std::vector<V> host(count);
    if (count > 0) detail::download_bytes(gpu, device, host.data(), count * sizeof(V));
    return host;
}

bool all_direct(const UnionPlan& plan)
{
    return std::ranges::all_of(plan.index, [](UnionIndex index) { return index <= UnionIndex::wide; });
}

}  // namespace

GpuMemberUnion::GpuMemberUnion(Gpu& gpu, const GpuLuPattern& pattern, std::size_t limit,
                               std::optional<UnionIndex> forced)
{
    const LuPattern&     host = pattern.host();
    const LuPatternView& P = pattern.view();
    std::vector<Offset>  runs;
    const auto           timed = [this](auto&& work) {
        const WallClock clock;
        work();
        seconds_ += clock.seconds();
    };
    plan_ = plan_union(host, limit, forced);
    if (P.n > 0 && (forced ? *forced == UnionIndex::runs : !all_direct(plan_))) {
        timed([&] { runs = runs_by_column(gpu, P); });
        plan_ = plan_union(host, limit, forced, runs);
    }
    layout_ = layout_union(host, plan_, runs);

    UnionRoom to;
    arrays_.add(plan_.index, view_.index);
    arrays_.add(layout_.first, view_.first);
    arrays_.room(layout_.segments > 0 ? layout_.segments + 1 : 0, to.len);
    arrays_.room(layout_.plain, to.plain);
    arrays_.room(layout_.wide, to.wide);
    arrays_.room(layout_.runs, to.runs);
    arrays_.room(layout_.words, to.words);
    arrays_.upload(gpu);
    view_.first_wide = layout_.plain;
    view_.first_run = layout_.plain + layout_.wide;
    view_.len = to.len;
    view_.plain = to.plain;
    view_.wide = to.wide;
    view_.runs = to.runs;
    view_.words = to.words;
    timed([&] { build(gpu, P, layout_, view_, to); });
}

MemberUnion GpuMemberUnion::download(Gpu& gpu) const
{
    MemberUnion M;
    M.plan = plan_;
    M.layout = layout_;
    M.len = layout_.segments > 0 ? downloaded(gpu, view_.len, layout_.segments + 1) : std::vector<Offset>{0};
    M.plain = downloaded(gpu, view_.plain, layout_.plain);
    M.wide = downloaded(gpu, view_.wide, layout_.wide);
    M.runs = downloaded(gpu, view_.runs, layout_.runs);
    M.words = downloaded(gpu, view_.words, layout_.words);
    return M;
}

}  // namespace ilux
