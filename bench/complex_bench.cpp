// What complex values cost on a GPU beside real ones of the same pattern: SpMV, triangular solves, Gram-Schmidt, all
// with nothing in the second-level cache. One row an operation and type:
//     GB/s      bytes that it has to move at least, over the median time
//     of_copy   that rate over the rate of a device copy in the same run
//     vs_real   that rate over the rate of the real operation: 1 where complex values cost their bytes and no more

#include <benchmark/benchmark.h>

#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/bench/gpu_timer.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace {

using namespace ilux;
using Complex = std::complex<double>;

constexpr int runs = 21;

struct Machine {
    Gpu             gpu;
    bench::GpuTimer timer{gpu};
    double          copy_bandwidth = timer.copy_bandwidth();
};
Machine& machine()
{
    static Machine only;
    return only;
}

/// A work to time, and the bytes that it has to move.
struct Work {
    double                bytes;
    std::function<void()> run;
};

/// A, its values multiplied by a number of modulus 1 that is not real.
template <Scalar S>
CsrMatrix<S> matrix(const std::string& spec)
{
    const auto A = gallery::build(spec);
    if constexpr (is_complex<S>) {
        std::vector<S> val;
        for (const double a : A.val()) val.push_back(a * S(0.6, 0.8));
        return CsrMatrix<S>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                         {A.col().begin(), A.col().end()}, std::move(val));
    } else return A;
}

template <Scalar S>
std::shared_ptr<DeviceBuffer<S>> random_on_device(std::size_t n)
{
    const auto           real = gallery::random_vector(static_cast<Index>(n));
    const std::vector<S> host(real.begin(), real.end());
    auto                 device = std::make_shared<DeviceBuffer<S>>(n);
    upload<S>(machine().gpu, host, *device);
    return device;
}

template <Scalar S>
Work spmv_of(const std::string& spec)
{
    const auto host = matrix<S>(spec);
    const auto A = std::make_shared<DeviceCsr<S>>(machine().gpu, host);
    const auto x = random_on_device<S>(host.rows()), y = random_on_device<S>(host.rows());
    const auto n = static_cast<double>(host.rows()), nnz = static_cast<double>(host.nnz());
    return {(4 + sizeof(S)) * nnz + 8 * n + 2 * sizeof(S) * n, [=] { spmv(machine().gpu, 1, *A, *x, 0, *y); }};
}

/// L of ILU(0).
template <Scalar S>
Work sptrsv_of(const std::string& spec, GpuSpTrsvEngine engine)
{
    const auto   A = matrix<S>(spec);
    const auto   system = forward_system<S>(Ilu0<S>(A).L(), Triangle::lower, Diagonal::unit);
    const auto   plan = std::make_shared<GpuSpTrsvPlan<S>>(machine().gpu, system, engine);
    const auto   ws = std::make_shared<typename GpuSpTrsvPlan<S>::Workspace>(plan->workspace(machine().gpu));
    const auto   b = random_on_device<S>(A.rows()), x = random_on_device<S>(A.rows());
    const double n = A.rows(), nnz = static_cast<double>(system.L.nnz());
    return {(4 + sizeof(S)) * nnz + 2 * sizeof(S) * n, [=] { plan->solve(machine().gpu, *b, *x, *ws); }};
}

/// k vectors of n numbers that are orthonormal: each has values of its own on rows j, j + k, ...
template <Scalar S>
Work ortho_of(std::size_t n, std::size_t k, bool twice)
{
    std::vector<S> host(n * k);
    const double   size = std::sqrt(static_cast<double>(k) / static_cast<double>(n));
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t i = j; i < n; i += k) host[j * n + i] = size;
    const auto V = std::make_shared<DeviceBuffer<S>>(n * k);
    upload<S>(machine().gpu, host, *V);
    const auto w = random_on_device<S>(n);
    const auto h = std::make_shared<std::vector<S>>(k + 1), scratch = std::make_shared<std::vector<S>>(k + 1);
    const auto bytes = sizeof(S) * static_cast<double>(n) * static_cast<double>(twice ? 3 * k + 7 : k + 2);
    return {bytes, [=] {
                if (twice) (void)cgs2<S>(machine().gpu, *V, *w, *h, *scratch);
                else (void)mgso<S>(machine().gpu, *V, *w, *h);
            }};
}

/// The rates of real operations, by name.
std::map<std::string, double>& real_rates()
{
    static std::map<std::string, double> rates;
    return rates;
}

void Measure(benchmark::State& state, const std::string& name, bool complex, const std::function<Work()>& make)
{
    const Work work = make();
    work.run();  // loads the code
    double seconds = 0;
    for (auto _ : state) {
        seconds = machine().timer.median_cold(runs, work.run);
        state.SetIterationTime(seconds);
    }
    const double rate = work.bytes / seconds;
    if (!complex) real_rates()[name] = rate;
    state.counters["GB/s"] = rate / 1e9;
    state.counters["of_copy"] = rate / machine().copy_bandwidth;
    if (complex && real_rates().contains(name)) state.counters["vs_real"] = rate / real_rates()[name];
}

void add(const std::string& name, const std::function<Work()>& real, const std::function<Work()>& complex)
{
    for (bool is : {false, true})
        benchmark::RegisterBenchmark((name + (is ? "/complex" : "/real")).c_str(), Measure, name, is,
                                     is ? complex : real)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
    for (const char* spec : {"convdiff3d:n=100", "poisson2d:n=1000", "recirculating2d:n=400"}) {
        const std::string at = spec;
        add(
            "spmv/" + at, [=] { return spmv_of<double>(at); }, [=] { return spmv_of<Complex>(at); });
        for (const GpuSpTrsvEngine engine : {GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::chunked})
            add(
                "sptrsv/" + std::string(ilux::name(engine)) + "/" + at, [=] { return sptrsv_of<double>(at, engine); },
                [=] { return sptrsv_of<Complex>(at, engine); });
    }
    for (std::size_t n : {100'000, 1'000'000})
        for (std::size_t k : {5, 10, 30})
            for (bool twice : {false, true}) {
                const auto name =
                    std::string(twice ? "cgs2" : "mgso") + "/n=" + std::to_string(n) + "/k=" + std::to_string(k);
                add(
                    name, [=] { return ortho_of<double>(n, k, twice); },
                    [=] { return ortho_of<Complex>(n, k, twice); });
            }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
