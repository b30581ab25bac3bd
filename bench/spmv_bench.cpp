// SpMV on a 7-point stencil of 10⁶ rows beside the triad a[i] = b[i] + s·c[i]: both are bound by memory, so the figure
// to watch is their ratio. Bytes declared: SpMV 12 nnz (values and columns) + 8 (rows + 1) (row_ptr)
// + 8 (rows + cols) (y and x, each once); triad 24 n. Nothing is added for cache lines fetched before they are written.

#include <benchmark/benchmark.h>

#include <vector>

#include "ilux/base/matrix/spmv.hpp"

namespace {

using namespace ilux;

/// The 7-point Laplacian on a k×k×k grid, by rows.
CsrMatrix<double> stencil(Index k)
{
    const Index         n = k * k * k;
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<double> val;
    const auto          put = [&](bool inside, Index j, double value) {
        if (!inside) return;
        col.push_back(j);
        val.push_back(value);
    };
    for (Index z = 0, i = 0; z < k; ++z)
        for (Index y = 0; y < k; ++y)
            for (Index x = 0; x < k; ++x, ++i) {
                put(z > 0, i - k * k, -1);
                put(y > 0, i - k, -1);
                put(x > 0, i - 1, -1);
                put(true, i, 6);
                put(x + 1 < k, i + 1, -1);
                put(y + 1 < k, i + k, -1);
                put(z + 1 < k, i + k * k, -1);
                row_ptr.push_back(static_cast<Offset>(col.size()));
            }
    return CsrMatrix<double>::from_sorted(n, n, std::move(row_ptr), std::move(col), std::move(val));
}

void Spmv(benchmark::State& state)
{
    static const auto   A = stencil(100);
    Cpu                 be(static_cast<int>(state.range(0)));
    std::vector<double> x(A.cols(), 1), y(A.rows(), 0);
    for (auto _ : state) {
        spmv<double>(be, 1, A, x, 0, y);
        benchmark::ClobberMemory();
    }
    const auto bytes = 12 * A.nnz() + 8 * (Offset{A.rows()} + 1) + 8 * (Offset{A.rows()} + A.cols());
    state.SetBytesProcessed(state.iterations() * bytes);
}

void Triad(benchmark::State& state)
{
    const std::size_t   n = 10'000'000;  // 240 MB, as large beside the caches as the machine allows without waiting
    const int           threads = static_cast<int>(state.range(0));
    std::vector<double> a(n, 0), b(n, 1), c(n, 2);
    double              s = 3;
    for (auto _ : state) {
        benchmark::DoNotOptimize(s);
#pragma omp parallel for simd schedule(static) num_threads(threads) if (threads > 1)
        for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 24 * n));
}

BENCHMARK(Triad)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(Spmv)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
