// gpu.hpp in a build without CUDA: no device is found, and nothing that needs one can be reached.

#include "ilux/base/error.hpp"
#include "ilux/base/gpu/by_key.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/gpu/device_pointer.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/gpu/gpu_instances.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/gpu/row_measures.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent()
{
    throw DeviceError("this ilux was built without CUDA; build it where nvcc is found, or choose the CPU");
}

}  // namespace

struct Gpu::State {};

int         gpu_count() noexcept { return 0; }
std::string gpu_name(int) { absent(); }
GpuMemory   gpu_memory(int) { absent(); }
DeviceUse   device_use() noexcept { return {}; }
void        restart_device_peak() noexcept {}

template <class Item>
ByKey<Item> by_key(Gpu&, DeviceSpan<const Index>, Index)
{
    absent();
}
template ByKey<Index>  by_key(Gpu&, DeviceSpan<const Index>, Index);
template ByKey<Offset> by_key(Gpu&, DeviceSpan<const Index>, Index);
template <class Value>
Value add_up(Gpu&, DeviceBuffer<Value>&)
{
    absent();
}
template Index  add_up(Gpu&, DeviceBuffer<Index>&);
template Offset add_up(Gpu&, DeviceBuffer<Offset>&);

HostTransfers host_transfers() noexcept { return {}; }
void          run_after(Gpu&, Gpu&) { absent(); }
bool          is_for_kernels(const void*) { absent(); }

Gpu::Gpu(int) { absent(); }
Gpu::Gpu(int, CUstream_st*) { absent(); }
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;
int       Gpu::device() const { absent(); }
int       Gpu::multiprocessors() const { absent(); }
void      Gpu::make_current() { absent(); }
void      Gpu::synchronize() { absent(); }

template <class S>
S dot(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>)
{
    absent();
}

template <class S>
S dotu(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>)
{
    absent();
}

template <class S>
real_of<S> norm2(Gpu&, DeviceSpan<const NotDeduced<S>>)
{
    absent();
}

template <class S>
DotNorm<S> dot_norm(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>)
{
    absent();
}

template <class S>
bool is_finite(Gpu&, DeviceSpan<const NotDeduced<S>>)
{
    absent();
}

template <class S>
void copy(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void fill(Gpu&, NotDeduced<S>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void scale(Gpu&, NotDeduced<S>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void axpy(Gpu&, NotDeduced<S>, DeviceSpan<const NotDeduced<S>>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void axpby(Gpu&, NotDeduced<S>, DeviceSpan<const NotDeduced<S>>, NotDeduced<S>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void multiply(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void multi_dot(Gpu&, DeviceSpan<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>, std::span<NotDeduced<S>>)
{
    absent();
}

template <class S>
void multi_axpy(Gpu&, std::span<const NotDeduced<S>>, DeviceSpan<const NotDeduced<S>>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

template <class S>
void narrow(Gpu&, double, DeviceSpan<const NotDeduced<S>>, DeviceSpan<single_of<NotDeduced<S>>>)
{
    absent();
}

template <class S>
void widen(Gpu&, DeviceSpan<const single_of<NotDeduced<S>>>, DeviceSpan<NotDeduced<S>>)
{
    absent();
}

ILUX_WORKING(ILUX_GPU_VECTOR_PRIMITIVES)
ILUX_WORKING(ILUX_GPU_BLOCK_PRIMITIVES)
ILUX_SCALARS(ILUX_GPU_PRECISION_PRIMITIVES)

template <class T, class S>
void spmv(Gpu&, NotDeduced<S>, const DeviceCsr<T>&, DeviceSpan<const NotDeduced<S>>, NotDeduced<S>,
          DeviceSpan<NotDeduced<S>>)
{
    absent();
}
#define ILUX_PRODUCT(T, S) \
    template void spmv<T, S>(Gpu&, S, const DeviceCsr<T>&, DeviceSpan<const S>, S, DeviceSpan<S>);
#define ILUX_INSTANTIATE(T) ILUX_PRODUCT(T, working_of<T>)
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) ILUX_PRODUCT(T, T)
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_PRODUCT
#undef ILUX_INSTANTIATE

template <Scalar S>
RowMeasures measure_rows(Gpu&, const DeviceRows<S>&, DeviceSpan<const S>, DeviceSpan<const S>, double,
                         const RowVectors<S>&)
{
    absent();
}
template <Scalar S>
void equilibrate_rows(Gpu&, const RowVectors<S>&, double, DeviceSpan<S>, DeviceSpan<S>)
{
    absent();
}
template <Scalar S>
void scale_unknowns(Gpu&, const DeviceRows<S>&, DeviceSpan<const double>, DeviceSpan<double>)
{
    absent();
}
template <Scalar S>
ErrorMeasures measure_errors(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>, DeviceSpan<const double>, double, double,
                             double)
{
    absent();
}
ILUX_SCALARS(ILUX_ROW_MEASURES)

template <Scalar S>
void gather_conjugates(Gpu&, DeviceSpan<const S>, DeviceSpan<const Offset>, DeviceSpan<S>)
{
    absent();
}
template <Scalar S>
void conjugate(Gpu&, DeviceSpan<S>)
{
    absent();
}
ILUX_SCALARS(ILUX_ADJOINT_VALUES)

GpuGraph::GpuGraph(Gpu&, std::function<void()>) { absent(); }
void GpuGraph::launch(Gpu&) const { absent(); }

namespace detail {

long fail_device_allocations(long, long) noexcept { return 0; }

void* device_allocate(std::size_t bytes)
{
    if (bytes == 0) return nullptr;
    absent();
}

void* host_allocate(std::size_t bytes)
{
    if (bytes == 0) return nullptr;
    absent();
}

void host_lock(void*, std::size_t bytes)
{
    if (bytes > 0) absent();
}

void   device_free(void*, std::size_t) noexcept {}
void   host_unlock(void*) noexcept {}
void   host_free(void*) noexcept {}
Index  first_wrong_row(Gpu&, Index, Index, DeviceSpan<const Offset>, DeviceSpan<const Index>) { absent(); }
Offset longest_row(Gpu&, DeviceSpan<const Offset>) { absent(); }
void   upload_bytes(Gpu&, const void*, void*, std::size_t) { absent(); }
void   download_bytes(Gpu&, const void*, void*, std::size_t) { absent(); }
void   enqueue_copy(Gpu&, const void*, void*, std::size_t) { absent(); }
void   require_same_size(std::size_t, std::size_t) { absent(); }
int    begin_timing(Gpu&, const void*, double*) { absent(); }
void   end_timing(Gpu&, int) noexcept {}
void   collect_timings(Gpu&, const void*) { absent(); }
void   forget_timings(Gpu&, const void*) noexcept {}

}  // namespace detail
}  // namespace ilux
