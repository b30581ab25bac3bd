// The calls of ilux.h that make, use and ask a solver.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "ilux/c_api/calls.hpp"
#include "ilux/engine/report/status_code.hpp"

using namespace ilux;
using ilux::c_api::guarded;
using ilux::c_api::is_busy;
using ilux::c_api::message_of_thread;
using ilux::c_api::run;
using ilux::c_api::Session;

namespace {

Transpose transpose_of(int op)
{
    require(op == ILUX_PLAIN || op == ILUX_TRANSPOSED || op == ILUX_ADJOINT,
            [&] { return "op is " + std::to_string(op) + ", not ILUX_PLAIN, ILUX_TRANSPOSED or ILUX_ADJOINT"; });
    return static_cast<Transpose>(op);
}
static_assert(int(Transpose::no) == ILUX_PLAIN && int(Transpose::yes) == ILUX_TRANSPOSED &&
              int(Transpose::adjoint) == ILUX_ADJOINT);

std::string in_words(Outcome outcome, const std::string& why)
{
    return std::string(name(outcome)) + (why.empty() ? "" : ": " + why);
}

/// Copies the facts into the caller's struct. One of a later version has further fields at its end, which become 0.
/// @throws InvalidInput where its size is less than that of this version
template <class Facts>
void fill(const Facts& known, Facts& to, const char* name)
{
    const std::size_t given = to.size;
    require(given >= sizeof known, [&] {
        return fmt::format("size of {} is {}; set it to sizeof({}), which is {} here", name, given, name, sizeof known);
    });
    std::memcpy(&to, &known, sizeof known);
    std::memset(reinterpret_cast<std::byte*>(&to) + sizeof known, 0, given - sizeof known);
    to.size = given;
}

/// Says why there are no factors. @return the status
int status_of_factors(ilux_solver& solver, const FactorReport& report)
{
    if (!report.ready()) solver.message.set(in_words(report.outcome, report.detail));
    return status_code(report.outcome);
}

/// Says what became of the first column that did not converge. @return its status, or ILUX_OK
int status_of_columns(ilux_solver& solver)
{
    for (std::size_t k = 0; k < solver.reports.size(); ++k) {
        const Outcome outcome = solver.reports[k].outcome();
        if (outcome == Outcome::converged) continue;
        const std::string column = solver.reports.size() > 1 ? "column " + std::to_string(k) + ": " : "";
        solver.message.set(column + in_words(outcome, solver.reports[k].why()));
        return status_code(outcome);
    }
    return ILUX_OK;
}

}  // namespace

const char* ilux_version(void) { return ILUX_VERSION; }
int         ilux_api_version(void) { return ILUX_API_VERSION; }

const char* ilux_outcome_name(int32_t outcome)
{
    const auto all = names(Outcome{});
    return outcome >= 0 && outcome < static_cast<int32_t>(all.size()) ? all[outcome].data() : "unknown";
}

int ilux_create(int values, ilux_solver** solver)
{
    if (solver) *solver = nullptr;
    return guarded(message_of_thread(), [&] {
        require(solver != nullptr, [] { return "solver is NULL"; });
        require(values == ILUX_REAL || values == ILUX_COMPLEX,
                [&] { return "values is " + std::to_string(values) + ", not ILUX_REAL or ILUX_COMPLEX"; });
        if (values == ILUX_REAL) *solver = new Session<double>;
        else *solver = new Session<std::complex<double>>;
        return ILUX_OK;
    });
}

void ilux_destroy(ilux_solver* solver) { delete solver; }

int ilux_set_stream(ilux_solver* solver, int device, void* stream)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        solver->use_stream(device, stream);
        return ILUX_OK;
    });
}

int ilux_set_null_space(ilux_solver* solver, int64_t n, int64_t count, const void* columns)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        solver->set_null_space(n, count, columns);
        return ILUX_OK;
    });
}

int ilux_set_near_null(ilux_solver* solver, int64_t n, int64_t count, const double* columns)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        solver->set_near_null(n, count, columns);
        return ILUX_OK;
    });
}

int ilux_analyse(ilux_solver* solver, const ilux_csr* A, double systems, double columns)
{
    return run(solver, [&](ilux_solver& s) {
        require(A != nullptr, [] { return "A is NULL"; });
        s.analyse(*A, {systems, columns});
        return ILUX_OK;
    });
}

int ilux_factor(ilux_solver* solver, const void* values)
{
    return run(solver, [&](ilux_solver& s) { return status_of_factors(s, s.factor(values, false)); });
}

int ilux_refactor(ilux_solver* solver, const void* values)
{
    return run(solver, [&](ilux_solver& s) { return status_of_factors(s, s.factor(values, true)); });
}

int ilux_factors_of(ilux_solver* solver, ilux_factors* factors)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        require(factors != nullptr, [] { return "factors is NULL"; });
        fill(solver->factors(), *factors, "ilux_factors");
        return ILUX_OK;
    });
}

int ilux_lu_of(ilux_solver* solver, ilux_lu* lu)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        require(lu != nullptr, [] { return "lu is NULL"; });
        *lu = solver->lu();
        return ILUX_OK;
    });
}

int ilux_near_null_of(ilux_solver* solver, int64_t* count, const void** columns)
{
    if (!solver || is_busy(*solver)) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        require(count && columns, [] { return "an argument is NULL"; });
        *count = solver->near_null(*columns);
        return ILUX_OK;
    });
}

int ilux_solve(ilux_solver* solver, int op, int64_t columns, const void* b, int64_t ldb, void* x, int64_t ldx)
{
    return run(solver, [&](ilux_solver& s) {
        s.reports.clear();
        s.solve(transpose_of(op), columns, b, ldb, x, ldx);
        return status_of_columns(s);
    });
}

int ilux_precondition(ilux_solver* solver, int op, int64_t columns, const void* r, int64_t ldr, void* z, int64_t ldz)
{
    if (!solver || (solver->busy == ilux_solver::Busy::with_factors && is_busy(*solver))) return ILUX_BAD_INPUT;
    return guarded(solver->message, [&] {
        solver->precondition(transpose_of(op), columns, r, ldr, z, ldz);
        return ILUX_OK;
    });
}

int ilux_solve_batch(ilux_solver* solver, int64_t members, const void* values, const void* b, void* x)
{
    return run(solver, [&](ilux_solver& s) {
        s.reports.clear();
        s.solve_batch(members, values, b, x);
        return status_of_columns(s);
    });
}

int ilux_solve_operator(ilux_solver* solver, int64_t n, ilux_apply A, void* user_A, ilux_apply M, void* user_M,
                        const void* b, void* x)
{
    return run(
        solver,
        [&](ilux_solver& s) {
            s.reports.clear();
            s.solve_operator(n, A, user_A, M, user_M, b, x);
            return status_of_columns(s);
        },
        ilux_solver::Busy::with_operator);
}

int ilux_apply_preconditioner(void* solver, int op, const void* r, void* z)
{
    auto* const s = static_cast<ilux_solver*>(solver);
    if (!s || (s->busy == ilux_solver::Busy::with_factors && is_busy(*s))) return ILUX_BAD_INPUT;
    return guarded(s->message, [&] {
        s->precondition(transpose_of(op), 1, r, std::numeric_limits<Index>::max(), z,
                        std::numeric_limits<Index>::max());
        return ILUX_OK;
    });
}

int ilux_listen(ilux_solver* solver, ilux_progress progress, void* user)
{
    if (!solver) return ILUX_BAD_INPUT;
    solver->progress = progress;
    solver->user = user;
    return ILUX_OK;
}

int ilux_iterate(ilux_solver* solver, void* x)
{
    if (!solver) return ILUX_BAD_INPUT;
    return guarded(message_of_thread(), [&] {
        solver->copy_iterate(x);
        return ILUX_OK;
    });
}

void ilux_cancel(ilux_solver* solver)
{
    if (solver) solver->cancelled.store(true, std::memory_order_relaxed);
}

const char* ilux_message(const ilux_solver* solver) { return solver ? solver->message.text() : "the solver is NULL"; }

int64_t ilux_columns(const ilux_solver* solver)
{
    return solver ? static_cast<std::int64_t>(solver->reports.size()) : 0;
}

int ilux_result_of(const ilux_solver* solver, int64_t column, ilux_result* result)
{
    if (!solver || !result || column < 0 || column >= ilux_columns(solver)) return ILUX_BAD_INPUT;
    const SolverReport& report = solver->reports[static_cast<std::size_t>(column)];
    const Attempt&      tried = report.result();
    const ilux_result   known{.size = sizeof(ilux_result),
                              .outcome = static_cast<std::int32_t>(report.outcome()),
                              .direct = tried.plan.direct(),
                              .steps = tried.report.steps,
                              .relative_residual = tried.report.relative_residual,
                              .backward_error = tried.accuracy.backward_error,
                              .worst_error = tried.accuracy.worst_error,
                              .seconds = report.seconds};
    return guarded(message_of_thread(), [&] {
        fill(known, *result, "ilux_result");
        return ILUX_OK;
    });
}
