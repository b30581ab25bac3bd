// Dot products that read one another, for many members in one launch: a warp computes one slot of 32 members, a lane
// each, and waits for the slots it reads by polling them (gpu_dots.cu). What to multiply is the same for all lanes and
// read once; the numbers of a slot lie side by side, so that each is 256 bytes of one transfer.
//
// Launch shape: 8 warps a block, which take 8 items side by side, often of one column and so with common operands:
// these are looked for in the multiprocessor's own cache first. Terminates: blocks claim work by a ticket, in the order
// of items for each group of 32 members; an item reads only slots of earlier items of its own group, whose warps run
// already. Repeatable: bitwise, for each lane does what run_serial does. What a member holds, NaN and Inf too, is never
// seen by another.

#include <algorithm>
#include <string>

#include "ilux/direct/device_dots.hpp"
#include "ilux/direct/gpu_dots_batch.hpp"

namespace ilux {
namespace {

constexpr int      block_warps = 8;
constexpr int      most_at_once = 8;  // products of which a lane waits for all operands together
constexpr unsigned pilot_nap = 20;    // nanoseconds between looks at a pilot
constexpr int      tile = 32;         // of a transposition; threads are 32 × tile_rows
constexpr int      tile_rows = 8;

constexpr std::uint32_t first_last_mark = BatchDots::last(1);

static_assert(sizeof(BatchDots::Item) == 32 && sizeof(BatchDots::Product) == 8);

__device__ BatchDots::Item load_item(const BatchDots::Item* item)
{
    const auto      raw = reinterpret_cast<const int4*>(item);
    int4            halves[2] = {__ldg(raw), __ldg(raw + 1)};
    BatchDots::Item copy;
    memcpy(&copy, halves, sizeof copy);
    return copy;
}

/// A lane's sum, and those of the program's lanes before it that wait for their neighbours.
struct Sums {
    double x;
    double aside[BatchDots::most_merges];

    /// V_w(l) = V_2w(l) + V_2w(l + w), as far as both are there.
    __device__ void merge(int count)
    {
#pragma unroll
        for (int m = 0; m < BatchDots::most_merges; ++m)
            if (m < count) x = aside[m] + x;
    }
    /// @param mark  the same in all lanes of the warp, not 0
    __device__ void end_lane(std::uint32_t mark)
    {
        const int merges = static_cast<int>(mark) - 1;
        if (mark >= first_last_mark) return merge(static_cast<int>(mark) - BatchDots::most_merges);
        merge(merges);
#pragma unroll
        for (int m = 0; m < BatchDots::most_merges; ++m)
            if (m == merges) aside[m] = x;
        x = 0;
    }
};

/// Where the numbers of one member are.
template <class T, class A>
struct Member {
    using Value = Stored<T>;
    T*       v;         // slot 0
    const A* a;         // slot 0; where it is given
    Index    stride;    // of v
    Index    a_stride;  // of a
    unsigned nap;

    __device__ T*     at(DotProgram::Slot slot) const { return v + static_cast<std::size_t>(slot) * stride; }
    __device__ double given(DotProgram::Slot slot) const
    {
        return static_cast<double>(__ldg(a + static_cast<std::size_t>(slot) * a_stride));
    }
    __device__ void wait_for(std::int32_t pilot) const
    {
        if (pilot < 0) return;
        const T*             flag = at(pilot) - (threadIdx.x & 31);  // the first lane's: one sector
        typename Value::Bits bits = Value::unset;
        for (Value::wait_more(flag, bits); bits == Value::unset; Value::wait_more(flag, bits)) __nanosleep(pilot_nap);
        __syncwarp();
    }
};

/// x ← x − a b over the products of `pairs` pairs, once all of their operands are there in all lanes of the warp.
template <bool a_given, int pairs, class T, class A>
__device__ void subtract(Sums& sums, const Member<T, A>& member, const uint4* pair)
{
    using Value = Stored<T>;
    constexpr int        count = 2 * pairs;
    constexpr auto       mask = BatchDots::slot_mask;
    BatchDots::Product   product[count];
    typename Value::Bits left[count], right[count];
    double               given[count];
#pragma unroll
    for (int s = 0; s < pairs; ++s) {
        const uint4 both = __ldg(pair + s);
        product[2 * s] = {both.x, both.y};
        product[2 * s + 1] = {both.z, both.w};
    }
#pragma unroll
    for (int s = 0; s < count; ++s) {
        if constexpr (a_given) given[s] = member.given(product[s].a & mask);
        else left[s] = Value::near(member.at(product[s].a & mask));
        right[s] = Value::near(member.at(product[s].b & mask));
    }
    for (;;) {
        bool waiting = false;
#pragma unroll
        for (int s = 0; s < count; ++s) waiting |= (!a_given && left[s] == Value::unset) || right[s] == Value::unset;
        if (!__any_sync(whole_warp, waiting)) break;
        if (member.nap > 0) __nanosleep(member.nap);
#pragma unroll
        for (int s = 0; s < count; ++s) {
            if constexpr (!a_given) Value::wait_more(member.at(product[s].a & mask), left[s]);
            Value::wait_more(member.at(product[s].b & mask), right[s]);
        }
    }
#pragma unroll
    for (int s = 0; s < count; ++s) {
        if constexpr (!a_given) given[s] = Value::value(left[s]);
        sums.x = __fma_rn(-given[s], Value::value(right[s]), sums.x);
        const std::uint32_t mark = product[s].a >> BatchDots::slot_bits << 2 | product[s].b >> BatchDots::slot_bits;
        if (mark != 0) sums.end_lane(mark);
    }
}

/// What x is divided by.
template <bool a_given, class T, class A>
__device__ double find_divisor(const Member<T, A>& member, DotProgram::Slot slot)
{
    using Value = Stored<T>;
    if constexpr (a_given) return member.given(slot);
    typename Value::Bits bits = Value::near(member.at(slot));
    while (__any_sync(whole_warp, bits == Value::unset)) Value::wait_more(member.at(slot), bits);
    return Value::value(bits);
}

template <bool a_given, class T, class A>
__device__ void run_item(const BatchDots::Item& item, const uint4* pair, const Member<T, A>& member,
                         const double* input, Index stride)
{
    Sums sums{};
    if (item.source >= 0)
        sums.x = __dadd_rn(0, __dmul_rn(item.scale, __ldg(input + static_cast<std::size_t>(item.source) * stride)));
    constexpr std::uint32_t most_pairs = most_at_once / 2;
    std::uint32_t           p = 0;
    for (; p + most_pairs <= item.pairs; p += most_pairs) subtract<a_given, most_pairs>(sums, member, pair + p);
    if (p + 2 <= item.pairs) {
        subtract<a_given, 2>(sums, member, pair + p);
        p += 2;
    }
    if (p < item.pairs) subtract<a_given, 1>(sums, member, pair + p);
    if (item.divisor != DotProgram::zero_slot) sums.x = divide(sums.x, find_divisor<a_given>(member, item.divisor));
    Stored<T>::publish(member.at(item.slot), Stored<T>::of(sums.x));
}

/// Before the launch the ticket is −1 and slots 32 … are unset.
template <bool a_given, class T, class A>
__global__ void __launch_bounds__(32 * block_warps)
    run_dots_batch(BatchDotsView P, const double* input, GivenFactors<A> a, T* v, int* ticket)
{
    __shared__ int claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(ticket, 1) + 1;
    __syncthreads();
    const auto groups = static_cast<std::uint32_t>(P.stride / 32), most = static_cast<std::uint32_t>(P.groups_together);
    const std::uint32_t item_blocks = (P.items + block_warps - 1) / block_warps;
    const std::uint32_t first =
        static_cast<std::uint32_t>(claimed) / (item_blocks * most) * most;  // of groups together
    const std::uint32_t within = static_cast<std::uint32_t>(claimed) - first * item_blocks,
                        together = min(most, groups - first);
    const std::uint32_t i = within / together * block_warps + threadIdx.x / 32;
    if (i >= P.items) return;
    const Index           m = static_cast<Index>((first + within % together) * 32 + (threadIdx.x & 31));
    const BatchDots::Item item = load_item(P.item + i);
    const Member<T, A>    member{v + m, a_given ? a.values + (a.stride > 0 ? m : 0) : nullptr, P.stride,
                              a.stride > 0 ? a.stride : 1, P.nap};
    member.wait_for(item.pilot);
    run_item<a_given>(item, reinterpret_cast<const uint4*>(P.product) + item.first, member, input + m, P.stride);
}

template <class T>
__global__ void write_constants(T* v, Index stride)
{
    for (Index m = threadIdx.x; m < stride; m += blockDim.x)
        for (std::size_t slot = 0; slot < DotProgram::first_slot; ++slot)
            v[slot * stride + m] = slot == DotProgram::minus_one_slot ? -1 : 0;
}

/// to[i · stride + m] ← from[m · count + i]; lanes without a member copy the last one, whose numbers hold nobody up.
__global__ void gather_inputs(const double* from, std::size_t count, Index members, Index stride, double* to)
{
    __shared__ double square[tile][tile + 1];
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile;
    const Index       m0 = static_cast<Index>(blockIdx.y) * tile;
    for (int r = threadIdx.y; r < tile; r += tile_rows) {
        const std::size_t i = first + threadIdx.x, m = min(m0 + r, members - 1);
        if (i < count) square[r][threadIdx.x] = from[m * count + i];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (first + r < count) to[(first + r) * stride + m0 + threadIdx.x] = square[threadIdx.x][r];
}

/// to[m · count + i] ← scale[i] v[slot[i] · stride + m]
__global__ void scatter_results(const double* v, const std::int32_t* slot, const double* scale, std::size_t count,
                                Index members, Index stride, double* to)
{
    __shared__ double square[tile][tile + 1];
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * tile;
    const Index       m0 = static_cast<Index>(blockIdx.y) * tile;
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (const std::size_t i = first + r; i < count)
            square[r][threadIdx.x] = scale[i] * v[static_cast<std::size_t>(slot[i]) * stride + m0 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < tile; r += tile_rows)
        if (const std::size_t i = first + threadIdx.x; i < count && m0 + r < members)
            to[(m0 + r) * count + i] = square[threadIdx.x][r];
}

dim3 tiles(std::size_t count, Index stride)
{
    return {static_cast<unsigned>((count + tile - 1) / tile), static_cast<unsigned>(stride / tile)};
}

/// How many members' numbers the L2 cache holds; not fewer than 64, for waiting costs more than memory then.
Index members_in_cache(Gpu& gpu, std::size_t slots)
{
    int bytes = 0;
    cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, gpu.state().device), "cudaDeviceGetAttribute");
    const std::size_t members = static_cast<std::size_t>(bytes) / (std::max<std::size_t>(slots, 1) * sizeof(double));
    return static_cast<Index>(std::clamp<std::size_t>(members, 64, 1 << 20));
}

template <bool a_given, class T, class A>
void launch(Gpu& gpu, const BatchDotsView& view, std::size_t inputs, std::size_t slots, const double* input,
            GivenFactors<A> a, DotsBatchSpace<T>& space)
{
    const auto stream = cuda::stream(gpu);
    if (inputs > 0) {
        gather_inputs<<<tiles(inputs, view.stride), dim3(tile, tile_rows), 0, stream>>>(input, inputs, view.members,
                                                                                        view.stride,
                                                                                        space.input.data());
        cuda::check_launch("gather_inputs");
    }
    const std::size_t constants = static_cast<std::size_t>(DotProgram::first_slot) * view.stride,
                      all = slots * view.stride;
    cuda::check(cudaMemsetAsync(space.v.data() + constants, unset_byte, (all + 1 - constants) * sizeof(T), stream),
                "cudaMemsetAsync");
    const std::size_t blocks = (view.items + std::size_t{block_warps} - 1) / block_warps * (view.stride / 32);
    run_dots_batch<a_given>
        <<<static_cast<unsigned>(blocks), 32 * block_warps, 0, stream>>>(view, space.input.data(), a, space.v.data(),
                                                                         reinterpret_cast<int*>(space.v.data() + all));
    cuda::check_launch("run_dots_batch");
}

}  // namespace

GpuDotsBatch::GpuDotsBatch(Gpu& gpu, const DotProgram& program, Index members, std::size_t inputs,
                           std::span<const std::int32_t> out_index, std::span<const double> out_scale,
                           const BatchTuning& tuning)
    : slots_(program.slots()), inputs_(inputs)
{
    require(members >= 1, [&] { return "a batch of " + std::to_string(members) + " members"; });
    require(members <= 65535 * 32, [&] { return "a batch of " + std::to_string(members) + " members is too large"; });
    const BatchDots dots = batch_dots(program, tuning.pilot_distance);
    view_.members = members;
    view_.stride = (members + 31) / 32 * 32;
    view_.items = static_cast<std::uint32_t>(dots.item.size());
    const Index together = tuning.together > 0 ? tuning.together : members_in_cache(gpu, slots_);
    view_.groups_together = std::min((together + 31) / 32, view_.stride / 32);
    view_.nap = tuning.nap;
    const std::size_t blocks = (dots.item.size() + block_warps - 1) / block_warps * (view_.stride / 32);
    require(blocks < std::size_t{1} << 31,
            [] { return "too many entries and members for one launch; take fewer members"; });
    std::vector<std::int32_t> out_slot;
    std::vector<double>       scale;
    for (std::size_t slot = 0; slot < out_index.size(); ++slot) {
        if (out_index[slot] < 0) continue;
        const std::size_t needed = static_cast<std::size_t>(out_index[slot]) + 1;
        if (out_slot.size() < needed) {
            out_slot.resize(needed, 0);
            scale.resize(needed, 0.0);
        }
        out_slot[out_index[slot]] = static_cast<std::int32_t>(slot);
        scale[out_index[slot]] = out_scale[slot];
    }
    outputs_ = out_slot.size();
    arrays_.add(dots.item, view_.item);
    arrays_.add(dots.product, view_.product);
    arrays_.add(out_slot, out_slot_);
    arrays_.add(scale, out_scale_);
    arrays_.upload(gpu);
}

template <class T>
DotsBatchSpace<T> GpuDotsBatch::space(Gpu& gpu) const
{
    const auto        stream = cuda::stream(gpu);
    DotsBatchSpace<T> made{DeviceBuffer<T>(slots_ * stride() + 1), DeviceBuffer<double>(inputs_ * stride())};
    write_constants<<<1, 256, 0, stream>>>(made.v.data(), stride());
    cuda::check_launch("write_constants");
    return made;
}

template <class T>
void GpuDotsBatch::run(Gpu& gpu, const double* input, DotsBatchSpace<T>& space) const
{
    if (view_.items == 0) return;
    const cuda::Range range("dots_batch");
    launch<false>(gpu, view_, inputs_, slots_, input, GivenFactors<T>{}, space);
}

template <class A>
void GpuDotsBatch::run(Gpu& gpu, const double* input, GivenFactors<A> a, DotsBatchSpace<double>& space,
                       double* out) const
{
    if (view_.items == 0) return;
    const cuda::Range range("dots_batch");
    launch<true>(gpu, view_, inputs_, slots_, input, a, space);
    if (outputs_ == 0) return;
    scatter_results<<<tiles(outputs_, view_.stride), dim3(tile, tile_rows), 0, cuda::stream(gpu)>>>(space.v.data(),
                                                                                                    out_slot_,
                                                                                                    out_scale_,
                                                                                                    outputs_,
                                                                                                    view_.members,
                                                                                                    view_.stride, out);
    cuda::check_launch("scatter_results");
}

template DotsBatchSpace<double> GpuDotsBatch::space(Gpu&) const;
template DotsBatchSpace<float>  GpuDotsBatch::space(Gpu&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<double>&) const;
template void                   GpuDotsBatch::run(Gpu&, const double*, DotsBatchSpace<float>&) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<double>, DotsBatchSpace<double>&, double*) const;
template void GpuDotsBatch::run(Gpu&, const double*, GivenFactors<float>, DotsBatchSpace<double>&, double*) const;

}  // namespace ilux
