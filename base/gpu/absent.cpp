// gpu.hpp in a build without CUDA: no device is found, and nothing that needs one can be reached.

#include "ilux/base/error.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/gpu/host_buffer.hpp"

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

template double          dot<double>(Gpu&, DeviceSpan<const double>, DeviceSpan<const double>);
template double          norm2<double>(Gpu&, DeviceSpan<const double>);
template DotNorm<double> dot_norm<double>(Gpu&, DeviceSpan<const double>, DeviceSpan<const double>);
template bool            is_finite<double>(Gpu&, DeviceSpan<const double>);
template void            copy<double>(Gpu&, DeviceSpan<const double>, DeviceSpan<double>);
template void            fill<double>(Gpu&, double, DeviceSpan<double>);
template void            scale<double>(Gpu&, double, DeviceSpan<double>);
template void            axpy<double>(Gpu&, double, DeviceSpan<const double>, DeviceSpan<double>);
template void            axpby<double>(Gpu&, double, DeviceSpan<const double>, double, DeviceSpan<double>);
template void            multiply<double>(Gpu&, DeviceSpan<const double>, DeviceSpan<const double>, DeviceSpan<double>);
template void            multi_dot<double>(Gpu&, DeviceSpan<const double>, DeviceSpan<const double>, std::span<double>);
template void multi_axpy<double>(Gpu&, std::span<const double>, DeviceSpan<const double>, DeviceSpan<double>);

template <class T, class S>
void spmv(Gpu&, NotDeduced<S>, const DeviceCsr<T>&, DeviceSpan<const NotDeduced<S>>, NotDeduced<S>,
          DeviceSpan<NotDeduced<S>>)
{
    absent();
}
template void spmv<double, double>(Gpu&, double, const DeviceCsr<double>&, DeviceSpan<const double>, double,
                                   DeviceSpan<double>);
template void spmv<float, double>(Gpu&, double, const DeviceCsr<float>&, DeviceSpan<const double>, double,
                                  DeviceSpan<double>);

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

void  device_free(void*, std::size_t) noexcept {}
void  host_free(void*) noexcept {}
Index first_wrong_row(Gpu&, Index, Index, DeviceSpan<const Offset>, DeviceSpan<const Index>) { absent(); }
void  upload_bytes(Gpu&, const void*, void*, std::size_t) { absent(); }
void  download_bytes(Gpu&, const void*, void*, std::size_t) { absent(); }
void  enqueue_copy(Gpu&, const void*, void*, std::size_t) { absent(); }
void  require_same_size(std::size_t, std::size_t) { absent(); }
int   begin_timing(Gpu&, const void*, double*) { absent(); }
void  end_timing(Gpu&, int) noexcept {}
void  collect_timings(Gpu&, const void*) { absent(); }
void  forget_timings(Gpu&, const void*) noexcept {}

}  // namespace detail
}  // namespace ilux
