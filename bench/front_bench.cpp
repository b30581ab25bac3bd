// Refactorization and substitution by fronts on a GPU: medians of cold runs, each one launch of a graph, beside what
// had to be moved and multiplied at least. Systems are names of the gallery, or folders of a sequence (pattern.mtx,
// values.f64).
//
//   front_bench [--json FILE --commit TEXT] convdiff2d:n=400 pgrid/

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/bench/gpu_timer.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"
#include "ilux/gallery/gallery.hpp"

namespace {

using namespace ilux;

constexpr int runs = 11;

using Json = nlohmann::ordered_json;

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

CsrMatrix<double> system_named(const std::string& name)
{
    if (name.back() != '/') return gallery::build(name);
    const auto          A = read_matrix(name + "pattern.mtx");
    std::vector<double> val(static_cast<std::size_t>(A.nnz()));
    std::ifstream       file(name + "values.f64", std::ios::binary);
    file.read(reinterpret_cast<char*>(val.data()), static_cast<std::streamsize>(val.size() * sizeof(double)));
    require(bool(file), [&] { return "no values in " + name; });
    return CsrMatrix<double>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                          {A.col().begin(), A.col().end()}, val);
}

double backward_error(const CsrMatrix<double>& A, const std::vector<double>& x, const std::vector<double>& b)
{
    double residual = 0, size = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        double r = b[i], s = std::abs(b[i]);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            r -= A.val()[p] * x[A.col()[p]];
            s += std::abs(A.val()[p] * x[A.col()[p]]);
        }
        residual = std::max(residual, std::abs(r));
        size = std::max(size, s);
    }
    return residual / size;
}

/// Smallest times that the plan allows: products at 50 TFLOPS, numbers written once and what is left written and read
/// at 4 TB/s.
void print_bounds(const FrontPlan& plan)
{
    double              left = 0, pivots = 0;
    std::vector<double> path(plan.fronts(), 0);
    for (Index f = 0; f < plan.fronts(); ++f) {
        left += double(plan.tree.updates(f)) * plan.tree.updates(f);
        path[f] += plan.tree.pivots(f);
        pivots = std::max(pivots, path[f]);
        if (const Index up = plan.tree.parent[f]; up >= 0) path[up] = std::max(path[up], path[f]);
    }
    std::printf("  multiply-adds %.3g (%.2f ms), numbers %.3g, left %.3g (%.2f ms), longest path of pivots %.0f\n",
                plan.multiply_adds, plan.multiply_adds * 2 / 50e12 * 1e3, double(plan.numbers()), left,
                (double(plan.numbers()) + 2 * left) * 8 / 4e12 * 1e3, pivots);
}

/// Adds to `found`.
void measure_on_gpu(const CsrMatrix<double>& A, const std::shared_ptr<const FrontPlan>& plan,
                    const std::shared_ptr<const LuPattern>& pattern, Json& found)
{
    Gpu                gpu;
    auto               begin = std::chrono::steady_clock::now();
    GpuFrontRefactor<> refactor(gpu, plan, pattern);
    gpu.synchronize();
    const double prepare = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    GpuFrontSolve<> solve(gpu, refactor, Transpose::no);
    gpu.synchronize();
    std::printf(
        "  levels %zu, launches %d, of a solve %d; preparation %.2f + %.2f s; %.0f + %.0f MB, of them left %.0f\n",
        refactor.schedule().levels.size(), refactor.schedule().launches, solve.launches(), prepare,
        seconds_since(begin), refactor.bytes() * 1e-6, solve.bytes() * 1e-6, refactor.schedule().rests * 8e-6);
    DeviceBuffer<double> values(A.val().size()), b(A.rows()), x(A.rows());
    upload<double>(gpu, A.val(), values);
    const auto host_b = gallery::random_vector(A.rows());
    upload<double>(gpu, host_b, b);
    const auto run = [&] { refactor.run(gpu, values.data()); };
    run();
    const auto      monitor = refactor.monitor(gpu);
    const GpuGraph  numbers(gpu, run), solution(gpu, [&] { solve.run(gpu, b.data(), x.data()); });
    bench::GpuTimer timer(gpu);
    numbers.launch(gpu);
    solution.launch(gpu);
    const double        refactor_time = timer.median_cold(runs, [&] { numbers.launch(gpu); });
    const double        solve_time = timer.median_cold(runs, [&] { solution.launch(gpu); });
    std::vector<double> host_x(A.rows());
    download<double>(gpu, x, host_x);
    std::printf("  refactor %.3f ms, solve %.3f ms; backward error %.1e, replaced %d, growth %.1e, bad %d\n",
                refactor_time * 1e3, solve_time * 1e3, backward_error(A, host_x, host_b), monitor.replaced,
                monitor.rgrowth, monitor.bad_column);
    found.update({{"seconds_prepare", prepare},
                  {"launches_refactor", refactor.schedule().launches},
                  {"launches_solve", solve.launches()},
                  {"bytes_refactor", refactor.bytes()},
                  {"bytes_solve", solve.bytes()},
                  {"refactor_cold", refactor_time},
                  {"solve_cold", solve_time},
                  {"backward_error", backward_error(A, host_x, host_b)},
                  {"replaced", monitor.replaced},
                  {"bad_column", monitor.bad_column}});
}

Json measure(const std::string& name)
{
    const auto   A = system_named(name);
    Cpu          be;
    auto         begin = std::chrono::steady_clock::now();
    LuOptions    options;
    const auto   symbolic = analyse<double>(view<double>(A), options, {}, be);
    const double analysis = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    const auto   plan = make_front_plan(be, *symbolic);
    const auto   pattern = front_pattern<double>(be, *symbolic, *plan, options, A.val());
    const double fronts = seconds_since(begin);
    std::printf("%s: n %d, nnz %ld, fronts %d, largest %d; analysis %.2f s, fronts %.2f s\n", name.c_str(), A.rows(),
                long(A.nnz()), plan->fronts(), plan->largest_front, analysis, fronts);
    print_bounds(*plan);
    Json found{{"name", name},
               {"n", A.rows()},
               {"nnz", A.nnz()},
               {"ordering", field_text(symbolic->report.ordering)},
               {"fronts", plan->fronts()},
               {"numbers", plan->numbers()},
               {"multiply_adds", plan->multiply_adds},
               {"threads", be.threads()},
               {"seconds_analyse", analysis},
               {"seconds_plan", fronts}};
    if (gpu_count() > 0) measure_on_gpu(A, plan, pattern, found);
    return found;
}

}  // namespace

int main(int argc, char** argv)
{
    std::string file, commit, command = "front_bench";
    Json        systems = Json::array();
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--json" && i + 1 < argc) file = argv[++i];
        else if (word == "--commit" && i + 1 < argc) commit = argv[++i];
        else {
            command += " " + word;
            systems.push_back(measure(word));
        }
    }
    if (file.empty()) return 0;
    const Json record{{"suite", "fronts"},  {"commit", commit},
                      {"command", command}, {"device", gpu_count() > 0 ? gpu_name(0) : "none"},
                      {"runs", runs},       {"systems", systems}};
    std::ofstream(file) << record.dump(2) << "\n";
}
