// Dot products that read one another, in one launch: every entry of L and U, or of a substitution's result, waits for
// the entries it reads by polling them. The value is its own flag (sptrsv/gpu/device_row.hpp), so that nothing needs a
// fence.
//
// Launch shape: 8 warps a block, a warp a task, as many blocks as that needs. Terminates: blocks claim tasks by a
// ticket, in order of levels; a task reads only slots of earlier levels, whose warps run already. A division by zero
// publishes Inf or NaN like any other value. Repeatable: bitwise, for every lane subtracts its products in one order. T
// is what slots hold.

#include "ilux/direct/dataflow/device_dataflow.hpp"
#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/direct/gpu/device_delay.hpp"
#include "ilux/direct/gpu/device_input.hpp"

namespace ilux {
namespace {

constexpr int      block_warps = 8;
constexpr unsigned pilot_nap = 20;  // nanoseconds between looks at a pilot

__device__ DataflowProgram::Task load_task(const DataflowProgram::Task* task)
{
    static_assert(sizeof(DataflowProgram::Task) == 16);
    const int4            raw = *reinterpret_cast<const int4*>(task);
    DataflowProgram::Task copy;
    memcpy(&copy, &raw, sizeof copy);
    return copy;
}

/// Until the pilot is known, with little noise. All lanes of the warp call it.
template <class T>
__device__ void wait_for(std::int32_t pilot, const T* v)
{
    if (pilot >= 0)
        while (Stored<T>::is_missing(Stored<T>::load(v + pilot))) __nanosleep(pilot_nap);
    __syncwarp();
}

/// Up to `depth` products a b of a lane: a from the given array, or polled in v as b always is.
template <class T, bool a_given, int depth>
struct Products {
    using Number = Stored<T>;
    using Bits = typename Number::Bits;
    using V = working_of<T>;

    uint2 slot[depth];
    Bits  left[depth], right[depth];

    /// Polls the first `count` of them together, until every lane of the warp has its own.
    __device__ void wait(int count, const T* a, const T* v)
    {
#pragma unroll
        for (int s = 0; s < depth; ++s) {
            right[s] = Number::missing();
            if constexpr (a_given) left[s] = Number::bits(cuda::load_constant(a + slot[s].x));
            else left[s] = Number::missing();
        }
        for (bool waiting = true; __any_sync(whole_warp, waiting);) {
#pragma unroll
            for (int s = 0; s < depth; ++s)
                if (s < count) {
                    if constexpr (!a_given) Number::wait_more(v + slot[s].x, left[s]);
                    Number::wait_more(v + slot[s].y, right[s]);
                }
            waiting = false;
#pragma unroll
            for (int s = 0; s < depth; ++s)
                if (s < count) {
                    waiting |= Number::is_missing(right[s]);
                    if constexpr (!a_given) waiting |= Number::is_missing(left[s]);
                }
        }
    }
    __device__ V subtract(int s, V x) const { return eliminated(x, Number::value(left[s]), Number::value(right[s])); }
};

/// What a lane works at. Lanes that lead no entry, and tasks without divisors, have zeros, and constants' slots.
/// @tparam V  of sums: double or complex
template <class V>
struct Lane {
    DataflowProgram::Task task;
    const uint2*          operand;    // of step 0
    uint4                 late;       // of the entry
    uint4                 twin_late;  // of its divisor, where that is computed once more
    std::size_t           slot;
    DataflowProgram::Slot divisor;
    bool                  leads;    // an entry, whose other lanes follow
    bool                  divides;  // it by its divisor
    V                     x;        // the entry
    V                     d;        // its divisor

    __device__ int  part() const { return 1 << task.log2_part; }
    __device__ bool twin() const { return task.divide == DataflowProgram::by_twin; }
};

/// s_i input[g_i]
template <class V>
__device__ V scaled_input(const DataflowView& P, std::size_t slot, const V* input)
{
    const std::int32_t source = P.source[slot];
    return source < 0 ? V{} : add_input(V{}, input[source], P.scale[slot]);  // one rounding would leave −0 here
}

template <class T, bool a_given>
__device__ auto load_lane(const DataflowView& P, Index t, const working_of<T>* input, const T* a)
{
    using V = working_of<T>;
    const int lane = threadIdx.x & 31;
    Lane<V>   own{.task = load_task(P.task + t)};
    const int r = lane >> own.task.log2_part;
    own.leads = r < own.task.entries && (lane & (own.part() - 1)) == 0;
    own.slot = static_cast<std::size_t>(own.task.slot) + r;
    own.divides = own.task.divide > 0;
    own.divisor = own.leads && own.divides ? P.divisor[own.slot] : 0;
    own.x = own.leads ? scaled_input(P, own.slot, input) : V{};
    if constexpr (a_given) own.d = V(cuda::load_constant(a + own.divisor));
    else own.d = own.leads && own.twin() ? scaled_input(P, own.divisor, input) : V{};
    own.operand = reinterpret_cast<const uint2*>(P.operand) + 32 * static_cast<std::size_t>(own.task.first) + lane;
    const uint4 none = make_uint4(0, 0, 0, 0);
    const auto  late = reinterpret_cast<const uint4*>(P.late);
    own.late = own.leads ? __ldg(late + own.slot) : none;
    own.twin_late = own.leads && own.twin() ? __ldg(late + own.divisor) : none;
    return own;
}

/// x ← x − Σ a b over the task's steps, d ← d − Σ a b over those for the divisor; at most `depth` together. Polls once
/// the pilot is known.
template <bool a_given, int depth, class T>
__device__ void subtract_steps(Lane<working_of<T>>& own, const T* a, const T* v)
{
    const int                   steps = own.task.steps + own.task.divisor_steps;
    Products<T, a_given, depth> products;
#pragma unroll
    for (int s = 0; s < depth; ++s) products.slot[s] = s < steps ? __ldg(own.operand + 32 * s) : make_uint2(0, 0);
    wait_for(own.task.pilot, v);
    products.wait(depth, a, v);
#pragma unroll
    for (int s = 0; s < depth; ++s) {
        if (s < own.task.steps) own.x = products.subtract(s, own.x);
        else if (s < steps) own.d = products.subtract(s, own.d);
    }
}

/// The early operands of all lanes, summed up over those of an entry. Few steps poll few registers.
template <bool a_given, class T>
__device__ void subtract_early(Lane<working_of<T>>& own, const T* a, const T* v)
{
    const int steps = own.task.steps + own.task.divisor_steps;
    if (steps == 0) wait_for(own.task.pilot, v);
    else if (steps == 1) subtract_steps<a_given, 1>(own, a, v);
    else if (steps == 2) subtract_steps<a_given, 2>(own, a, v);
    else if (steps <= 4) subtract_steps<a_given, 4>(own, a, v);
    else subtract_steps<a_given, DataflowProgram::max_steps>(own, a, v);
    if (own.task.steps > 0) own.x = sum_over(own.part(), own.x);
    if (own.task.divisor_steps > 0) own.d = sum_over(own.part(), own.d);
}

/// The late products of an entry, and of its divisor's twin where there is one.
template <bool a_given, class T>
__device__ void subtract_late(Lane<working_of<T>>& own, const T* a, const T* v)
{
    Products<T, a_given, 4> products;
    products.slot[0] = make_uint2(own.late.x, own.late.y);
    products.slot[1] = make_uint2(own.late.z, own.late.w);
    products.slot[2] = make_uint2(own.twin_late.x, own.twin_late.y);
    products.slot[3] = make_uint2(own.twin_late.z, own.twin_late.w);
    products.wait(own.twin() ? 4 : 2, a, v);
    own.x = products.subtract(1, products.subtract(0, own.x));
    if (own.twin()) own.d = Stored<T>::rounded(products.subtract(3, products.subtract(2, own.d)));
}

/// What entries that are divided are divided by, where it was not summed up beside them. All lanes of the warp call it.
template <bool a_given, class T>
__device__ void find_divisor(Lane<working_of<T>>& own, const T* v)
{
    if (!a_given && own.task.divide == DataflowProgram::by_slot && own.leads) {
        auto bits = Stored<T>::missing();
        while (Stored<T>::is_missing(bits)) Stored<T>::wait_more(v + own.divisor, bits);
        own.d = Stored<T>::value(bits);
    }
    if (own.task.log2_group > 0) {
        const int lane = threadIdx.x & 31, first = lane >> own.task.log2_group << own.task.log2_group;
        own.d = Stored<T>::rounded(cuda::shuffled_from(own.x, first));
        own.divides = lane - first >= own.part();  // the group's first entry is the divisor
    }
}

/// Before the launch the ticket is −1 and slots 32 … are unset.
template <class T, bool a_given>
__global__ void __launch_bounds__(32 * block_warps)
    run_dataflow(DataflowView P, const working_of<T>* input, const T* a, T* v, working_of<T>* out, int* ticket)
{
    __shared__ int claimed;
    if (threadIdx.x == 0) claimed = atomicAdd(ticket, 1) + 1;
    __syncthreads();
    const Index t = claimed * block_warps + static_cast<Index>(threadIdx.x) / 32;
    if (t >= P.task_count) return;
    auto own = load_lane<T, a_given>(P, t, input, a);
    wait_at_random(P.delay, 2 * static_cast<unsigned>(t) + static_cast<unsigned>(clock64()));
    subtract_early<a_given>(own, a, v);
    subtract_late<a_given>(own, a, v);
    find_divisor<a_given>(own, v);
    if (!own.leads) return;
    wait_at_random(P.delay, 2 * static_cast<unsigned>(t) + 1 + static_cast<unsigned>(clock64()));
    const auto x = own.divides ? divide(own.x, own.d) : own.x;
    Stored<T>::publish(v + own.slot, Stored<T>::of(x));
    if (out != nullptr)
        if (const std::int32_t o = P.out_index[own.slot]; o >= 0) out[o] = P.out_scale[own.slot] * x;
}

template <class T>
__global__ void write_constants(T* v)
{
    v[threadIdx.x] = cuda::from_real<T>(threadIdx.x == DataflowProgram::minus_one_slot ? -1 : 0);
}

template <class T>
void allow_shared(Gpu& gpu)
{
    cuda::allow_shared(gpu, run_dataflow<T, true>);
    cuda::allow_shared(gpu, run_dataflow<T, false>);
}

}  // namespace

GpuDataflow::GpuDataflow(Gpu& gpu, const DataflowProgram& program, std::span<const std::int32_t> out_index,
                         std::span<const double> out_scale, const detail::DataflowTrial& trial)
    : slots_(program.slots()), unused_shared_bytes_(trial.shared_bytes), a_given_(program.a_given)
{
    view_.delay = trial.delay;
    if (trial.shared_bytes > 0) {
        allow_shared<double>(gpu);
        allow_shared<float>(gpu);
        allow_shared<cuda::Complex<double>>(gpu);
    }
    view_.task_count = static_cast<Index>(program.task.size());
    arrays_.add(program.task, view_.task);
    arrays_.add(program.operand, view_.operand);
    arrays_.add(program.late, view_.late);
    arrays_.add(program.source, view_.source);
    arrays_.add(program.scale, view_.scale);
    arrays_.add(program.divisor, view_.divisor);
    arrays_.add(out_index, view_.out_index);
    arrays_.add(out_scale, view_.out_scale);
    arrays_.upload(gpu);
}

GpuDataflow::GpuDataflow(Gpu& gpu, const DataflowSize& size, const std::function<void(const DataflowRoom&)>& fill)
    : slots_(static_cast<std::size_t>(size.slots))
{
    DataflowRoom room;
    view_.task_count = size.tasks;
    arrays_.room(static_cast<std::size_t>(size.tasks), room.task);
    arrays_.room(32 * static_cast<std::size_t>(size.rows), room.operand);
    arrays_.room(slots_, room.late);
    arrays_.room(slots_, room.source);
    arrays_.room(slots_, room.scale);
    arrays_.room(slots_, room.divisor);
    arrays_.upload(gpu);
    view_.task = room.task;
    view_.operand = room.operand;
    view_.late = room.late;
    view_.source = room.source;
    view_.scale = room.scale;
    view_.divisor = room.divisor;
    fill(room);
    gpu.synchronize();
}

template <class T>
DeviceBuffer<T> GpuDataflow::workspace(Gpu& gpu) const
{
    DeviceBuffer<T> v(slots_ + 1);
    write_constants<<<1, 32, 0, cuda::stream(gpu)>>>(cuda::as_values(v.data()));
    cuda::check_launch("write_constants");
    return v;
}

template <class T>
void GpuDataflow::run_as(Gpu& gpu, const working_of<T>* input, const T* a, DeviceSpan<T> v, working_of<T>* out) const
{
    if (view_.task_count == 0) return;
    const cuda::Range range("dataflow");
    const auto        stream = cuda::stream(gpu);
    const int         blocks = (view_.task_count + block_warps - 1) / block_warps;
    int* const        ticket = reinterpret_cast<int*>(v.data() + slots_);
    cuda::check(cudaMemsetAsync(v.data() + DataflowProgram::first_slot, unset_byte,
                                (slots_ + 1 - DataflowProgram::first_slot) * sizeof(T), stream),
                "cudaMemsetAsync");
    using V = cuda::Value<T>;
    const auto kernel = a_given_ ? run_dataflow<V, true> : run_dataflow<V, false>;
    kernel<<<blocks, 32 * block_warps, unused_shared_bytes_, stream>>>(view_, cuda::as_values(input),
                                                                       cuda::as_values(a_given_ ? a : nullptr),
                                                                       cuda::as_values(v.data()), cuda::as_values(out),
                                                                       ticket);
    cuda::check_launch("run_dataflow");
}

void GpuDataflow::run(Gpu& gpu, const double* input, const double* a, DeviceSpan<double> v, double* out) const
{
    run_as(gpu, input, a, v, out);
}
void GpuDataflow::run(Gpu& gpu, const double* input, const float* a, DeviceSpan<float> v, double* out) const
{
    run_as(gpu, input, a, v, out);
}
void GpuDataflow::run(Gpu& gpu, const std::complex<double>* input, const std::complex<double>* a,
                      DeviceSpan<std::complex<double>> v, std::complex<double>* out) const
{
    run_as(gpu, input, a, v, out);
}

template DeviceBuffer<double>               GpuDataflow::workspace(Gpu&) const;
template DeviceBuffer<float>                GpuDataflow::workspace(Gpu&) const;
template DeviceBuffer<std::complex<double>> GpuDataflow::workspace(Gpu&) const;

}  // namespace ilux
