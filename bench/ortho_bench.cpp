// One step of Gram-Schmidt: w of n values against k orthonormal vectors, on the device and on all threads of its host,
// with nothing in the caches. aliaga19 is the division of work of the GPU version of [aliaga19]: cuBLAS for the
// vectors, every coefficient to the host.
//
// Bytes declared, what each algorithm has to move:
//     mgso           8n(k + 2)     V once, w in and out; rows beyond what the device keeps in registers 32(k + 1)
//     cgs2           8n(3k + 7)    V in each of three passes, the middle one being update and dots together; w
//     mgso_hybrid, aliaga19, mgso on the host   8n(5k + 4)   a dot and an update for each vector
// `of_copy` is their rate over that of a device copy in the same run, `vs_host` the host's time over this one.

#include <benchmark/benchmark.h>
#include <cublas_v2.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/bench/gpu_timer.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"

namespace {

using namespace ilux;

constexpr std::size_t most_vectors = 30;
constexpr double      rows_a_multiprocessor = 24. * 512;  // that mgso keeps

void require_success(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cuBLAS failed");
}

cudaStream_t new_stream()
{
    cudaStream_t stream = nullptr;
    if (cudaStreamCreate(&stream) != cudaSuccess) throw std::runtime_error("there is no CUDA device");
    return stream;
}

struct Machine {
    cudaStream_t    stream = new_stream();  // of both libraries
    Gpu             gpu{0, stream};
    bench::GpuTimer timer{gpu};
    double          copy_bandwidth = timer.copy_bandwidth();
    cublasHandle_t  cublas = nullptr;
    Machine()
    {
        require_success(cublasCreate(&cublas));
        require_success(cublasSetStream(cublas, stream));
    }
};
Machine& machine()
{
    static Machine only;
    return only;
}

/// Walsh functions, scaled: orthonormal where 32 divides n, nearly so elsewhere.
std::vector<double> walsh(std::size_t n)
{
    std::vector<double> V(n * most_vectors);
    const double        size = 1 / std::sqrt(static_cast<double>(n));
#pragma omp parallel for
    for (std::size_t j = 0; j < most_vectors; ++j)
        for (std::size_t i = 0; i < n; ++i) V[j * n + i] = std::popcount(i & (j + 1)) % 2 ? -size : size;
    return V;
}

/// The vectors of one n, here and there; only the latest n's are kept.
struct Vectors {
    std::size_t          n;
    std::vector<double>  V, w, h = std::vector<double>(most_vectors + 1), scratch = h;
    DeviceBuffer<double> dV, dw0, dw;

    explicit Vectors(std::size_t size) : n(size), V(walsh(n)), w(n), dV(V.size()), dw0(n), dw(n)
    {
        reset();
        upload<double>(machine().gpu, V, dV);
        upload<double>(machine().gpu, w, dw0);
    }
    void reset()
    {
        for (std::size_t i = 0; i < n; ++i) w[i] = std::sin(static_cast<double>(i));
    }
};
Vectors& vectors(std::size_t n)
{
    static std::unique_ptr<Vectors> latest;
    if (!latest || latest->n != n) {
        latest.reset();
        latest = std::make_unique<Vectors>(n);
    }
    return *latest;
}

/// As [aliaga19] has it. Its tests for repetition are left out: none would hold here.
void aliaga19(Machine& on, const double* V, std::size_t n, std::size_t k, double* w, double* h)
{
    const int length = static_cast<int>(n);
    double    before = 0;
    require_success(cublasDnrm2(on.cublas, length, w, 1, &before));
    for (std::size_t j = 0; j < k; ++j) {
        require_success(cublasDdot(on.cublas, length, V + j * n, 1, w, 1, h + j));
        const double minus = -h[j];
        require_success(cublasDaxpy(on.cublas, length, &minus, V + j * n, 1, w, 1));
    }
    require_success(cublasDnrm2(on.cublas, length, w, 1, h + k));
    const double factor = 1 / h[k];
    require_success(cublasDscal(on.cublas, length, &factor, w, 1));
}

enum class Process { mgso, cgs2, mgso_hybrid, aliaga19, host };
const char* const names[] = {"mgso", "cgs2", "mgso_hybrid", "aliaga19", "mgso_on_host"};

double bytes_of(Process process, std::size_t n, std::size_t k)
{
    const double rows = static_cast<double>(n), v = static_cast<double>(k);
    const double kept = std::min(rows, rows_a_multiprocessor * machine().gpu.multiprocessors());
    switch (process) {
        case Process::mgso:
            return 8 * kept * (v + 2) + 32 * (rows - kept) * (v + 1);
        case Process::cgs2:
            return 8 * rows * (3 * v + 7);
        default:
            return 8 * rows * (5 * v + 4);
    }
}

void run(Process process, Machine& on, Vectors& data, std::size_t k)
{
    const auto V = DeviceSpan<const double>(data.dV).first(data.n * k);
    const auto h = std::span(data.h).first(k + 1);
    Extension  extension = Extension::extended;
    if (process == Process::mgso) extension = mgso(on.gpu, V, data.dw, h);
    else if (process == Process::cgs2) extension = cgs2(on.gpu, V, data.dw, h, data.scratch);
    else if (process == Process::mgso_hybrid) extension = mgso_hybrid<Gpu>(on.gpu, V, data.dw, h);
    else aliaga19(on, V.data(), data.n, k, data.dw.data(), h.data());
    if (extension != Extension::extended) throw std::runtime_error("w was not extended");
}

double host_seconds(Vectors& data, std::size_t k)
{
    static std::vector<double> other(std::size_t{64} << 20, 1);  // 512 MiB: more than the caches hold
    Cpu                        cpu;
    data.reset();
    scale(cpu, 1.0000001, other);
    const auto V = std::span<const double>(data.V).first(data.n * k);
    const auto start = std::chrono::steady_clock::now();
    if (mgso(cpu, V, data.w, std::span(data.h).first(k + 1)) != Extension::extended)
        throw std::runtime_error("w was not extended");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double middle(std::vector<double> times)
{
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// The host's middle time of 5, once for each n and k.
double host_time(Vectors& data, std::size_t k)
{
    static std::map<std::pair<std::size_t, std::size_t>, double> known;
    auto&                                                        time = known[{data.n, k}];
    if (time > 0) return time;
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(host_seconds(data, k));
    return time = middle(times);
}

void Orthogonalize(benchmark::State& state, Process process, std::size_t n, std::size_t k)
{
    Machine& on = machine();
    Vectors& data = vectors(n);
    double   seconds = 0;
    for (auto _ : state) {
        if (process == Process::host) {
            seconds = host_time(data, k);
        } else {
            std::vector<double> times;
            for (int i = 0; i < 12; ++i) {
                copy(on.gpu, data.dw0, data.dw);
                const double time = on.timer.cold([&] { run(process, on, data, k); });
                if (i > 0) times.push_back(time);  // the first also loads the code
            }
            seconds = middle(times);
        }
        state.SetIterationTime(seconds);
    }
    const double rate = bytes_of(process, n, k) / seconds;
    state.counters["GB/s"] = rate / 1e9;
    state.counters["vs_host"] = host_time(data, k) / seconds;
    if (process != Process::host) state.counters["of_copy"] = rate / on.copy_bandwidth;
    state.counters["copy_GB/s"] = on.copy_bandwidth / 1e9;
}

const bool registered = [] {
    for (std::size_t n : {10'000, 100'000, 1'000'000, 4'000'000})
        for (std::size_t k : {1, 5, 10, 20, 30})
            for (Process process :
                 {Process::mgso, Process::cgs2, Process::mgso_hybrid, Process::aliaga19, Process::host}) {
                const auto name = std::string(names[static_cast<int>(process)]) + "/n:" + std::to_string(n) +
                                  "/k:" + std::to_string(k);
                benchmark::RegisterBenchmark(name.c_str(), Orthogonalize, process, n, k)
                    ->UseManualTime()
                    ->Iterations(1)
                    ->Unit(benchmark::kMicrosecond);
            }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
