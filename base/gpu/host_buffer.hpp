#pragma once
// Host memory that a GPU reads and writes by itself: page-locked, so that transfers need no staging copy and run beside
// other work of the host.

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {
namespace detail {
void* host_allocate(std::size_t bytes);  // zeroed; null for 0
void  host_free(void* memory) noexcept;
void  host_lock(void* memory, std::size_t bytes);
void  host_unlock(void* memory) noexcept;
void  enqueue_copy(Gpu& gpu, const void* from, void* to, std::size_t bytes);
}  // namespace detail

/// Owns size() values, made of zeros.
template <class T>
class HostBuffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    HostBuffer() = default;
    /// @throws OutOfMemory when so much memory cannot be locked; DeviceError without a device (n > 0)
    explicit HostBuffer(std::size_t n) : data_(static_cast<T*>(detail::host_allocate(n * sizeof(T)))), size_(n) {}
    ~HostBuffer() { detail::host_free(data_); }
    HostBuffer(HostBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
    {}
    HostBuffer& operator=(HostBuffer&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    T*                 data() { return data_; }
    const T*           data() const { return data_; }
    std::size_t        size() const { return size_; }
    T&                 operator[](std::size_t i) { return data_[i]; }
    const T&           operator[](std::size_t i) const { return data_[i]; }
    std::span<T>       span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }

private:
    T*          data_ = nullptr;
    std::size_t size_ = 0;
};

/// Memory of the host that is page-locked while this lives. It stays where it is, and must outlive this. It shares no
/// page of memory with other memory that is locked.
class PageLock {
public:
    /// @throws OutOfMemory when so much memory cannot be locked; DeviceError without a device (bytes > 0)
    PageLock(void* memory, std::size_t bytes) : memory_(bytes > 0 ? memory : nullptr)
    {
        detail::host_lock(memory, bytes);
    }
    PageLock(const PageLock&) = delete;
    PageLock& operator=(const PageLock&) = delete;
    ~PageLock() { detail::host_unlock(memory_); }

private:
    void* memory_;
};

/// device ← host and host ← device, of equal sizes; only enqueued, so the host's memory must stay until that is done.
/// @throws InvalidInput when the sizes differ
template <class T>
void enqueue_upload(Gpu& gpu, const HostBuffer<T>& host, std::type_identity_t<DeviceSpan<T>> device)
{
    detail::require_same_size(host.size(), device.size());
    detail::enqueue_copy(gpu, host.data(), device.data(), host.size() * sizeof(T));
}
template <class T>
void enqueue_download(Gpu& gpu, std::type_identity_t<DeviceSpan<const T>> device, HostBuffer<T>& host)
{
    detail::require_same_size(device.size(), host.size());
    detail::enqueue_copy(gpu, device.data(), host.data(), host.size() * sizeof(T));
}
/// Enqueues such copies for parts of a HostBuffer.
template <class T>
void enqueue_upload(Gpu& gpu, std::span<T> host, std::type_identity_t<DeviceSpan<T>> device)
{
    detail::require_same_size(host.size(), device.size());
    detail::enqueue_copy(gpu, host.data(), device.data(), host.size_bytes());
}
template <class T>
void enqueue_download(Gpu& gpu, std::type_identity_t<DeviceSpan<const T>> device, std::span<T> host)
{
    detail::require_same_size(device.size(), host.size());
    detail::enqueue_copy(gpu, device.data(), host.data(), host.size_bytes());
}

}  // namespace ilux
