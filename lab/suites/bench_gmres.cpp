#include "ilux/lab/suites/bench_gmres.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/stand_ins.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/engine/report/accuracy.hpp"
#include "ilux/engine/gpu_system.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// What the variants of one form of M share.
struct Form {
    OffDiagonal      off_diagonal = OffDiagonal::keep;
    PrecondFactors<> factors;
};

struct Bench {
    const GmresBench& asked;
    const TakeJson&   take;
    const Problem<>&  problem;
    Machine&          machine;
};

MlIluOptions form_options(const GmresBench& asked, OffDiagonal off_diagonal)
{
    MlIluOptions options = resolved(asked.options).precond.mlilu;
    options.off_diagonal = off_diagonal;
    return off_diagonal == OffDiagonal::keep ? for_gpu(options) : options;
}

Form build(const Bench& bench, OffDiagonal off_diagonal)
{
    Form form{.off_diagonal = off_diagonal, .factors = {}};
    form.factors.mlilu = MlIlu<>::build(bench.machine.cpu, bench.problem.A, form_options(bench.asked, off_diagonal));
    const MlIluReport& report = form.factors.mlilu->report();
    Offset             chain = 0;
    for (const MlIluLevelReport& level : report.levels) chain += level.depth_L + level.depth_U;
    bench.take({{"setup",
                 {{"off_diagonal", field_text(off_diagonal)},
                  {"levels", report.levels.size()},
                  {"fill", report.fill},
                  {"depth", chain},
                  {"bytes", report.bytes},
                  {"seconds_analyse", report.seconds_analyse},
                  {"seconds_factor", report.seconds_factor},
                  {"decisions", report.decisions}}}});
    return form;
}

/// Solves from x = 0 until there are as many runs as asked for; the first is not counted unless it is long.
std::vector<IterationReport> repeat(const GmresBench& asked, const std::function<IterationReport()>& solve)
{
    std::vector<IterationReport> runs{solve()};
    if (runs.front().seconds.solve > long_run) return runs;
    runs.clear();
    for (Index k = 0; k < asked.repeats; ++k) runs.push_back(solve());
    return runs;
}

Json seconds_json(const std::vector<IterationReport>& runs)
{
    const auto of = [&](auto&& part) {
        std::vector<double> seconds;
        for (const IterationReport& run : runs) seconds.push_back(part(run.seconds));
        return seconds;
    };
    const auto total = of([](const SolveSeconds& s) { return s.solve; });
    return {{"spmv", median(of([](const SolveSeconds& s) { return s.spmv; }))},
            {"precond", median(of([](const SolveSeconds& s) { return s.precond; }))},
            {"ortho", median(of([](const SolveSeconds& s) { return s.ortho; }))},
            {"other", median(of([](const SolveSeconds& s) { return s.other(); }))},
            {"total", median(total)},
            {"total_least", *std::ranges::min_element(total)},
            {"total_most", *std::ranges::max_element(total)}};
}

Json variant_json(const Variant& variant, const Problem<>& problem, const KrylovOptions& krylov,
                  const std::vector<IterationReport>& runs, std::span<const double> x)
{
    const IterationReport& last = runs.back();
    const double           residual = measure(problem.A, x, problem.b).relative_residual;
    const bool             verified = last.outcome != Outcome::converged || residual <= krylov.rtol;
    return {{"letter", variant.letter},
            {"name", variant.name},
            {"ortho", field_text(krylov.ortho)},
            {"off_diagonal", field_text(variant.off_diagonal)},
            {"outcome", name(verified ? last.outcome : Outcome::stagnated)},
            {"steps", last.steps},
            {"relative_residual", residual},
            {"runs", runs.size()},
            {"seconds", seconds_json(runs)}};
}

Json on_host(const Bench& bench, const Variant& variant, const KrylovOptions& krylov, const Form& form)
{
    const MatrixOperator A(bench.problem.A);
    MlIluPreconditioner  M(*form.factors.mlilu);
    KrylovWorkspace<Cpu> workspace(Method::gmres, bench.problem.n(), krylov);
    std::vector<double>  x(bench.problem.b.size());
    const auto           runs = repeat(bench.asked, [&] {
        std::ranges::fill(x, 0.);
        return ilux::solve<Cpu>(bench.machine.cpu, Method::gmres, A, M, bench.problem.b, x, workspace, krylov);
    });
    return variant_json(variant, bench.problem, krylov, runs, x);
}

Json on_gpu(const Bench& bench, const Variant& variant, const KrylovOptions& krylov, const Form& form)
{
    const SolveOptions& options = bench.asked.options;
    const bool          best = variant.off_diagonal == OffDiagonal::keep;
    GpuSystem           system(bench.machine.cpu, *bench.machine.gpu, bench.problem.A, Method::gmres, krylov,
                               {.precision = best ? options.precond.precision : Precision::in_double,
                                .engine = best ? options.sptrsv.engine : variant.engine,
                                .memory_limit = options.device_memory});
    system.put(form.factors);
    const double        transfer = system.report().seconds_transfer;
    std::vector<double> x(bench.problem.b.size());
    const auto          runs = repeat(bench.asked, [&] {
        std::ranges::fill(x, 0.);
        return system.solve(bench.problem.b, x, krylov);
    });
    Json                json = variant_json(variant, bench.problem, krylov, runs, x);
    const GpuReport&    report = system.report();
    json["precision"] = field_text(report.precision);
    json["seconds_transfer"] = transfer;
    json["peak_device"] = report.peak_bytes;
    json["systems"] = Json::array();
    for (const auto& [facts, engine] : report.systems)
        json["systems"].push_back(
            {{"engine", field_text(engine)}, {"n", facts.n}, {"nnz", facts.nnz}, {"depth", facts.depth}});
    return json;
}

void take_failure(const Bench& bench, const Variant& variant, const std::string& why)
{
    bench.take({{"variant", {{"letter", variant.letter}, {"name", variant.name}, {"error", why}}}});
}

void measure_variant(const Bench& bench, const Variant& variant, const Form& form)
{
    KrylovOptions krylov = bench.asked.options.krylov;
    krylov.restart = std::clamp(std::min(bench.problem.n(), krylov.max_steps), 1, krylov.restart);
    if (variant.off_diagonal != OffDiagonal::keep) krylov.ortho = variant.ortho;
    const std::string failure = failure_of([&] {
        bench.take({{"variant",
                     variant.on_gpu ? on_gpu(bench, variant, krylov, form) : on_host(bench, variant, krylov, form)}});
    });
    if (!failure.empty()) take_failure(bench, variant, failure);
}

void measure_variants(const Bench& bench)
{
    // Fast ones first: what a time limit cuts off is the host's.
    for (const OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        std::optional<Form> form;
        std::string         failure;  // of this form's factorization; the other may still succeed
        for (const Variant& variant : variants()) {
            if (variant.off_diagonal != off_diagonal || (variant.on_gpu && !bench.machine.gpu)) continue;
            if (!form && failure.empty()) failure = failure_of([&] { form = build(bench, off_diagonal); });
            if (form) measure_variant(bench, variant, *form);
            else take_failure(bench, variant, failure);
        }
    }
}

}  // namespace

std::span<const PaperRow> paper_rows()
{
    static constexpr std::array<PaperRow, 10> rows{{
        {"apache2", 5, 1.10, 4.98, 1.46},
        {"ASIC_320ks", 2, 1.74, 2.29, 1.25},
        {"atmosmodd", 46, 2.20, 8.82, 2.83},
        {"cage13", 7, 2.36, 4.74, 2.09},
        {"ecology2", 5, 0.96, 5.93, 1.45},
        {"G3_circuit", 5, 0.97, 6.63, 1.47},
        {"lung2", 4, 2.11, 1.45, 1.60},
        {"parabolic_fem", 3, 1.16, 3.93, 1.28},
        {"ship_003", 5, 2.69, 1.89, 2.05},
        {"thermomech_dK", 500, 2.97, 5.01, 3.05},
    }};
    return rows;
}

std::span<const Variant> variants()
{
    static constexpr std::array<Variant, 4> all{{
        {"d", "best", "GPU: two systems a sweep (keep), engine by rows and depth, fused Gram-Schmidt", true,
         OffDiagonal::keep},
        {"c", "proposal", "GPU, the paper's proposal: sync-free triangular solves, hybrid MGSO", true,
         OffDiagonal::save, GpuSpTrsvEngine::syncfree, Orthogonalization::mgso_hybrid},
        {"b", "baseline", "GPU, the paper's baseline: cuSPARSE SpSV, MGSO on the host", true, OffDiagonal::save,
         GpuSpTrsvEngine::cusparse, Orthogonalization::mgso_host},
        {"a", "cpu", "CPU, on the threads it was given", false, OffDiagonal::save},
    }};
    return all;
}

Source find_matrix(const GmresBench& bench, std::string_view name)
{
    const std::filesystem::path folder = bench.matrices;
    for (const std::string& file : {fmt::format("{}.mtx", name), fmt::format("{}.mtx.gz", name),
                                    fmt::format("{0}/{0}.mtx", name), fmt::format("{0}/{0}.mtx.gz", name)}) {
        std::error_code unknown;
        if (!bench.matrices.empty() && std::filesystem::exists(folder / file, unknown))
            return {.matrix = (folder / file).string(), .real = true};
    }
    return {.matrix = fmt::format("gallery:like_{}:scale={:g}", name, bench.scale), .real = false};
}

void measure_matrix(const GmresBench& bench, std::string_view name, const TakeJson& take)
{
    const std::string failure = failure_of([&] {
        const Source    source = find_matrix(bench, name);
        const Problem<> problem = load_problem(source.matrix, "A1");
        take({{"matrix",
               {{"source", source.real ? "real" : "stand-in"},
                {"file", source.matrix},
                {"n", problem.n()},
                {"nnz", problem.A.nnz()},
                {"symmetric", problem.symmetric}}}});
        Machine machine{.cpu = Cpu(bench.options.threads)};
        if (bench.options.device != DeviceChoice::cpu && gpu_count() > 0) machine.gpu = std::make_unique<Gpu>();
        measure_variants({.asked = bench, .take = take, .problem = problem, .machine = machine});
    });
    if (!failure.empty()) take({{"error", failure}});
}

}  // namespace ilux::app
