#pragma once
// What calls with a solver have in common.

#include <nlohmann/json.hpp>
#include <string>

#include "ilux/c_api/guard.hpp"
#include "ilux/c_api/session.hpp"

namespace ilux::c_api {

/// Whether a call is refused because the solver's own call is under way, whose message must stay.
inline bool is_busy(const ilux_solver& solver)
{
    if (solver.busy == ilux_solver::Busy::no) return false;
    message_of_thread().set(
        "another call of this solver is under way: a callback must not use the solver that calls it");
    return true;
}

/// A call with a solver that begins work, which may be cancelled from now on.
template <class Work>
int run(ilux_solver* solver, Work&& work, ilux_solver::Busy what = ilux_solver::Busy::with_factors) noexcept
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    solver->cancelled = false;
    solver->busy = what;
    const int status = guarded(solver->message, [&] { return work(*solver); });
    solver->busy = ilux_solver::Busy::no;
    return status;
}

/// In one line; bytes that are no UTF-8 are replaced.
inline std::string dumped(const nlohmann::ordered_json& tree)
{
    return tree.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ilux::c_api
