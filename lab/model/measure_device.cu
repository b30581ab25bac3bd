// Micro-benchmarks. Launch shapes: a warp on every multiprocessor where latency is asked for, so that near and far ones
// are averaged; as many warps as method left has where throughput is. Data are zeros, of which every sum is zero, and
// which the compiler does not know. Terminates: flags go to and fro between blocks of one launch of a block a
// multiprocessor, all of which are resident at once; nobody else waits.

#include "ilux/lab/model/measure_device.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ilux/base/gpu/cuda_graph.hpp"
#include "ilux/direct/published/device_left.hpp"

namespace ilux {
namespace {

using cuda::check;
using Cycles = long long;

constexpr int    repetitions = 5;
constexpr int    sector_bytes = 32;
constexpr int    chain = 256, cold_chain = 64;  // accesses; so few that hardly one meets a sector twice in a cold cache
constexpr int    steps = 512, hops = 400, nodes = 200, calls = 50, passes = 32;
constexpr int    block_warps = 2;  // of method left
constexpr int    step_entries = 32 * detail::left_group;
constexpr Offset many_entries = Offset{1} << 20;           // 12 MB: in the second-level cache, not in the first
constexpr Offset few_entries = Offset{16} * step_entries;  // in the first
constexpr Index  vector_entries = 4096;                    // of a work vector

/// Dependent accesses to `transactions` random sectors each, out of `sectors`. cycles[block] ← of all of them.
__global__ void access_chain(const std::uint64_t* values, std::uint32_t sectors, int transactions, int count,
                             Cycles* cycles)
{
    const int     group = left::lane() * transactions / 32;
    std::uint32_t state = 0x9E3779B1u * (blockIdx.x * 32 + group + 1);
    const Cycles  begin = clock64();
    for (int c = 0; c < count; ++c) {
        state = state * 1664525u + 1013904223u;
        const std::uint64_t sector = __umulhi(state, sectors);
        state += static_cast<std::uint32_t>(__ldcg(values + sector * (sector_bytes / sizeof(std::uint64_t))));
    }
    const Cycles end = clock64();
    if (left::lane() == 0) cycles[blockIdx.x] = end - begin + (state == 0 ? 1 : 0);
}

/// Reads `count` pairs, `passes` times.
__global__ void read_all(const double2* values, std::size_t count, int passes, double* sink)
{
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    double            sum = 0;
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
            const double2 pair = __ldcg(values + i);
            sum += pair.x + pair.y;
        }
    if (sum != 0) *sink = sum;
}

/// Row q of an entry is q modulo the length of a vector.
__global__ void number_rows(Index* row, Offset entries)
{
    const Offset q = blockIdx.x * static_cast<Offset>(blockDim.x) + threadIdx.x;
    if (q < entries) row[q] = static_cast<Index>(q % vector_entries);
}

/// The updates of a column as Column::apply has them, each of one step; whereabouts from the other lanes.
/// @param entries  a power of two: where steps begin is modulo this
template <bool first_level>
__global__ void __launch_bounds__(32 * block_warps)
    updates(const Index* row, const double* val, Offset entries, double* work, Cycles* cycles)
{
    const int     warp = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    double* const x = work + warp * static_cast<Offset>(vector_entries);
    const Cycles  begin_time = clock64();
    for (int first = 0; first < steps; first += 32) {
        const Offset own = (warp * Offset{8191} + first + left::lane()) * step_entries & (entries - 1);
        for (int u = 0; u < 32; ++u) {
            const Offset begin = __shfl_sync(~0u, own, u);
            const Offset end = __shfl_sync(~0u, own + step_entries, u);
            const double x_i = x[__shfl_sync(~0u, left::lane(), u)];
            if constexpr (first_level)
                left::for_entries(
                    row, begin, end, [&](Offset q, Index r) { return make_double2(val[q], x[r]); },
                    [&](Offset, Index r, double2 l_and_x) { x[r] = __fma_rn(-l_and_x.x, x_i, l_and_x.y); });
            else left::multiply_add(row, val, begin, end, x_i, x);
            __syncwarp();
        }
    }
    if (left::lane() == 0) cycles[warp] = clock64() - begin_time;
}

/// Blocks b and b + half take turns: values, then a flag. @param flag  a block, 128 bytes apart; 0
__global__ void take_turns(std::uint32_t* flag, double* values, Cycles* cycles)
{
    constexpr int  apart = 32;
    const unsigned half = gridDim.x / 2, pair = blockIdx.x % half;
    const bool     starts = blockIdx.x < half;
    std::uint32_t* own = flag + blockIdx.x * apart;
    std::uint32_t* other = flag + (starts ? pair + half : pair) * apart;
    const Cycles   begin = clock64();
    const auto     publish = [&](std::uint32_t turn) {
        values[blockIdx.x * 32 + left::lane()] = turn;
        __syncwarp();
        if (left::lane() == 0) left::store_release(own, turn);
    };
    for (std::uint32_t turn = 1; turn <= hops; ++turn) {
        if (starts) publish(turn);
        left::wait_for(other, [&](std::uint32_t seen) { return seen == turn; });
        if (!starts) publish(turn);
    }
    if (left::lane() == 0) cycles[blockIdx.x] = clock64() - begin;
}

__global__ void nothing(double* sink)
{
    if (sink == nullptr) return;
    if (*sink != 0) *sink = 0;
}

/// Cycles of two milliseconds, beside which a launch is nothing.
__global__ void tick(double* sink, Cycles* cycles)
{
    const Cycles begin = clock64();
    double       x = *sink;
    for (int k = 0; k < 1'000'000; ++k) x = __fma_rn(x, 0.5, x);
    if (x != 0) *sink = x;
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

int attribute(Gpu& gpu, cudaDeviceAttr which)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, gpu.device()), "cudaDeviceGetAttribute");
    return value;
}

class Events {
public:
    Events()
    {
        check(cudaEventCreate(&begin_), "cudaEventCreate");
        check(cudaEventCreate(&end_), "cudaEventCreate");
    }
    ~Events()
    {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    /// Seconds that the stream takes for what `work` enqueues; the middle of some, after a first that does not count.
    double seconds(Gpu& gpu, const std::function<void()>& work) const
    {
        const auto          stream = cuda::stream(gpu);
        std::vector<double> times;
        for (int r = 0; r <= repetitions; ++r) {
            check(cudaEventRecord(begin_, stream), "cudaEventRecord");
            work();
            check(cudaEventRecord(end_, stream), "cudaEventRecord");
            check(cudaEventSynchronize(end_), "cudaEventSynchronize");
            float milliseconds = 0;
            check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
            if (r > 0) times.push_back(1e-3 * milliseconds);
        }
        return median(times);
    }

private:
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

class Measurement {
public:
    explicit Measurement(Gpu& gpu)
        : gpu_(gpu),
          stream_(cuda::stream(gpu)),
          multiprocessors_(gpu.state().multiprocessors),
          warps_(LeftRefactor<>::resident_warps(gpu)),
          cache_bytes_(static_cast<std::size_t>(attribute(gpu, cudaDevAttrL2CacheSize))),
          memory_(static_cast<std::size_t>(DeviceParameters::working_sets.back()) * cache_bytes_ / sizeof(double)),
          work_(static_cast<std::size_t>(warps_) * vector_entries),
          row_(many_entries),
          val_(many_entries),
          cycles_(static_cast<std::size_t>(warps_))
    {
        number_rows<<<static_cast<unsigned>(many_entries / 256), 256, 0, stream_>>>(row_.data(), many_entries);
        cuda::check_launch("number_rows");
    }

    DeviceParameters all()
    {
        DeviceParameters p;
        p.multiprocessors = multiprocessors_;
        p.resident_warps = double(warps_) / multiprocessors_;
        p.cache_bytes = double(cache_bytes_);
        p.clock = clock();
        accesses(p);
        p.bandwidth = copy_bandwidth();
        p.cache_bandwidth = cache_bandwidth();
        p.comp_cycle = update_cycles<true>(warps_, few_entries) / p.resident_warps;
        p.comp_latency = std::max(1., update_cycles<false>(multiprocessors_, many_entries) - p.access_cycle(4, 0) -
                                          p.access_cycle(8, 0));
        p.flag = turn_cycles() / p.clock;
        p.launch = node_seconds(1);
        p.barrier = node_seconds(warps_ / block_warps);
        p.call = call_seconds();
        return p;
    }

private:
    /// Mean cycles that `count` warps left, the median of some runs.
    double mean_cycles(int count, const std::function<void()>& prepare, const std::function<void()>& run)
    {
        std::vector<double> means;
        std::vector<Cycles> each(static_cast<std::size_t>(count));
        for (int r = 0; r <= repetitions; ++r) {
            if (prepare) prepare();
            run();
            cuda::check_launch("micro-benchmark");
            download<Cycles>(gpu_, DeviceSpan<const Cycles>(cycles_.data(), each.size()), each);
            double sum = 0;
            for (const Cycles c : each) sum += double(c);
            if (r > 0) means.push_back(sum / count);
        }
        return median(means);
    }

    void read(const double* from, std::size_t bytes, int times)
    {
        const auto* const pairs = reinterpret_cast<const double2*>(from);
        read_all<<<8 * multiprocessors_, 256, 0, stream_>>>(pairs, bytes / sizeof(double2), times, work_.data());
        cuda::check_launch("read_all");
    }

    /// Seconds of one access to `bytes` from the beginning of the memory, after `swept` was read last.
    double latency(int transactions, std::size_t bytes, const double* swept, std::size_t swept_bytes, int count)
    {
        const auto        sectors = static_cast<std::uint32_t>(bytes / sector_bytes);
        const auto* const memory = reinterpret_cast<const std::uint64_t*>(memory_.data());
        const auto        fill_cache = [&] { read(swept, swept_bytes, 2); };
        const auto        launch = [&] {
            access_chain<<<multiprocessors_, 32, 0, stream_>>>(memory, sectors, transactions, count, cycles_.data());
        };
        return mean_cycles(multiprocessors_, fill_cache, launch) / count;
    }

    void accesses(DeviceParameters& p)
    {
        const std::size_t half = memory_.size() / 2;
        for (std::size_t t = 0; t < p.transactions.size(); ++t) {
            const int  transactions = static_cast<int>(p.transactions[t]);
            const auto of = [&](std::size_t s) {
                const auto bytes = static_cast<std::size_t>(p.working_sets[s] * double(cache_bytes_));
                return latency(transactions, bytes, memory_.data(), bytes, chain);
            };
            p.cache_cycle[t] = of(0);
            p.global_cycle[t] =
                latency(transactions, half * sizeof(double), memory_.data() + half, half * sizeof(double), cold_chain);
            const double span = p.global_cycle[t] - p.cache_cycle[t];
            for (std::size_t s = 0; s < p.miss.size(); ++s)
                p.miss[s][t] = span > 0 ? std::clamp((of(s) - p.cache_cycle[t]) / span, 0., 1.) : 0;
        }
    }

    double copy_bandwidth()
    {
        const std::size_t half = memory_.size() / 2;
        const double      seconds = events_.seconds(gpu_, [&] {
            copy(gpu_, DeviceSpan<const double>(memory_.data(), half), DeviceSpan<double>(memory_.data() + half, half));
        });
        return 2 * double(half * sizeof(double)) / seconds;
    }

    double cache_bandwidth()
    {
        const auto bytes = static_cast<std::size_t>(DeviceParameters::working_sets.front() * double(cache_bytes_));
        return passes * double(bytes) / events_.seconds(gpu_, [&] { read(memory_.data(), bytes, passes); });
    }

    /// Cycles of a step of each of so many warps, which run side by side.
    template <bool first_level>
    double update_cycles(int warps, Offset entries)
    {
        const int  each = warps > multiprocessors_ ? block_warps : 1;
        const auto launch = [&] {
            updates<first_level><<<warps / each, 32 * each, 0, stream_>>>(row_.data(), val_.data(), entries,
                                                                          work_.data(), cycles_.data());
        };
        return mean_cycles(warps, {}, launch) / steps;
    }

    double turn_cycles()
    {
        const int                   blocks = std::max(2, multiprocessors_ / 2 * 2);
        DeviceBuffer<std::uint32_t> flag(static_cast<std::size_t>(blocks) * 32);
        const auto                  reset = [&] {
            check(cudaMemsetAsync(flag.data(), 0, flag.size() * sizeof(std::uint32_t), stream_), "cudaMemsetAsync");
        };
        const auto   run = [&] { take_turns<<<blocks, 32, 0, stream_>>>(flag.data(), work_.data(), cycles_.data()); };
        const double cycles = mean_cycles(blocks, reset, run);
        check(cudaMemsetAsync(work_.data(), 0, work_.size() * sizeof(double), stream_), "cudaMemsetAsync");
        return cycles / (2 * hops);
    }

    void launch_nothing(int blocks)
    {
        nothing<<<blocks, 32 * block_warps, 0, stream_>>>(work_.data());
        cuda::check_launch("nothing");
    }

    /// Seconds of one node in a row of them.
    double node_seconds(int blocks)
    {
        const auto graph = cuda::capture_graph(gpu_, [&] {
            for (int k = 0; k < nodes; ++k) launch_nothing(blocks);
        });
        const auto run = [&] {
            if (graph) return cuda::launch_graph(gpu_, graph);
            for (int k = 0; k < nodes; ++k) launch_nothing(blocks);
        };
        return events_.seconds(gpu_, run) / nodes;
    }

    /// Seconds of the calls of a refactorization: scatter, start, the graph of its levels, two launches of the monitor;
    /// and waiting.
    double call_seconds()
    {
        const auto          graph = cuda::capture_graph(gpu_, [&] { launch_nothing(1); });
        std::vector<double> times;
        for (int r = 0; r <= calls; ++r) {
            const auto begin = std::chrono::steady_clock::now();
            for (int k = 0; k < 2; ++k) launch_nothing(1);
            if (graph) cuda::launch_graph(gpu_, graph);
            else launch_nothing(1);
            for (int k = 0; k < 2; ++k) launch_nothing(1);
            gpu_.synchronize();
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
            if (r > 0) times.push_back(passed.count());
        }
        return median(times);
    }

    double clock()
    {
        double              cycles = 0;
        const double        seconds = events_.seconds(gpu_, [&] {
            tick<<<multiprocessors_, 128, 0, stream_>>>(work_.data(), cycles_.data());
            cuda::check_launch("tick");
        });
        std::vector<Cycles> each(static_cast<std::size_t>(multiprocessors_));
        download<Cycles>(gpu_, DeviceSpan<const Cycles>(cycles_.data(), each.size()), each);
        for (const Cycles c : each) cycles = std::max(cycles, double(c));
        return cycles / seconds;
    }

    Gpu&                 gpu_;
    cudaStream_t         stream_;
    Events               events_;
    int                  multiprocessors_;
    Index                warps_;  ///< of method left
    std::size_t          cache_bytes_;
    DeviceBuffer<double> memory_, work_;
    DeviceBuffer<Index>  row_;
    DeviceBuffer<double> val_;
    DeviceBuffer<Cycles> cycles_;
};

}  // namespace

DeviceParameters measure_device(Gpu& gpu)
{
    const cuda::Range range("measure_device");
    DeviceParameters  parameters = Measurement(gpu).all();
    gpu.synchronize();
    try {
        require_sensible(parameters);
    } catch (const InvalidInput& error) {
        throw DeviceError(std::string("measured ") + error.what());
    }
    return parameters;
}

}  // namespace ilux
