// Direct solution of series of circuits: analysis, first factorization, refactorization with 1 … 16 threads, solve; KLU
// with its own defaults (block form, AMD, row scaling) and its own factors beside it, where it was found. The series
// are the folders of the folder that the environment variable ILUX_SEQUENCES names (format: `ilux sequence`), else
// circuits of the gallery with moved values. Refactorizations and solves take the systems of a series in turn.
//
// On a machine with other work, interleave and take minima:
//   lu_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=10 --benchmark_format=json

#include <benchmark/benchmark.h>
#ifdef ILUX_WITH_KLU
#include <klu.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/gallery/gallery.hpp"

namespace {

using namespace ilux;

constexpr Index most_systems = 8;  // of a series, kept in memory

struct Series {
    std::string                      name;
    CsrMatrix<double>                A;  ///< the first system
    std::vector<std::vector<double>> values;
    std::vector<double>              b;
};

Series from_folder(const std::filesystem::path& folder)
{
    app::SequenceInput input({folder.string()});
    Series             s{.name = folder.filename().string(), .A = {}, .values = {}, .b = {}};
    for (Index k = 0; k < std::min(most_systems, input.systems()); ++k) {
        input.read(k);
        s.values.emplace_back(input.A().val().begin(), input.A().val().end());
        if (k > 0) continue;
        s.A = CsrMatrix<double>(input.A());
        s.b.assign(input.b().begin(), input.b().end());
    }
    return s;
}

Series from_gallery(const std::string& spec)
{
    Series s{.name = spec, .A = gallery::build(spec), .values = {}, .b = {}};
    for (Index k = 0; k < 4; ++k) {
        const auto change = gallery::random_vector(static_cast<Index>(s.A.nnz()), k + 1);
        auto&      values = s.values.emplace_back(s.A.val().begin(), s.A.val().end());
        for (std::size_t p = 0; k > 0 && p < values.size(); ++p) values[p] *= 1 + 0.1 * change[p];
    }
    s.b = gallery::random_vector(s.A.rows());
    return s;
}

std::vector<Series> all_series()
{
    std::vector<Series> all;
    if (const char* folder = std::getenv("ILUX_SEQUENCES")) {
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            if (std::filesystem::exists(entry.path() / "pattern.mtx")) all.push_back(from_folder(entry.path()));
        std::sort(all.begin(), all.end(), [](const Series& a, const Series& b) { return a.name < b.name; });
    } else
        for (const char* spec : {"mna_random:n=20000,decades=6", "power_grid:n=100", "rlc_mesh:n=40,segments=10",
                                 "like_ASIC_320ks:scale=0.1"})
            all.push_back(from_gallery(spec));
    return all;
}

/// Made when first needed, outside the timing.
const LuFactors<>& factors_of(const Series& s, std::optional<LuFactors<>>& cache)
{
    if (!cache) cache = gilbert_peierls(analyse(view(s.A)), s.values.front());
    return *cache;
}

void count(benchmark::State& state, const Series& s, const LuFactors<>& F)
{
    state.counters["n"] = s.A.rows();
    state.counters["nnz"] = static_cast<double>(s.A.nnz());
    state.counters["fill"] = static_cast<double>(F.pattern->nnz() + F.pattern->nnz_F());
    state.counters["flops"] = F.pattern->flops();
}

void analysis(benchmark::State& state, const Series& s)
{
    for (auto _ : state) benchmark::DoNotOptimize(analyse(view(s.A)));
}

void factorization(benchmark::State& state, const Series& s, int threads)
{
    const auto  symbolic = analyse(view(s.A));
    LuFactors<> F;
    for (auto _ : state) F = gilbert_peierls(symbolic, s.values.front(), {}, Cpu(threads));
    count(state, s, F);
}

void refactorization(benchmark::State& state, const Series& s, const LuFactors<>& first, int threads)
{
    Cpu           be(threads);
    CpuRefactor<> refactor(be, first.pattern);
    LuFactors<>   F = first;
    std::size_t   k = 0, bad = 0;
    for (auto _ : state) {
        refactor.run(be, s.values[k++ % s.values.size()], F);
        bad += F.monitor.bad_column >= 0;
    }
    if (bad > 0) state.SkipWithError("a bad pivot");
    count(state, s, F);
    state.counters["threads"] = refactor.threads();
    state.counters["plan_bytes"] = static_cast<double>(refactor.bytes());
}

void plan(benchmark::State& state, const LuFactors<>& first, int threads)
{
    Cpu be(threads);
    for (auto _ : state) CpuRefactor<>(be, first.pattern);
}

/// What a GPU refactors a batch by, as far as the host makes it.
void program(benchmark::State& state, const LuFactors<>& F, int threads)
{
    const TailColumns tail = choose_dense_tail(*F.pattern);
    Index             depth = 0;
    for (auto _ : state) depth = factor_dataflow(*F.pattern, tail, Cpu(threads)).depth;
    state.counters["depth"] = depth;
}

void solve(benchmark::State& state, const Series& s, const LuFactors<>& F)
{
    Cpu                 one(1);
    LuWorkspace<>       ws(s.A.rows());
    std::vector<double> x(s.A.rows());
    for (auto _ : state) lu_solve(one, F, s.b, x, ws);
    count(state, s, F);
}

#ifdef ILUX_WITH_KLU
class Klu {
public:
    explicit Klu(const Series& s)
    {
        klu_defaults(&common_);
        const CsrMatrix<double> columns = transpose(s.A);
        ptr_.assign(columns.row_ptr().begin(), columns.row_ptr().end());
        row_.assign(columns.col().begin(), columns.col().end());
        for (const auto& values : s.values) {
            const auto of_system =
                CsrMatrix<double>::from_sorted(s.A.rows(), s.A.cols(), {s.A.row_ptr().begin(), s.A.row_ptr().end()},
                                               {s.A.col().begin(), s.A.col().end()}, values);
            const auto by_columns = transpose(of_system);
            values_.emplace_back(by_columns.val().begin(), by_columns.val().end());
        }
    }
    ~Klu()
    {
        klu_free_numeric(&numeric_, &common_);
        klu_free_symbolic(&symbolic_, &common_);
    }
    Klu(const Klu&) = delete;
    Klu& operator=(const Klu&) = delete;

    void analyse()
    {
        klu_free_symbolic(&symbolic_, &common_);
        symbolic_ = klu_analyze(static_cast<int>(ptr_.size()) - 1, ptr_.data(), row_.data(), &common_);
    }
    void factor()
    {
        klu_free_numeric(&numeric_, &common_);
        numeric_ = klu_factor(ptr_.data(), row_.data(), values_.front().data(), symbolic_, &common_);
    }
    bool refactor(std::size_t k)
    {
        return klu_refactor(ptr_.data(), row_.data(), values_[k % values_.size()].data(), symbolic_, numeric_,
                            &common_) &&
               common_.status == KLU_OK;
    }
    void solve(std::vector<double>& x)
    {
        klu_solve(symbolic_, numeric_, static_cast<int>(x.size()), 1, x.data(), &common_);
    }
    void count(benchmark::State& state)
    {
        klu_flops(symbolic_, numeric_, &common_);
        state.counters["fill"] = double(numeric_->lnz) + numeric_->unz - numeric_->n + numeric_->nzoff;
        state.counters["flops"] = common_.flops;
    }

private:
    klu_common                       common_{};
    klu_symbolic*                    symbolic_ = nullptr;
    klu_numeric*                     numeric_ = nullptr;
    std::vector<int>                 ptr_, row_;
    std::vector<std::vector<double>> values_;
};

void klu(benchmark::State& state, const Series& s, const std::string& step)
{
    Klu klu(s);
    klu.analyse();
    if (step != "analyse") klu.factor();
    std::vector<double> x = s.b;
    std::size_t         k = 0, bad = 0;
    for (auto _ : state) {
        if (step == "analyse") klu.analyse();
        else if (step == "factor") klu.factor();
        else if (step == "refactor") bad += !klu.refactor(k++);
        else klu.solve(x = s.b);
    }
    if (bad > 0) state.SkipWithError("a bad pivot");
    if (step != "analyse") klu.count(state);
}
#endif

void add(const std::string& name, auto&& run)
{
    benchmark::RegisterBenchmark(name.c_str(), run)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->ComputeStatistics("min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
}

void add_series(const Series& s)
{
    const auto first = std::make_shared<std::optional<LuFactors<>>>();
    const auto factors = [&s, first]() -> const LuFactors<>& { return factors_of(s, *first); };
    const int  processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    add(s.name + "/analyse", [&s](benchmark::State& state) { analysis(state, s); });
    add(s.name + "/factor", [&s](benchmark::State& state) { factorization(state, s, 1); });
    for (const int threads : {1, 2, 4, 8, 16}) {
        if (threads > processors) break;
        const std::string suffix = "/threads:" + std::to_string(threads);
        if (threads > 1)
            add(s.name + "/factor" + suffix,
                [&s, threads](benchmark::State& state) { factorization(state, s, threads); });
        add(s.name + "/refactor" + suffix,
            [&s, factors, threads](benchmark::State& state) { refactorization(state, s, factors(), threads); });
        add(s.name + "/plan" + suffix,
            [factors, threads](benchmark::State& state) { plan(state, factors(), threads); });
        add(s.name + "/program" + suffix,
            [factors, threads](benchmark::State& state) { program(state, factors(), threads); });
    }
    add(s.name + "/solve", [&s, factors](benchmark::State& state) { solve(state, s, factors()); });
#ifdef ILUX_WITH_KLU
    for (const char* step : {"analyse", "factor", "refactor", "solve"})
        add(s.name + "/klu_" + step, [&s, step](benchmark::State& state) { klu(state, s, step); });
#endif
}

}  // namespace

int main(int argc, char** argv)
{
    const auto all = all_series();
    for (const Series& s : all) add_series(s);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
