// Gpu: its device, stream and scratch memory; and how long pieces of its stream take.

#include <string>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/stream_order.hpp"

namespace ilux {
namespace {

using cuda::check;
using std::to_string;

__global__ void nothing() {}

void require_exists(int device)
{
    const int count = gpu_count();
    if (device < 0 || device >= count)
        throw DeviceError("there is no CUDA device " + to_string(device) + "; this machine offers " + to_string(count));
}

/// That the device exists, and this build holds code it can run; makes it current.
void require_usable(int device)
{
    require_exists(device);
    check(cudaSetDevice(device), "cudaSetDevice");
    cudaFuncAttributes attributes;
    const cudaError_t  error = cudaFuncGetAttributes(&attributes, nothing);
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
        return check(error, "cudaFuncGetAttributes");
    cudaGetLastError();
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    throw DeviceError("CUDA device " + to_string(device) + " (" + properties.name + ") has compute capability " +
                      to_string(properties.major) + "." + to_string(properties.minor) +
                      ", for which this build holds no code; set CMAKE_CUDA_ARCHITECTURES and build again");
}

int attribute(cudaDeviceAttr which, int device)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

/// All of a State but its stream, on the current device.
void equip(Gpu::State& state, int device)
{
    state.device = device;
    state.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
    state.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    check(cudaMallocHost(&state.sums, sizeof(double) * cuda::max_results), "cudaMallocHost");
    state.partial = DeviceBuffer<double>(cuda::max_partials);
    state.coefficients = DeviceBuffer<double>(cuda::max_results);
    state.tickets = DeviceBuffer<unsigned>(cuda::max_tickets);
    state.exchange = DeviceBuffer<ulonglong2>(4 * cuda::max_neighbours);
    for (auto& piece : state.timings) {
        check(cudaEventCreate(&piece.begin), "cudaEventCreate");
        check(cudaEventCreate(&piece.end), "cudaEventCreate");
    }
}

/// Adds a finished piece to its total and frees it; waits for its end.
void settle(cuda::Timing& piece)
{
    float milliseconds = 0;
    check(cudaEventSynchronize(piece.end), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, piece.begin, piece.end), "cudaEventElapsedTime");
    *piece.total += 1e-3 * milliseconds;
    piece.owner = nullptr;
}

}  // namespace

int gpu_count() noexcept
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();  // no driver, or no device: not an error of the next call
    return 0;
}

std::string gpu_name(int device)
{
    require_exists(device);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return properties.name;
}

Gpu::State::~State()
{
    if (!owns_stream && !sums) return;  // the constructor of Gpu threw
    cudaSetDevice(device);
    for (const auto& piece : timings) {
        if (piece.begin) cudaEventDestroy(piece.begin);
        if (piece.end) cudaEventDestroy(piece.end);
    }
    const std::lock_guard alone(cuda::capture_or_wait());
    if (owns_stream) cudaStreamDestroy(stream);  // after what was asked of it
    else if (sums) cudaStreamSynchronize(stream);
    if (sums) cudaFreeHost(sums);
    cudaGetLastError();
}

Gpu::Gpu(int device) : state_(std::make_unique<State>())
{
    require_usable(device);
    check(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking), "cudaStreamCreate");
    state_->owns_stream = true;
    equip(*state_, device);
}

Gpu::Gpu(int device, CUstream_st* stream) : state_(std::make_unique<State>())
{
    require_usable(device);
    state_->stream = stream;
    equip(*state_, device);
}

Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;
int       Gpu::device() const { return state_->device; }
int       Gpu::multiprocessors() const { return state_->multiprocessors; }
void      Gpu::make_current() { check(cudaSetDevice(state_->device), "cudaSetDevice"); }
void      Gpu::synchronize() { check(cudaStreamSynchronize(cuda::stream(*this)), "cudaStreamSynchronize"); }

void run_after(Gpu& later, Gpu& earlier)
{
    cudaEvent_t until_now = nullptr;
    const auto  stream = cuda::stream(earlier);
    check(cudaEventCreateWithFlags(&until_now, cudaEventDisableTiming), "cudaEventCreate");
    cudaError_t error = cudaEventRecord(until_now, stream);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(cuda::stream(later), until_now, 0);
    cudaEventDestroy(until_now);  // its memory goes once it has come
    check(error, "cudaStreamWaitEvent");
}

namespace detail {

int begin_timing(Gpu& gpu, const void* owner, double* total)
{
    const auto stream = cuda::stream(gpu);
    auto&      state = gpu.state();
    do state.next_timing = (state.next_timing + 1) % state.timings.size();
    while (state.timings[state.next_timing].open);  // a solve within a solve: its outer pieces are still running
    auto& piece = state.timings[state.next_timing];
    if (piece.owner) settle(piece);  // the oldest, long over
    check(cudaEventRecord(piece.begin, stream), "cudaEventRecord");
    piece.owner = owner;
    piece.total = total;
    piece.open = true;
    return static_cast<int>(state.next_timing);
}

void end_timing(Gpu& gpu, int piece) noexcept
{
    auto& state = gpu.state();
    cudaSetDevice(state.device);
    cudaEventRecord(state.timings[piece].end, state.stream);
    state.timings[piece].open = false;
}

void collect_timings(Gpu& gpu, const void* owner)
{
    for (auto& piece : gpu.state().timings)
        if (piece.owner == owner && !piece.open) settle(piece);
}

void forget_timings(Gpu& gpu, const void* owner) noexcept
{
    for (auto& piece : gpu.state().timings)
        if (piece.owner == owner) piece.owner = nullptr;
}

}  // namespace detail
}  // namespace ilux
