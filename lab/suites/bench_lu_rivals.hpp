#pragma once
// One matrix of the suite `lu` by solvers of others.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ilux/lab/rivals/lu_rival.hpp"
#include "ilux/lab/suites/bench_lu_measure.hpp"

namespace ilux::app {

/// Those of a GPU, and those of lu_rivals(), in the order in which they are measured.
std::vector<std::string> rival_names();
bool                     is_lu_rival(const std::string& method);

/// Why a rival of that name cannot be measured, or "". @param no_gpu  why no GPU is
std::string why_no_rival(const std::string& name, const std::string& no_gpu);

/// {analyse, factor, prepare, numeric, solve, backward_error, …}: prepare is analyse + factor, of the first values;
/// numeric and solve are of the second, and the componentwise backward error is that of the x that the rival hands out,
/// refined or not as it does by itself. @throws as make_lu_rival
template <Scalar S>
nlohmann::ordered_json on_rival(const LuRivalKind& kind, const LuSystem<S>& system, const LuBench& bench);

}  // namespace ilux::app
