// Device memory and transfers.
//
// Buffers come from one pool a device and are made and freed on one stream of ilux's own. Making waits for its zeros,
// so a buffer is ready for every stream; freeing waits for the device, so no stream still uses it. That is what
// cudaMalloc and cudaFree promise, without their cost.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_pointer.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/gpu/host_transfers.hpp"

namespace ilux {
namespace {

using cuda::check;
using std::to_string;

constexpr int           max_devices = 64;
constexpr std::uint64_t kept_share =
    16;  // freed memory up to a 16th of the device's stays in the pool for the next buffer

std::atomic<std::size_t> used{0}, peak{0};
std::atomic<long>        allocations{0};
std::atomic<std::size_t> to_device{0}, to_host{0};

std::atomic<long> asked{0}, refused{0}, refuse_from{0}, refuse_to{0};  // a test's wishes; refuse_to excluded

/// @throws OutOfMemory where fail_device_allocations said so
void refuse_as_asked(std::size_t bytes)
{
    if (refuse_to == 0) return;
    const long number = ++asked;
    if (number < refuse_from || number >= refuse_to) return;
    ++refused;
    throw OutOfMemory("a test refuses " + to_string(bytes) + " bytes");
}

/// A device's memory pool and the stream that orders it. Never destroyed: buffers may outlive main.
struct Arena {
    std::once_flag made;
    cudaMemPool_t  pool = nullptr;  // null where the device has none
    cudaStream_t   stream = nullptr;

    void make(int device)
    {
        int pools = 0;
        check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device), "cudaDeviceGetAttribute");
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
        if (!pools) return;
        cudaMemPoolProps wanted{};
        wanted.allocType = cudaMemAllocationTypePinned;
        wanted.location.type = cudaMemLocationTypeDevice;
        wanted.location.id = device;
        check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        std::uint64_t keep = total / kept_share;
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "cudaMemPoolSetAttribute");
    }
    cudaError_t allocate(void** memory, std::size_t bytes)
    {
        return pool ? cudaMallocFromPoolAsync(memory, bytes, pool, stream) : cudaMalloc(memory, bytes);
    }
    std::size_t idle_bytes() const
    {
        std::uint64_t reserved = 0, busy = 0;
        if (!pool) return 0;
        check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
        check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &busy), "cudaMemPoolGetAttribute");
        return reserved > busy ? reserved - busy : 0;
    }
};

Arena& arena(int device)
{
    static Arena* const arenas = new Arena[max_devices];
    if (device < 0 || device >= max_devices) throw DeviceError("device " + to_string(device) + " is one too many");
    std::call_once(arenas[device].made, [&] { arenas[device].make(device); });
    return arenas[device];
}

Arena& current_arena()
{
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return arena(device);
}

/// @throws OutOfMemory, the answer to any allocation that failed and asked for more than there is.
void require_room(std::size_t bytes, const Arena& arena)
{
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    free += arena.idle_bytes();
    if (bytes > free)
        throw OutOfMemory("the device has no room for " + to_string(bytes) + " bytes: " + to_string(free) + " of " +
                          to_string(total) + " are free");
}

bool is_of_host(const void* memory)
{
    cudaPointerAttributes where{};
    check(cudaPointerGetAttributes(&where, memory), "cudaPointerGetAttributes");
    return where.type == cudaMemoryTypeHost || where.type == cudaMemoryTypeUnregistered;
}

/// Two page-locked pieces of host memory, through which large uploads pass: from pageable memory the driver copies by
/// one thread. One upload uses them at a time; another meanwhile goes the driver's way.
class Staging {
public:
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // twice 4 MB take 3 to 5 ms to lock, these 1
    static constexpr std::size_t worth_bytes = std::size_t{8} << 20;

    /// False, and nothing was done, when they are in use or cannot be had.
    bool upload(cudaStream_t stream, const char* host, char* device, std::size_t bytes)
    {
        const std::unique_lock only(mutex_, std::try_to_lock);
        if (!only || !ready()) return false;
        cudaEvent_t sent[2] = {};  // the device's own: events belong to one
        for (auto& event : sent) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
        cudaError_t error = cudaSuccess;
        for (std::size_t begin = 0, i = 0; begin < bytes && error == cudaSuccess; begin += piece_bytes, i ^= 1) {
            const std::size_t count = std::min(piece_bytes, bytes - begin);
            if (begin >= 2 * piece_bytes) error = cudaEventSynchronize(sent[i]);
            if (error != cudaSuccess) break;
            detail::copy_in_parallel(piece_[i], host + begin, count);
            error = cudaMemcpyAsync(device + begin, piece_[i], count, cudaMemcpyHostToDevice, stream);
            if (error == cudaSuccess) error = cudaEventRecord(sent[i], stream);
        }
        const cudaError_t last = cudaStreamSynchronize(stream);  // the pieces are the next upload's
        for (auto& event : sent) cudaEventDestroy(event);
        check(error, "upload");
        check(last, "upload");
        return true;
    }

private:
    bool ready()
    {
        for (auto& piece : piece_)
            if (!piece &&
                cudaHostAlloc(reinterpret_cast<void**>(&piece), piece_bytes, cudaHostAllocPortable) != cudaSuccess) {
                cudaGetLastError();
                piece = nullptr;
                return false;
            }
        return true;
    }

    std::mutex mutex_;
    char*      piece_[2] = {};
};

Staging& staging()
{
    static Staging* const only = new Staging;  // never destroyed, as the arenas
    return *only;
}

}  // namespace

GpuMemory gpu_memory(int device)
{
    gpu_name(device);  // throws when there is none
    int before = 0;
    check(cudaGetDevice(&before), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    GpuMemory memory;
    check(cudaMemGetInfo(&memory.free, &memory.total), "cudaMemGetInfo");
    memory.free += arena(device).idle_bytes();
    check(cudaSetDevice(before), "cudaSetDevice");
    return memory;
}

bool is_for_kernels(const void* memory)
{
    cudaPointerAttributes where{};
    check(cudaPointerGetAttributes(&where, memory), "cudaPointerGetAttributes");
    return where.type != cudaMemoryTypeUnregistered;
}

HostTransfers host_transfers() noexcept { return {to_device, to_host}; }

DeviceUse device_use() noexcept { return {used, peak, allocations}; }
void      restart_device_peak() noexcept { peak = used.load(); }

std::recursive_mutex& cuda::capture_or_wait()
{
    static std::recursive_mutex mutex;
    return mutex;
}

void cuda::upload(cudaStream_t stream, const void* host, void* device, std::size_t bytes)
{
    to_device += bytes;
    if (bytes > Staging::worth_bytes &&
        staging().upload(stream, static_cast<const char*>(host), static_cast<char*>(device), bytes))
        return;
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "upload");
    check(cudaStreamSynchronize(stream), "upload");
}

namespace detail {

long fail_device_allocations(long first, long count) noexcept
{
    asked = 0;
    refuse_from = first;
    refuse_to = count > 0 ? first + count : 0;
    return refused.exchange(0);
}

void* device_allocate(std::size_t bytes)
{
    if (bytes == 0) return nullptr;
    refuse_as_asked(bytes);
    auto&       here = current_arena();
    void*       memory = nullptr;
    cudaError_t error = here.allocate(&memory, bytes);
    if (error == cudaErrorMemoryAllocation && here.pool) {  // what the pool keeps may lie in pieces
        cudaGetLastError();
        cudaMemPoolTrimTo(here.pool, 0);
        error = here.allocate(&memory, bytes);
    }
    if (error != cudaSuccess) {
        cudaGetLastError();
        require_room(bytes, here);
        if (error == cudaErrorMemoryAllocation)
            throw OutOfMemory("the device has no piece of " + to_string(bytes) + " bytes, though as many are free");
    }
    check(error, "cudaMalloc");
    const std::size_t now = used += bytes;
    for (std::size_t most = peak; most < now && !peak.compare_exchange_weak(most, now);) continue;
    ++allocations;
    error = cudaMemsetAsync(memory, 0, bytes, here.stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(here.stream);
    if (error != cudaSuccess) device_free(memory, bytes);
    check(error, "cudaMemset");
    return memory;
}

void device_free(void* memory, std::size_t bytes) noexcept
{
    if (!memory) return;
    used -= bytes;
    int                   before = 0;
    cudaPointerAttributes where{};
    cudaGetDevice(&before);
    if (cudaPointerGetAttributes(&where, memory) == cudaSuccess) {
        const std::lock_guard alone(cuda::capture_or_wait());
        cudaSetDevice(where.device);
        cudaDeviceSynchronize();
        const Arena& owner = arena(where.device);
        if (owner.pool) cudaFreeAsync(memory, owner.stream);
        else cudaFree(memory);
    }
    cudaSetDevice(before);
    cudaGetLastError();  // an earlier failure is reported by the call that meets it next
}

void* host_allocate(std::size_t bytes)
{
    if (bytes == 0) return nullptr;
    refuse_as_asked(bytes);
    void*             memory = nullptr;
    const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw OutOfMemory("no " + to_string(bytes) + " bytes of host memory can be locked");
    }
    check(error, "cudaHostAlloc");
    std::memset(memory, 0, bytes);
    return memory;
}

void host_free(void* memory) noexcept { cudaFreeHost(memory); }

void host_lock(void* memory, std::size_t bytes)
{
    if (bytes == 0) return;
    refuse_as_asked(bytes);
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw OutOfMemory("no " + to_string(bytes) + " bytes of host memory can be locked");
    }
    check(error, "cudaHostRegister");
}

void host_unlock(void* memory) noexcept
{
    if (memory == nullptr) return;
    cudaHostUnregister(memory);
    cudaGetLastError();  // an earlier failure is reported by the call that meets it next
}

void upload_bytes(Gpu& gpu, const void* host, void* device, std::size_t bytes)
{
    cuda::upload(cuda::stream(gpu), host, device, bytes);
}

void download_bytes(Gpu& gpu, const void* device, void* host, std::size_t bytes)
{
    const auto stream = cuda::stream(gpu);
    to_host += bytes;
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "download");
    check(cudaStreamSynchronize(stream), "download");
}

void enqueue_copy(Gpu& gpu, const void* from, void* to, std::size_t bytes)
{
    if (bytes == 0) return;
    const bool from_host = is_of_host(from);
    if (from_host != is_of_host(to)) (from_host ? to_device : to_host) += bytes;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cuda::stream(gpu)), "cudaMemcpyAsync");
}

void require_same_size(std::size_t from, std::size_t to)
{
    require(from == to, [&] { return to_string(from) + " values cannot be copied to " + to_string(to); });
}

}  // namespace detail
}  // namespace ilux
