// Gpu, its memory, and the primitives of Backend.
//
// Element-wise: one thread an element, grid-stride. Reductions: `chunks(n)` blocks sum a chunk each (threads stride by
// the block, then a shuffle tree); one block adds the chunks in order. Both orders depend on n alone.

#include <algorithm>
#include <cmath>
#include <string>

#include "ilux/base/cuda.hpp"

namespace ilux {
namespace {

using cuda::check;
using cuda::max_vectors;
using std::to_string;

constexpr int block_size = 256;
constexpr int chunk_size = 8 * block_size;  // per block at least: fewer values do not pay for its partial sum

int chunks(std::size_t n)
{
    return static_cast<int>(std::min<std::size_t>(cuda::max_chunks, (n + chunk_size - 1) / chunk_size));
}

struct Add {
    static __device__ double combine(double a, double b) { return a + b; }
};

struct Largest {
    static __device__ double combine(double a, double b) { return a > b || a != a ? a : b; }  // NaN wins
};

/// Combines `value` over the block; thread 0 has the result. Called by all threads of a block, once per launch.
template <class Op>
__device__ double over_block(double value)
{
    constexpr int     warps = block_size / 32;
    __shared__ double of_warp[warps];
    for (int step = 16; step > 0; step /= 2) value = Op::combine(value, __shfl_down_sync(~0u, value, step));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < warps ? of_warp[threadIdx.x] : 0;
    for (int step = warps / 2; step > 0; step /= 2) value = Op::combine(value, __shfl_down_sync(~0u, value, step));
    return value;
}

/// partial[v][chunk] ← Op over the chunk of term(v, i). Grid: chunks × vectors. 0 is neutral: terms of Largest are ≥ 0.
template <class Op, class Term>
__global__ void reduce_chunks(std::size_t n, Term term, double* partial)
{
    const std::size_t chunk = (n + gridDim.x - 1) / gridDim.x;
    const std::size_t begin = blockIdx.x * chunk;
    const std::size_t end = begin + chunk < n ? begin + chunk : n;
    double            value = 0;
    for (std::size_t i = begin + threadIdx.x; i < end; i += block_size) value = Op::combine(value, term(blockIdx.y, i));
    value = over_block<Op>(value);
    if (threadIdx.x == 0) partial[blockIdx.y * gridDim.x + blockIdx.x] = value;
}

/// sums[v] ← Op over the chunks of vector v. Grid: vectors.
template <class Op>
__global__ void combine_chunks(int count, const double* partial, double* sums)
{
    double value = 0;
    for (int c = threadIdx.x; c < count; c += block_size) value = Op::combine(value, partial[blockIdx.x * count + c]);
    value = over_block<Op>(value);
    if (threadIdx.x == 0) sums[blockIdx.x] = value;
}

/// Leaves Op over i < n of term(v, i) in state().sums[v], v < vectors, and waits for it.
template <class Op, class Term>
void reduce(Gpu& be, const char* name, std::size_t n, int vectors, Term term)
{
    const cuda::Range range(name);
    const auto        stream = cuda::stream(be);
    auto&             state = be.state();
    std::fill_n(state.sums, vectors, 0.);
    if (n == 0) return;
    reduce_chunks<Op><<<dim3(chunks(n), vectors), block_size, 0, stream>>>(n, term, state.partial);
    combine_chunks<Op><<<vectors, block_size, 0, stream>>>(chunks(n), state.partial, state.sums);
    cuda::check_launch(name);
    check(cudaStreamSynchronize(stream), name);
}

template <class Term>
double sum(Gpu& be, const char* name, std::size_t n, Term term)
{
    reduce<Add>(be, name, n, 1, [term] __device__(int, std::size_t i) { return term(i); });
    return be.state().sums[0];
}

template <class Body>
__global__ void call_each(std::size_t n, Body body)
{
    const std::size_t stride = std::size_t(gridDim.x) * block_size;
    for (std::size_t i = std::size_t(blockIdx.x) * block_size + threadIdx.x; i < n; i += stride) body(i);
}

template <class Body>
void for_each(Gpu& be, const char* name, std::size_t n, Body body)
{
    const cuda::Range range(name);
    const auto        stream = cuda::stream(be);
    if (n == 0) return;
    const auto blocks = std::min<std::size_t>((n + block_size - 1) / block_size, 1 << 16);
    call_each<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(n, body);
    cuda::check_launch(name);
}

/// A few numbers that travel with a launch.
struct Coefficients {
    double c[max_vectors];
};

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
    const cudaError_t  error = cudaFuncGetAttributes(&attributes, combine_chunks<Add>);
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
        return check(error, "cudaFuncGetAttributes");
    cudaGetLastError();
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    throw DeviceError("CUDA device " + to_string(device) + " (" + properties.name + ") has compute capability " +
                      to_string(properties.major) + "." + to_string(properties.minor) +
                      ", for which this build holds no code; set CMAKE_CUDA_ARCHITECTURES and build again");
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
    if (!stream) return;  // the constructor of Gpu threw
    cudaSetDevice(device);
    cudaFreeHost(sums);
    cudaFree(partial);
    cudaStreamDestroy(stream);
}

Gpu::Gpu(int device) : state_(std::make_unique<State>())
{
    require_usable(device);
    state_->device = device;
    check(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(&state_->partial, sizeof(double) * max_vectors * cuda::max_chunks), "cudaMalloc");
    check(cudaMallocHost(&state_->sums, sizeof(double) * max_vectors), "cudaMallocHost");
}

Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;
int       Gpu::device() const { return state_->device; }
void      Gpu::synchronize() { check(cudaStreamSynchronize(cuda::stream(*this)), "cudaStreamSynchronize"); }

double dot(Gpu& be, DeviceSpan<const double> x, DeviceSpan<const double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    return sum(be, "dot", x.size(), [x = x.data(), y = y.data()] __device__(std::size_t i) { return x[i] * y[i]; });
}

double norm2(Gpu& be, DeviceSpan<const double> x)
{
    const double* v = x.data();
    const double  squares = sum(be, "norm2", x.size(), [v] __device__(std::size_t i) { return v[i] * v[i]; });
    if (squares > 1e-280 && std::isfinite(squares)) return std::sqrt(squares);
    // squares may have under- or overflowed: once more, scaled
    reduce<Largest>(be, "norm2", x.size(), 1, [v] __device__(int, std::size_t i) { return fabs(v[i]); });
    const double largest = be.state().sums[0];
    if (largest == 0 || !std::isfinite(largest)) return largest;
    const double scaled = sum(be, "norm2", x.size(),
                              [v, largest] __device__(std::size_t i) { return (v[i] / largest) * (v[i] / largest); });
    return largest * std::sqrt(scaled);
}

bool is_finite(Gpu& be, DeviceSpan<const double> x)
{
    return sum(be, "is_finite", x.size(),
               [v = x.data()] __device__(std::size_t i) { return isfinite(v[i]) ? 0. : 1.; }) == 0;
}

void copy(Gpu& be, DeviceSpan<const double> x, DeviceSpan<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "copy", x.size(), [x = x.data(), y = y.data()] __device__(std::size_t i) { y[i] = x[i]; });
}

void fill(Gpu& be, double a, DeviceSpan<double> y)
{
    for_each(be, "fill", y.size(), [a, y = y.data()] __device__(std::size_t i) { y[i] = a; });
}

void scale(Gpu& be, double a, DeviceSpan<double> y)
{
    for_each(be, "scale", y.size(), [a, y = y.data()] __device__(std::size_t i) { y[i] *= a; });
}

void axpy(Gpu& be, double a, DeviceSpan<const double> x, DeviceSpan<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "axpy", x.size(), [a, x = x.data(), y = y.data()] __device__(std::size_t i) { y[i] += a * x[i]; });
}

void axpby(Gpu& be, double a, DeviceSpan<const double> x, double b, DeviceSpan<double> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "axpby", x.size(),
             [a, b, x = x.data(), y = y.data()] __device__(std::size_t i) { y[i] = a * x[i] + b * y[i]; });
}

void multi_dot(Gpu& be, DeviceSpan<const double> block, DeviceSpan<const double> w, std::span<double> h)
{
    ILUX_ASSERT(block.size() == w.size() * h.size());
    const std::size_t n = w.size();
    for (std::size_t first = 0; first < h.size(); first += max_vectors) {
        const auto    count = std::min<std::size_t>(max_vectors, h.size() - first);
        const double* v = block.data() + first * n;
        reduce<Add>(be, "multi_dot", n, static_cast<int>(count),
                    [v, w = w.data(), n] __device__(int k, std::size_t i) { return v[k * n + i] * w[i]; });
        std::copy_n(be.state().sums, count, h.begin() + first);
    }
}

void multi_axpy(Gpu& be, std::span<const double> c, DeviceSpan<const double> block, DeviceSpan<double> y)
{
    ILUX_ASSERT(block.size() == y.size() * c.size());
    const std::size_t n = y.size();
    for (std::size_t first = 0; first < c.size(); first += max_vectors) {
        const auto    count = std::min<std::size_t>(max_vectors, c.size() - first);
        const double* v = block.data() + first * n;
        Coefficients  part;
        std::copy_n(c.begin() + first, count, part.c);
        for_each(be, "multi_axpy", n, [v, part, count, n, y = y.data()] __device__(std::size_t i) {
            double sum = y[i];
            for (std::size_t k = 0; k < count; ++k) sum += part.c[k] * v[k * n + i];
            y[i] = sum;
        });
    }
}

namespace detail {

void* device_allocate(std::size_t bytes)
{
    if (bytes == 0) return nullptr;
    void*             memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        throw OutOfMemory("the device has no room for " + to_string(bytes) + " bytes: " + to_string(free) + " of " +
                          to_string(total) + " are free");
    }
    check(error, "cudaMalloc");
    check(cudaMemset(memory, 0, bytes), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // the streams of Gpus do not wait for the default stream
    return memory;
}

void device_free(void* memory) noexcept { cudaFree(memory); }

void upload_bytes(Gpu& gpu, const void* host, void* device, std::size_t bytes)
{
    const auto stream = cuda::stream(gpu);
    check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "upload");
    check(cudaStreamSynchronize(stream), "upload");
}

void download_bytes(Gpu& gpu, const void* device, void* host, std::size_t bytes)
{
    const auto stream = cuda::stream(gpu);
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "download");
    check(cudaStreamSynchronize(stream), "download");
}

void require_same_size(std::size_t from, std::size_t to)
{
    require(from == to, [&] { return to_string(from) + " values cannot be copied to " + to_string(to); });
}

}  // namespace detail
}  // namespace ilux
