// From a forward system to chunks on the device. The host finds long rows and the bounds of chunks; the device orders
// rows and counts tasks (chunked_order.cu) while values and frame are on their way; then it fills the arrays that
// solves read.

#include <bit>
#include <limits>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/sptrsv/gpu/chunked_analysis.hpp"
#include "ilux/sptrsv/gpu/chunked_order.hpp"
#include "ilux/sptrsv/gpu/long_rows.hpp"

namespace ilux {
namespace {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int blocks_a_chunk = 8;

/// Times as many chunks as the first try has are enough: their x fits the shared memory, and tasks, one a row at most,
/// add four times that. So three halvings do, or single rows where chunks had 16 and less.
constexpr Offset more_chunks = 16;

/// A thread of the device passes 4 entries of a row in a turn, and the host one in a nanosecond or two. So the host
/// finds levels where rows are longer than this, as in factors of an LU.
constexpr Index long_for_a_thread = 64;

/// Views show our arrays as constant; those that fill them may write.
template <class V>
__host__ __device__ V* writable(const V* array)
{
    return const_cast<V*>(array);
}

/// Entries of the tasks of chunk blockIdx.x, a warp to a task: each lane its own, as ChunkTask says.
template <class T>
__global__ void __launch_bounds__(block_size)
    fill_entries(OrderView v, const T* val_of_L, const Index* task_ptr, const ChunkTask* tasks, Index* source, T* val)
{
    const Index c = blockIdx.x, first = v.chunk_ptr[c], rows = v.chunk_ptr[c + 1] - first;
    const int   lane = threadIdx.x % 32;
    for (Index t = task_ptr[c] + static_cast<Index>(blockIdx.y * warps + threadIdx.x / 32); t < task_ptr[c + 1];
         t += blocks_a_chunk * warps) {
        const ChunkTask task = tasks[t];
        const int       part = 1 << task.log2_part, r = lane >> task.log2_part;
        Offset          p = 0, end = 0;
        if (r < task.rows) {
            const Index i = v.order[first + task.first + r];
            p = v.row_ptr[i] + (lane & (part - 1));
            end = v.row_ptr[i + 1];
        }
        for (Index s = 0; s < task.steps; ++s, p += part) {
            Index from = rows;  // the chunk's constant 0
            T     a{};
            if (p < end) {
                const Index    j = v.col[p];
                const RowPlace place = v.place[j];
                from = j >= first ? place.position : -1 - place.slot;
                a = val_of_L[p];
            }
            const std::size_t at = 32 * (static_cast<std::size_t>(task.entries) + s) + lane;
            source[at] = from;
            val[at] = a;
        }
    }
}

/// to ← from, by positions. @param row  of each row of L the row of the system, −1 for a partial sum; null: the same
template <class S>
__global__ void __launch_bounds__(block_size)
    fill_frame(Index n, const Index* order, const Index* row, FrameView<S> from, FrameView<S> to)
{
    const std::size_t s = blockIdx.x * std::size_t{block_size} + threadIdx.x;
    if (s >= n) return;
    const Index i = row ? row[order[s]] : order[s];
    const auto  index = [&](const Index* of_row) { return i < 0 ? -1 : of_row ? of_row[i] : i; };
    const auto  scale = [&](const auto* of_row) {
        return i < 0 ? cuda::from_real<std::decay_t<decltype(*of_row)>>(1) : of_row[i];
    };
    writable(to.in_index)[s] = index(from.in_index);
    writable(to.out_index)[s] = index(from.out_index);
    if (to.in_scale) writable(to.in_scale)[s] = scale(from.in_scale);
    if (to.out_scale) writable(to.out_scale)[s] = scale(from.out_scale);
    if (to.inv_diag) writable(to.inv_diag)[s] = scale(from.inv_diag);
}

/// The values of L and the frame, by rows, on the device.
template <class T>
struct Given {
    using S = working_of<T>;
    const T*     val = nullptr;
    const Index* row = nullptr;  // of a split system
    FrameView<S> frame;

    /// sends(host array, device pointer) for each of them
    template <class Send>
    void each(const ForwardSystem<T>& system, const CsrView<T>& L, const std::vector<Index>& row_of, Send send)
    {
        send(L.val(), val);
        send(std::span<const Index>(row_of), row);
        send(std::span<const Index>(system.frame.in_index), frame.in_index);
        send(std::span<const double>(system.frame.in_scale), frame.in_scale);
        send(std::span<const Index>(system.frame.out_index), frame.out_index);
        send(std::span<const S>(system.frame.out_scale), frame.out_scale);
        send(std::span<const S>(system.inv_diag), frame.inv_diag);
    }
};

/// One analysis: a system, L with its long rows split, and what becomes of them.
template <class T>
class Analysis {
public:
    Analysis(Gpu& gpu, const ForwardSystem<T>& system, const ChunkedTuning& tuning)
        : gpu_(gpu), system_(system), tuning_(tuning)
    {
        const Index longest = longest_row(system.L.row_ptr());
        made_.facts.n = system.size();
        made_.facts.nnz = system.L.nnz();
        made_.facts.longest_row = longest;
        if (longest > tuning.longest) split_ = split_long_rows(system.L, tuning.longest, tuning.segment);
        made_.group = group_of(L().rows(), L().nnz());
    }

    bool fits_device() const
    {
        return L().nnz() + L().rows() <= std::numeric_limits<Index>::max() &&
               longest_row(L().row_ptr()) <= ChunkOrder::most_entries;
    }

    DeviceChunks<T> on_host()
    {
        const auto layout = chunked_layout(system_.L, tuning_);
        const auto frame = frame_by_position(system_.frame, layout.row);
        const auto inv_diag = inv_diag_by_position(system_.inv_diag, layout.row);
        auto&      view = made_.view;
        made_.arrays = {};
        made_.chunks = layout.chunks();
        made_.slots = layout.slots;
        made_.shared_bytes = layout.shared_bytes;
        made_.facts.depth = layout.depth;
        made_.entries = layout.val.size();
        made_.positions = layout.row.size();
        made_.arrays.add(layout.chunk_ptr, view.chunk_ptr);
        made_.arrays.add(layout.task_ptr, view.task_ptr);
        made_.arrays.add(layout.team, view.team);
        made_.arrays.add(layout.tasks, view.tasks);
        made_.arrays.add(layout.source, view.source);
        made_.arrays.add(layout.val, view.val);
        add(made_.arrays, frame, inv_diag, view.frame);
        made_.seconds.host += clock_.lap();
        made_.arrays.upload(gpu_);
        made_.seconds.upload += clock_.lap();
        return std::move(made_);
    }

    DeviceChunks<T> on_device(WideLevels wide)
    {
        order_on_device(wide);
        made_.seconds.device += clock_.lap();
        return std::move(made_);
    }

private:
    const CsrView<T>& L() const { return split_.row.empty() ? system_.L : split_.L; }

    bool host_finds_levels() const
    {
        return made_.facts.longest_row > long_for_a_thread && L().nnz() <= tuning_.host_levels;
    }

    void order_on_device(WideLevels wide)
    {
        std::vector<Index> level;
        if (host_finds_levels()) level = levels(L());
        chunk_ptr_ = chunk_bounds(L().row_ptr(), tuning_, sizeof(working_of<T>));
        const auto chunks = static_cast<Offset>(chunk_ptr_.size()) - 1;
        const auto most_chunks = static_cast<Index>(std::min<Offset>(L().rows(), more_chunks * chunks));
        made_.seconds.host += clock_.lap();
        DeviceArrays scratch;
        ChunkOrder   order(gpu_, scratch, L().row_ptr(), L().col(), most_chunks);
        given_ = {};
        given_.each(system_, L(), split_.row, [&](auto host, auto& device) { scratch.room(host.size(), device); });
        scratch.upload(gpu_);
        order.upload(gpu_, L().row_ptr(), L().col());
        order.set_chunks(gpu_, chunk_ptr_);
        made_.seconds.upload += clock_.lap();
        if (level.empty()) order.find_levels(gpu_);
        else order.take_levels(gpu_, std::move(level));
        order.sort(gpu_);
        made_.seconds.device += clock_.lap();
        send_given();
        made_.seconds.upload += clock_.lap();
        made_.facts.depth = order.depth(gpu_);
        if (wide == WideLevels::give_up && choose_engine(made_.facts) != GpuSpTrsvEngine::chunked) {
            if (split_.row.empty()) made_.level = order.levels(gpu_);
            return;
        }
        while (!take_totals(order.totals(gpu_))) {
            ILUX_ASSERT(chunk_ptr_.size() <= most_chunks + std::size_t{1});
            order.set_chunks(gpu_, chunk_ptr_);
            order.sort(gpu_);
        }
        fill(order);
    }

    /// Beside the stream of the analysis, which has kernels to run meanwhile.
    void send_given()
    {
        given_.each(system_, L(), split_.row, [&](auto host, auto& device) {
            if (!host.empty()) cuda::upload(cudaStreamPerThread, host.data(), writable(device), host.size_bytes());
        });
    }

    /// Keeps what is known of chunks that fit, all of them. Otherwise halves those that do not.
    bool take_totals(const std::vector<ChunkTally>& totals)
    {
        made_.chunks = static_cast<Index>(chunk_ptr_.size()) - 1;
        made_.slots = totals.back().slots;
        made_.shared_bytes = 0;
        task_ptr_.assign(1, 0);
        team_.clear();
        std::vector<bool> fits;
        for (Index c = 0; c < made_.chunks; ++c) {
            const Index tasks = totals[c + 1].tasks - totals[c].tasks, levels = totals[c + 1].levels - totals[c].levels;
            const auto  bytes = chunk_shared_bytes(chunk_ptr_[c + 1] - chunk_ptr_[c], tasks, sizeof(working_of<T>));
            fits.push_back(bytes <= tuning_.shared_bytes);
            made_.shared_bytes = std::max(made_.shared_bytes, bytes);
            task_ptr_.push_back(totals[c + 1].tasks);
            team_.push_back(team_of(tasks, levels));
        }
        steps_ = totals.back().steps;
        auto finer = halved(chunk_ptr_, fits);
        if (finer.empty()) return true;
        chunk_ptr_ = std::move(finer);
        return false;
    }

    /// The arrays of solves, and what stands in them.
    void fill(ChunkOrder& order)
    {
        const cuda::Range range("chunked: fill");
        const auto        stream = cuda::stream(gpu_);
        const std::size_t n = L().rows(), entries = 32 * static_cast<std::size_t>(steps_);
        auto&             view = made_.view;
        const auto        like = [&](const auto* given, auto& made) { made_.arrays.room(given ? n : 0, made); };
        made_.arrays = {};
        made_.entries = entries;
        made_.positions = n;
        made_.arrays.add(chunk_ptr_, view.chunk_ptr);
        made_.arrays.add(task_ptr_, view.task_ptr);
        made_.arrays.add(team_, view.team);
        made_.arrays.room(task_ptr_.back(), view.tasks);
        made_.arrays.room(entries, view.source);
        made_.arrays.room(entries, view.val);
        made_.arrays.room(n, view.frame.in_index);
        made_.arrays.room(n, view.frame.out_index);
        like(given_.frame.in_scale, view.frame.in_scale);
        like(given_.frame.out_scale, view.frame.out_scale);
        like(given_.frame.inv_diag, view.frame.inv_diag);
        made_.arrays.upload(gpu_);

        order.write_tasks(gpu_, writable(view.tasks));
        const dim3 blocks(made_.chunks, blocks_a_chunk);
        fill_entries<<<blocks, block_size, 0, stream>>>(order.view(), cuda::as_values(given_.val), view.task_ptr,
                                                        view.tasks, writable(view.source),
                                                        cuda::as_values(writable(view.val)));
        cuda::check_launch("fill_entries");
        const auto row_blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
        using Frame = FrameView<cuda::Value<working_of<T>>>;
        fill_frame<<<row_blocks, block_size, 0, stream>>>(static_cast<Index>(n), order.view().order, given_.row,
                                                          std::bit_cast<Frame>(given_.frame),
                                                          std::bit_cast<Frame>(view.frame));
        cuda::check_launch("fill_frame");
        gpu_.synchronize();
    }

    Gpu&                    gpu_;
    const ForwardSystem<T>& system_;
    ChunkedTuning           tuning_;
    WallClock               clock_;
    SplitMatrix<T>          split_;  // of no rows where none is long
    std::vector<Index>      chunk_ptr_, task_ptr_, team_;
    Index                   steps_ = 0;
    Given<T>                given_;
    DeviceChunks<T>         made_;
};

}  // namespace

template <class T>
DeviceChunks<T> analyse_chunks(Gpu& gpu, const ForwardSystem<T>& system, const ChunkedTuning& tuning, LayoutMaker maker,
                               WideLevels wide)
{
    if (system.size() == 0) return {};
    Analysis<T> analysis(gpu, system, tuning);
    if (maker == LayoutMaker::host || !analysis.fits_device()) return analysis.on_host();
    try {
        return analysis.on_device(wide);
    } catch (const OutOfMemory&) {
        return analysis.on_host();  // which needs no more than the result
    }
}

#define ILUX_INSTANTIATE(T)                                                                                   \
    template DeviceChunks<T> analyse_chunks(Gpu&, const ForwardSystem<T>&, const ChunkedTuning&, LayoutMaker, \
                                            WideLevels);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
