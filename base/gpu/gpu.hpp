#pragma once
// A CUDA device as a backend: one device, one stream, and memory there. Plain C++: no CUDA header is seen here, and a
// build without CUDA compiles the same code (gpu_absent.cpp) and finds no device.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "ilux/base/backend.hpp"

struct CUstream_st;  // what CUDA's cudaStream_t points to

namespace ilux {

/// A view of size() values in device memory. It converts neither to a std::span nor to a pointer, so nothing on the
/// host reads it by accident; data() is for kernels.
template <class T>
class DeviceSpan {
public:
    DeviceSpan() = default;
    /// @param data  `size` values in device memory, or null when there are none
    DeviceSpan(T* data, std::size_t size) : data_(data), size_(size) {}
    template <std::same_as<std::remove_const_t<T>> Value>
    DeviceSpan(DeviceSpan<Value> other) : data_(other.data()), size_(other.size())
    {}

    T*          data() const { return data_; }
    std::size_t size() const { return size_; }
    bool        empty() const { return size_ == 0; }
    DeviceSpan  subspan(std::size_t begin, std::size_t count) const { return {data_ + begin, count}; }
    DeviceSpan  first(std::size_t count) const { return {data_, count}; }

private:
    T*          data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
class DeviceBuffer;

/// How many CUDA devices there are; 0 without a driver, or in a build without CUDA. Never throws.
int gpu_count() noexcept;
/// The device's name, as its driver gives it. @throws DeviceError when there is no such device
std::string gpu_name(int device);

/// Memory of one device.
struct GpuMemory {
    std::size_t free = 0, total = 0;  ///< bytes; what ilux keeps for reuse counts as free
};
/// @throws DeviceError when there is no such device
GpuMemory gpu_memory(int device);

/// Device memory in ilux's buffers, on all devices and threads together.
struct DeviceUse {
    std::size_t bytes = 0, peak_bytes = 0;  ///< now, and the most since the program or restart_device_peak began
    long        allocations = 0;            ///< since the program began
};
DeviceUse device_use() noexcept;
void      restart_device_peak() noexcept;

/// One device and one stream: calls on one Gpu happen in their order; two Gpus run side by side. Serves one host
/// thread at a time. Making one makes its device current for the calling thread.
class Gpu {
public:
    template <class T>
    using span = DeviceSpan<T>;
    template <class T>
    using buffer = DeviceBuffer<T>;

    /// @throws DeviceError when there is no such device, this build has no code for it, or it was built without CUDA
    explicit Gpu(int device = 0);
    /// Works on the caller's stream (a cudaStream_t; null is the default stream), which must outlive this Gpu.
    Gpu(int device, CUstream_st* stream);
    ~Gpu();
    Gpu(Gpu&&) noexcept;
    Gpu& operator=(Gpu&&) noexcept;

    int device() const;
    int multiprocessors() const;
    /// Makes device() the calling thread's current one, where it makes its buffers.
    void make_current();
    /// Waits for everything asked of this Gpu. @throws DeviceError when any of it failed
    void synchronize();

    struct State;  ///< stream and scratch memory; cuda.hpp shows it to .cu files
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

// Backend's primitives (backend.hpp says what each does). Those that return or fill host numbers wait for them; the
// others only enqueue. None allocates. Reductions are bitwise repeatable. Complex vectors stand on multiples of 16
// bytes.
template <class S = double>
S dot(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y);
template <class S = double>
S dotu(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y);
template <class S = double>
real_of<S> norm2(Gpu& be, DeviceSpan<const NotDeduced<S>> x);
template <class S = double>
DotNorm<S> dot_norm(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y);
template <class S = double>
bool is_finite(Gpu& be, DeviceSpan<const NotDeduced<S>> x);
template <class S = double>
void copy(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void fill(Gpu& be, NotDeduced<S> a, DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void scale(Gpu& be, NotDeduced<S> a, DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void axpy(Gpu& be, NotDeduced<S> a, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void axpby(Gpu& be, NotDeduced<S> a, DeviceSpan<const NotDeduced<S>> x, NotDeduced<S> b, DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void multiply(Gpu& be, DeviceSpan<const NotDeduced<S>> d, DeviceSpan<const NotDeduced<S>> x,
              DeviceSpan<NotDeduced<S>> y);
template <class S = double>
void multi_dot(Gpu& be, DeviceSpan<const NotDeduced<S>> block, DeviceSpan<const NotDeduced<S>> w,
               std::span<NotDeduced<S>> h);
template <class S = double>
void multi_axpy(Gpu& be, std::span<const NotDeduced<S>> c, DeviceSpan<const NotDeduced<S>> block,
                DeviceSpan<NotDeduced<S>> y);
/// y ← a x rounded to single precision, and y ← x in S again, as on the Cpu.
template <class S = double>
void narrow(Gpu& be, double a, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<single_of<NotDeduced<S>>> y);
template <class S = double>
void widen(Gpu& be, DeviceSpan<const single_of<NotDeduced<S>>> x, DeviceSpan<NotDeduced<S>> y);

static_assert(Backend<Gpu> && Backend<Gpu, float>);

namespace detail {
void* device_allocate(std::size_t bytes);                     // zeroed, on the current device; null for 0
void  device_free(void* memory, std::size_t bytes) noexcept;  // once all work asked of the device is done

/// For tests: of the pieces of device and of page-locked memory asked for from now on, number `first` (from 1) and all
/// up to first + count − 1 are not to be had. @return how many were refused since the last call
long fail_device_allocations(long first, long count) noexcept;

void upload_bytes(Gpu& gpu, const void* host, void* device, std::size_t bytes);
void download_bytes(Gpu& gpu, const void* device, void* host, std::size_t bytes);
void require_same_size(std::size_t from, std::size_t to);

// Seconds that pieces of the stream take, measured without waiting for them. `total` grows by each piece by the time
// of collect_timings at the latest; forget_timings drops what is not collected, since `total` may cease to exist.
int  begin_timing(Gpu& gpu, const void* owner, double* total);
void end_timing(Gpu& gpu, int piece) noexcept;
void collect_timings(Gpu& gpu, const void* owner);
void forget_timings(Gpu& gpu, const void* owner) noexcept;
}  // namespace detail

/// Owns size() values in device memory; made of zeros, as a std::vector is, on the calling thread's current device.
template <class T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    DeviceBuffer() = default;
    /// @throws OutOfMemory, with the bytes asked for and the bytes free; DeviceError without a device (n > 0)
    explicit DeviceBuffer(std::size_t n) : data_(static_cast<T*>(detail::device_allocate(n * sizeof(T)))), size_(n) {}
    ~DeviceBuffer() { detail::device_free(data_, size_ * sizeof(T)); }
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
    {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    T*          data() { return data_; }
    const T*    data() const { return data_; }
    std::size_t size() const { return size_; }
    bool        empty() const { return size_ == 0; }
                operator DeviceSpan<T>() { return {data_, size_}; }
                operator DeviceSpan<const T>() const { return {data_, size_}; }

private:
    T*          data_ = nullptr;
    std::size_t size_ = 0;
};

/// device ← host, of equal sizes, after what was asked of `gpu` before; on return `host` may change.
/// @throws InvalidInput when the sizes differ
template <class T>
void upload(Gpu& gpu, std::span<const T> host, std::type_identity_t<DeviceSpan<T>> device)
{
    detail::require_same_size(host.size(), device.size());
    detail::upload_bytes(gpu, host.data(), device.data(), host.size_bytes());
}

/// host ← device, of equal sizes, after what was asked of `gpu` before; on return `host` holds the values.
/// @throws InvalidInput when the sizes differ
template <class T>
void download(Gpu& gpu, std::type_identity_t<DeviceSpan<const T>> device, std::span<T> host)
{
    detail::require_same_size(device.size(), host.size());
    detail::download_bytes(gpu, device.data(), host.data(), host.size_bytes());
}

}  // namespace ilux
