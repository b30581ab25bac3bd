#include "ilux/lab/suites/bench_lu_measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/apps/input/sequence_input.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/lab/suites/bench_lu_gpu.hpp"
#include "ilux/lab/suites/bench_lu_rivals.hpp"
#include "ilux/lab/suites/published_dependencies.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// The first system and the values of the second, if there is one.
LuSystem<> read_series(const std::string& folder)
{
    LuSystem<>    s;
    SequenceInput input({folder});
    s.source = "sequence";
    input.read(0);
    s.first_values.assign(input.A().val().begin(), input.A().val().end());
    if (input.systems() > 1) input.read(1);
    s.A = CsrMatrix<double>(input.A());
    s.b.assign(input.b().begin(), input.b().end());
    return s;
}

template <Scalar S>
LuSystem<S> system_of(Problem<S> problem)
{
    LuSystem<S> s;
    s.A = std::move(problem.A);
    s.b = std::move(problem.b);
    s.first_values.assign(s.A.val().begin(), s.A.val().end());
    return s;
}

/// @param load  (path): the problem of a file or the gallery
template <class System, class Load>
System read_lu_system(const std::string& path, Load&& load)
{
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) return read_series(path);
    return load(path);
}

template <Scalar S>
void name_system(LuSystem<S>& s, const std::string& path)
{
    s.name = path;
    if (s.source.empty()) s.source = path.starts_with("gallery:") ? "gallery" : "file";
}

/// Chooses pivots.
template <Scalar S>
void factor_first(LuSystem<S>& s, const LuBench& bench)
{
    Cpu        be(bench.threads);
    WallClock  clock;
    const auto symbolic = analyse(first_view(s), within_memory({.order_for = bench.order_for}), {}, be);
    s.seconds_analyse = clock.seconds();
    require_memory(*symbolic, {});
    clock = WallClock();
    s.first = gilbert_peierls<S>(symbolic, s.first_values, {}, be);
    s.seconds_factor = clock.seconds();
    require_pivots("the first factorization", s.first.monitor);
}

/// Times of a refactorization for real_stand_ins.
Json real_by_the_same_pattern(const LuSystem<std::complex<double>>& system, const LuBench& bench, int threads)
{
    Cpu           be(threads);
    CpuRefactor<> refactor(be, system.first.pattern);
    const auto    values = real_stand_ins(system);
    LuFactors<>   F{system.first.symbolic,
                  system.first.pattern,
                  LuValues<double>(system.first.val.size()),
                  std::vector<double>(system.first.f_val.size()),
                  {}};
    const Times   numeric = timed(bench.repetitions, [&] { refactor.run(be, values, F); });
    return F.monitor.bad_column < 0 ? to_json(numeric) : Json(nullptr);
}

template <Scalar S>
Json measured_step(const LuSystem<S>& s, const LuBench& bench, const std::string& step,
                   std::unique_ptr<LuBenchGpu<S>>& gpu)
{
    if (step == "dependencies") return dependencies_json(*s.first.pattern, bench);
    if (const LuRivalKind* rival = find_lu_rival(step)) return on_rival(*rival, s, bench);
    if (step.starts_with("cpu:")) {
        std::int32_t threads = 0;
        parse_field("threads", std::string_view(step).substr(4), threads);
        return on_host(s, bench, threads);
    }
    if (!gpu) gpu = std::make_unique<LuBenchGpu<S>>(s, bench);
    if (step == "ablation") return gpu->ablation();
    if (step == "cudss") return gpu->measure_cudss();
    if (step == "supernodes_gpu") return gpu->measure_supernodes();
    RefactorMethod method{};
    parse_field("methods", step, method);
    return gpu->measure(method);
}

}  // namespace

AnyLuSystem load_any_lu_system(const std::string& path, const LuBench& bench, bool factored)
{
    auto system = read_lu_system<AnyLuSystem>(path, [](const std::string& name) {
        auto any = load_any_problem(name, "A1");
        return std::visit([](auto& problem) -> AnyLuSystem { return system_of(std::move(problem)); }, any);
    });
    std::visit(
        [&](auto& s) {
            name_system(s, path);
            if (factored) factor_first(s, bench);
        },
        system);
    return system;
}

LuSystem<> load_lu_system(const std::string& path)
{
    auto system =
        read_lu_system<LuSystem<>>(path, [](const std::string& name) { return system_of(load_problem(name, "A1")); });
    name_system(system, path);
    factor_first(system, {.threads = 1});
    return system;
}

template <Scalar S>
Json size_json(const LuSystem<S>& system)
{
    return {{"source", system.source}, {"complex", is_complex<S>}, {"n", system.A.rows()}, {"nnz", system.A.nnz()}};
}

template <Scalar S>
Json system_json(const LuSystem<S>& system)
{
    const LuPattern&  P = *system.first.pattern;
    const LuSymbolic& symbolic = *system.first.symbolic;
    Index             longest = 0;
    for (Index k = 0; k < P.n; ++k) longest = std::max(longest, P.upper_count(k));
    const auto   depth = [&](DependencyRule rule) { return lu_levels(P, rule).depth(); };
    const double nnz = double(P.nnz()) + double(P.nnz_F());
    Json         json = size_json(system);
    json.update({{"nnz_LU", P.nnz()},
                 {"nnz_F", P.nnz_F()},
                 {"fill", system.A.nnz() > 0 ? nnz / double(system.A.nnz()) : 0},
                 {"flops", P.flops()},
                 {"multiply_adds", P.multiply_adds()},
                 {"ordering", field_text(symbolic.report.ordering)},
                 {"blocks", P.blocks()},
                 {"largest_block", symbolic.report.largest_block},
                 {"longest_column", longest},
                 {"seconds_analyse", system.seconds_analyse},
                 {"seconds_factor", system.seconds_factor},
                 {"levels",
                  {{"left", depth(DependencyRule::left)},
                   {"exact", depth(DependencyRule::exact)},
                   {"relaxed", depth(DependencyRule::relaxed)},
                   {"resource_aware", resource_aware_levels(P, DependencyRule::exact, resource_aware_capacity).depth()},
                   {"capacity", resource_aware_capacity}}}});
    return json;
}

Json dependencies_json(const LuPattern& P, const LuBench& bench)
{
    LuLevels   levels;
    const auto by = [&](DependencyRule rule) { return timed(bench.repetitions, [&] { levels = lu_levels(P, rule); }); };
    const Times exact = by(DependencyRule::exact), relaxed = by(DependencyRule::relaxed);
    const auto  loops = published_dependencies(P, bench.loop_limit);
    return {{"exact", to_json(exact)},
            {"relaxed", to_json(relaxed)},
            {"published",
             {{"seconds", loops.seconds},
              {"complete", loops.complete},
              {"columns", loops.columns},
              {"double_u", loops.edges.size()}}},
            {"exact_by_relaxed", exact.median / relaxed.median},
            {"published_by_exact", loops.seconds / exact.median},
            {"published_by_relaxed", loops.seconds / relaxed.median}};
}

std::vector<double> real_stand_ins(const LuSystem<std::complex<double>>& system)
{
    std::vector<double> values;
    for (const auto a : system.A.val()) values.push_back(a.real() + a.imag());
    return values;
}

void require_pivots(std::string_view method, const PivotMonitor& monitor)
{
    require(monitor.bad_column < 0, [&] {
        return fmt::format("{}: column {} of B has {}", method, monitor.bad_column,
                           monitor.not_finite ? "a value that is not finite" : "a zero pivot");
    });
}

template <Scalar S>
Json on_host(const LuSystem<S>& system, const LuBench& bench, int threads)
{
    Cpu             be(threads);
    const WallClock clock;
    CpuRefactor<S>  refactor(be, system.first.pattern);
    const double    prepare = clock.seconds();
    LuFactors<S>    F = system.first;
    const Times     numeric = timed(bench.repetitions, [&] { refactor.run(be, system.A.val(), F); });
    require_pivots("cpu", F.monitor);

    std::vector<S>     x(system.b.size());
    LuWorkspace<S>     ws(system.A.rows());
    const Times        solve = timed(bench.repetitions, [&] { lu_solve<S>(be, F, system.b, x, ws); });
    const RefineReport refined = lu_refine<S>(be, F, view(system.A), system.b, x, ws);
    Json               found{{"method", "cpu"},
               {"threads", be.threads()},
               {"taking_part", refactor.threads()},
               {"prepare", prepare},
               {"numeric", to_json(numeric)},
               {"solve", to_json(solve)},
               {"bytes", F.bytes() + F.pattern->bytes() + refactor.bytes()},
               {"backward_error", refined.backward_error},
               {"refine_steps", refined.steps}};
    if constexpr (is_complex<S>) found["real"] = real_by_the_same_pattern(system, bench, threads);
    return found;
}

void measure_lu(const LuBench& bench, const std::string& path, const std::vector<std::string>& steps,
                const TakeJson& take)
{
    AnyLuSystem       any;
    const bool        factored = !std::ranges::all_of(steps, is_lu_rival);
    const std::string failure = failure_of([&] {
        any = load_any_lu_system(path, bench, factored);
        take({{"matrix",
               std::visit([&](const auto& system) { return factored ? system_json(system) : size_json(system); },
                          any)}});
    });
    if (!failure.empty()) return take({{"error", failure}});
    std::visit(
        [&]<Scalar S>(const LuSystem<S>& system) {
            std::unique_ptr<LuBenchGpu<S>> gpu;
            run_steps(
                steps, [&](const std::string& step) { return measured_step(system, bench, step, gpu); }, take);
        },
        any);
}

#define ILUX_INSTANTIATE(S)                        \
    template Json system_json(const LuSystem<S>&); \
    template Json on_host(const LuSystem<S>&, const LuBench&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
