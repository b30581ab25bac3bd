// Reading and writing Matrix Market files; bytes are those of the (unpacked) text.
// $ILUX_MTX names a file to read instead of the generated one: bench/compare_scipy.py uses this.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/text_file.hpp"

namespace {

using namespace ilux;

/// n rows of a diagonal and 6 random neighbours, values of 15 to 17 digits.
CsrMatrix<double> sample(Index n)
{
    std::mt19937_64     engine(1);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i)
        for (int k = 0; k < 7; ++k) {
            row.push_back(i);
            col.push_back(k == 0 ? i : static_cast<Index>(engine() % static_cast<std::uint64_t>(n)));
            val.push_back(static_cast<double>(engine() >> 11) * 0x1p-53);
        }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

const CsrMatrix<double>& matrix()
{
    static const auto A = sample(150'000);
    return A;
}

/// The file read: given by $ILUX_MTX, or written once and removed at the end of the program.
class SampleFile {
public:
    explicit SampleFile(const std::string& suffix)
    {
        if (const char* given = std::getenv("ILUX_MTX"); given != nullptr && suffix.empty()) {
            path_ = given;
            return;
        }
        path_ = (std::filesystem::temp_directory_path() / ("ilux_bench_" + std::to_string(getpid()) + ".mtx" + suffix))
                    .string();
        write_matrix(path_, matrix());
        ours_ = true;
    }
    ~SampleFile()
    {
        if (ours_) std::filesystem::remove(path_);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    bool        ours_ = false;
};

void read_file(benchmark::State& state, const std::string& path)
{
    Offset nnz = 0;
    for (auto _ : state) nnz = read_matrix(path, {.threads = static_cast<int>(state.range(0))}).nnz();
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * TextFile(path).view().size()));
    state.counters["nnz"] = static_cast<double>(nnz);
}

void ReadPlain(benchmark::State& state)
{
    static const SampleFile file("");
    read_file(state, file.path());
}

void ReadGzip(benchmark::State& state)
{
    static const SampleFile file(".gz");
    read_file(state, file.path());
}

void Write(benchmark::State& state)
{
    const std::string path =
        (std::filesystem::temp_directory_path() / ("ilux_bench_out_" + std::to_string(getpid()) + ".mtx")).string();
    for (auto _ : state) write_matrix(path, matrix());
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * std::filesystem::file_size(path)));
    std::filesystem::remove(path);
}

BENCHMARK(ReadPlain)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(ReadGzip)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Write)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
