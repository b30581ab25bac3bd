#pragma once
// One matrix of the suite `lu`: what its pattern tells, dependency detection, and refactorization on host threads and a
// GPU.

#include <complex>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ilux/apps/compare/timings.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/base/gpu/usual_device.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux::app {

struct LuBench {
    Index      repetitions = 9;
    double     time_limit = 120;
    double     loop_limit = 5;
    Index      threads = 0;
    LuOrderFor order_for = LuOrderFor::host;
};

template <class Visit>
void fields(LuBench& o, Visit&& visit)
{
    visit("repetitions", o.repetitions, at_least(1), "runs of which the median is taken");
    visit("time-limit", o.time_limit, at_least(0),
          "seconds for one method on one matrix, or its first factors; 0: none");
    visit("loop-limit", o.loop_limit, within(1e-3, 1e9), "seconds for the dependency detection of GLU 2.0");
    visit("threads", o.threads, within(0, 4096), "of the host; 0: as OMP_NUM_THREADS says, or all");
    visit("order-for", o.order_for, anything(), "of methods by entries: lu.order_for");
}

/// A matrix whose pivots are chosen, and another of the same pattern to refactor.
template <Scalar S = double>
struct LuSystem {
    std::string    name, source;  ///< source: sequence, file or gallery
    CsrMatrix<S>   A;             ///< to refactor: of a sequence the second, else the same values again
    std::vector<S> first_values;  ///< nnz; for which pivots were chosen
    std::vector<S> b;             ///< n
    LuFactors<S>   first;
    double         seconds_analyse = 0, seconds_factor = 0;
};

/// The matrix for which pivots were chosen.
template <Scalar S>
MatrixView<S> first_view(const LuSystem<S>& s)
{
    MatrixView<S> A = view(s.A);
    A.val = s.first_values;
    return A;
}

using AnyLuSystem = std::variant<LuSystem<double>, LuSystem<std::complex<double>>>;

/// @param path  a folder as SequenceInput takes it, of real values, a Matrix Market file or gallery:NAME
/// @param bench     its threads choose pivots by its order
/// @param factored  false: `first` stays empty
/// @throws as these, and InvalidInput for a singular matrix
AnyLuSystem load_any_lu_system(const std::string& path, const LuBench& bench, bool factored = true);
/// Loads a system of real values, on one thread. @throws InvalidInput also when the file has complex ones
LuSystem<> load_lu_system(const std::string& path);

/// Columns that the usual device holds at once, 8 blocks a multiprocessor, for resource-aware levels. No device is
/// asked, so that these counts compare between machines.
constexpr Index resource_aware_capacity = 8 * usual_multiprocessors;

/// source, complex, n, nnz.
template <Scalar S>
nlohmann::ordered_json size_json(const LuSystem<S>& system);
/// Fields of size_json, and fill, flops, blocks, levels by every rule. A complex operation is one of flops.
template <Scalar S>
nlohmann::ordered_json system_json(const LuSystem<S>& system);

/// Seconds of the exact and relaxed rules and of GLU 2.0's loops.
nlohmann::ordered_json dependencies_json(const LuPattern& P, const LuBench& bench);

/// {prepare, numeric, solve, bytes, backward_error, refine_steps, …}; the backward error is the componentwise one of a
/// refined solution. Of complex values also real: the times of numeric for real values by the same pattern and pivots.
/// @throws InvalidInput for a bad pivot
template <Scalar S>
nlohmann::ordered_json on_host(const LuSystem<S>& system, const LuBench& bench, int threads);

/// Real values to refactor by the pattern of complex factors, beside them. Re + Im of numbers at random angles do not
/// cancel more than these; what comes of them is not looked at, but must be finite.
std::vector<double> real_stand_ins(const LuSystem<std::complex<double>>& system);

/// @throws InvalidInput naming method and column where the refactorization met a bad pivot
void require_pivots(std::string_view method, const PivotMonitor& monitor);

/// Measures one matrix, step by step, and hands out as it comes {"matrix": {...}}, then for every step {"begin": step}
/// and
/// {"step": step, "result": {...}} or {"step": step, "error": "..."}; {"error": "..."} before the first step. Rivals
/// alone: nothing is factored by us, and "matrix" is the size.
/// @param steps  dependencies; a method of LuOptions::refactor, or cpu:THREADS, or a rival's name; ablation
void measure_lu(const LuBench& bench, const std::string& path, const std::vector<std::string>& steps,
                const TakeJson& take);

}  // namespace ilux::app
