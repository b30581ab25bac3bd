#include "ilux/lab/suites/bench_lu_rivals.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ilux/apps/program/progress.hpp"
#include "ilux/base/cpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/cudss_rival.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux::app {

std::vector<std::string> rival_names()
{
    std::vector<std::string> names{"cudss", "supernodes_gpu"};
    for (const LuRivalKind& kind : lu_rivals()) names.emplace_back(kind.name);
    return names;
}

bool is_lu_rival(const std::string& method) { return std::ranges::count(rival_names(), method) > 0; }

std::string why_no_rival(const std::string& name, const std::string& no_gpu)
{
    if (const LuRivalKind* on_host = find_lu_rival(name)) return on_host->why_not();
    const std::string why = name == "cudss" ? why_no_cudss() : "";
    return why.empty() ? no_gpu : why;
}

template <Scalar S>
nlohmann::ordered_json on_rival(const LuRivalKind& kind, const LuSystem<S>& system, const LuBench& bench)
{
    const auto first = CsrMatrix<S>::from_sorted(system.A.rows(), system.A.cols(),
                                                 {system.A.row_ptr().begin(), system.A.row_ptr().end()},
                                                 {system.A.col().begin(), system.A.col().end()}, system.first_values);
    const auto rival = make_lu_rival<S>(kind, first, Cpu(bench.threads).threads());
    WallClock  clock;
    rival->analyse();
    const double analyse = clock.seconds();
    clock = WallClock();
    rival->factor();
    const double factor = clock.seconds();

    const Times numeric = timed(
        bench.repetitions, [&] { rival->refactor(); }, [&] { rival->set_values(system.A.val()); });
    std::vector<S>     b;
    std::span<const S> x;
    const Times        solve = timed(
               bench.repetitions, [&] { x = rival->solve(b); }, [&] { b = system.b; });
    nlohmann::ordered_json found{{"method", kind.name},
                                 {"analyse", analyse},
                                 {"factor", factor},
                                 {"prepare", analyse + factor},
                                 {"numeric", to_json(numeric)},
                                 {"solve", to_json(solve)},
                                 {"backward_error", measure<S>(system.A, x, system.b).rowwise}};
    found.update(rival->facts());
    return found;
}

#define ILUX_INSTANTIATE(S) \
    template nlohmann::ordered_json on_rival(const LuRivalKind&, const LuSystem<S>&, const LuBench&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
