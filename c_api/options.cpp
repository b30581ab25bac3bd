// Options and reports as texts.

#include <nlohmann/json.hpp>

#include "ilux/base/fields.hpp"
#include "ilux/c_api/calls.hpp"
#include "ilux/solver/json/options_json.hpp"
#include "ilux/solver/json/report_json.hpp"

using namespace ilux;
using ilux::c_api::dumped;
using ilux::c_api::guarded;
using ilux::c_api::is_busy;

namespace {

/// @return the text, kept in the solver; null where it cannot be had
template <class Make>
const char* kept_text(ilux_solver* solver, Make&& make) noexcept
{
    if (!solver) return nullptr;
    c_api::Message unsaid;  // the message is of the last call that worked or solved
    const int      status = guarded(unsaid, [&] {
        solver->text = make();
        return ILUX_OK;
    });
    return status == ILUX_OK ? solver->text.c_str() : nullptr;
}

}  // namespace

int ilux_set(ilux_solver* solver, const char* name, const char* value)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        require(name && value, [] { return "name or value is NULL"; });
        SolverOptions changed = solver->options;
        set_field(changed, name, value);
        validate(changed);
        solver->options = changed;
        return ILUX_OK;
    });
}

int ilux_set_json(ilux_solver* solver, const char* text)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        require(text != nullptr, [] { return "text is NULL"; });
        SolverOptions changed = solver->options;
        read_options(changed, text, "the options");
        validate(changed);
        solver->options = changed;
        return ILUX_OK;
    });
}

const char* ilux_options(ilux_solver* solver)
{
    return kept_text(solver, [&] { return dumped(to_json(solver->options)); });
}

const char* ilux_report(ilux_solver* solver, int64_t column)
{
    return kept_text(solver, [&] {
        const auto& reports = solver->reports;
        require(column >= 0 && column < static_cast<std::int64_t>(reports.size()),
                [] { return "there is no report of such a column"; });
        nlohmann::ordered_json tree{{"version", ilux_version()}};
        tree.update(to_json(reports[static_cast<std::size_t>(column)]));
        return dumped(tree);
    });
}
