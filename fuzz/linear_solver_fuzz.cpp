// Any sequence of calls of LinearSolver on small matrices, sensible or not: nothing crashes or hangs, what is thrown is
// what the header promises, numbers that were refused change nothing, what a report says of x is so, and "converged" is
// said of an x that meets what docs/design/solver.md holds it to, judged in 113 bits. A fixed mode repeats its bits.
// Run: linear_solver_fuzz fuzz/corpus/linear_solver

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/fuzz/exact_residual.hpp"
#include "ilux/fuzz/expect.hpp"
#include "ilux/fuzz/solver_script.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace {

using namespace ilux;
using namespace ilux::fuzz;

constexpr double lu_tolerance = 1e-12, least_sure = 1e-2;  // as documented

/// What a listener throws.
struct Interruption {};

bool all_finite(std::span<const double> v)
{
    return std::ranges::all_of(v, [](double value) { return std::isfinite(value); });
}

bool same_pattern(const CsrView<double>& A, const CsrView<double>& B)
{
    return A.rows() == B.rows() && A.cols() == B.cols() && std::ranges::equal(A.row_ptr(), B.row_ptr()) &&
           std::ranges::equal(A.col(), B.col());
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

bool same_bits(std::span<const double> a, std::span<const double> b)
{
    return std::ranges::equal(a, b, {}, bits, bits);
}

/// What a success is held to, whichever strategy led to it.
void expect_standard(const Attempt& tried, const ExactResidual& exact, const SolverOptions& options)
{
    const KrylovOptions& krylov = options.krylov;
    const bool   automatic = options.strategy() == SolverMode::automatic, accurate = krylov.stop == StopTest::error;
    const bool   singular = tried.warning.find("A is singular in working precision") != std::string::npos;
    const double worst = tried.accuracy.worst_error;
    if (tried.plan.direct()) {
        if (tried.accuracy.rowwise <= lu_tolerance) expect(exact.rowwise.at_most(lu_tolerance), "LU: row-wise error");
        else {
            expect(exact.rowwise_counting.at_most(lu_tolerance), "LU: row-wise error of the rows that count");
            expect(worst <= least_sure, "LU: either rows or unknowns");
        }
        if (!exact.relative_residual.at_most(krylov.rtol))
            expect(!tried.remark.empty(), "LU: a remark on the residual");
        if (options.strategy() == SolverMode::direct && accurate && !singular)
            expect(worst <= krylov.etol, "LU: stop=error");
        if (automatic) expect(worst <= krylov.etol || !tried.warning.empty(), "LU: uncertain unknowns are told");
        return;
    }
    if (!tried.remark.empty()) expect(exact.rowwise_counting.at_most(lu_tolerance), "iteration: converged by its rows");
    else if (krylov.stop == StopTest::backward_error)
        expect(exact.backward_error.at_most(krylov.rtol), "iteration: backward error");
    else expect(exact.relative_residual.at_most(krylov.rtol), "iteration: residual");
    if (singular) return;
    if (krylov.stop == StopTest::rowwise && !automatic)
        expect(exact.rowwise_counting.at_most(krylov.rtol), "iteration: stop=rowwise");
    if (!automatic && !accurate) return;
    constexpr double loosest = 1e-6;  // that a witness lets rows be
    expect(exact.rowwise_counting.at_most(loosest), "iteration: rows to 1e-6");
    expect(worst <= krylov.etol && tried.accuracy.error <= krylov.etol, "iteration: estimated error");
}

/// What a report says of x, right or wrong.
void expect_measured(const Attempt& tried, const ExactResidual& exact)
{
    const Accuracy& told = tried.accuracy;
    if (!told.finite) return;
    expect(exact.finite, "a finite x");
    expect(exact.relative_residual.is(told.relative_residual), "accuracy.relative_residual");
    expect(exact.backward_error.is(told.backward_error), "accuracy.backward_error");
    expect(exact.rowwise.is(told.rowwise), "accuracy.rowwise");
    if (!std::isnan(told.rowwise_counting))
        expect(exact.rowwise_counting.is(told.rowwise_counting), "accuracy.rowwise_counting");
    expect(!(tried.converged() && tried.report.relative_residual != told.relative_residual), "one residual told");
}

/// One object that plays a script, and what it showed.
class Player {
public:
    explicit Player(const SolverScript& script) : options_(script.options)
    {
        try {
            solver_.emplace(options_);
        } catch (const InvalidOption& refused) {
            expect(*refused.what() != '\0', "a reason");
            return;
        }
        for (const ScriptCall& one : script.calls) play(one);
    }

    const std::vector<std::uint64_t>& shown() const { return shown_; }

private:
    using Kind = ScriptCall::Kind;

    void play(const ScriptCall& call)
    {
        shown_.push_back(static_cast<std::uint64_t>(call.kind));
        if (call.kind == Kind::listen) return listen(call);
        if (call.kind == Kind::move) return move();
        if (call.kind == Kind::analyse) return analyse(call.A, call.systems);
        if (call.kind == Kind::analyse_own) return analyse_own();
        if (call.kind == Kind::solve) return solve(call);
        renew(call);
    }

    /// @param sensible  that the header gives no reason to refuse. @return whether the call returned
    template <class Work>
    bool guarded(bool sensible, Work&& work)
    {
        try {
            work();
            expect(sensible, "a call without sense is refused");
            return true;
        } catch (const InvalidInput& refused) {
            expect((!sensible || lacks_definiteness()) && *refused.what() != '\0', refused.what());
            shown_.push_back(1);
        } catch (const InvalidOption& refused) {
            expect(false, refused.what());  // the constructor took them
        } catch (const Error&) {
            shown_.push_back(2);
        } catch (const std::bad_alloc&) {
            shown_.push_back(3);
        } catch (const Interruption&) {
            expect(interrupts_, "what nobody threw");
            shown_.push_back(4);
        }
        expect_numbers();
        return false;
    }

    /// A multilevel ILU for CG was asked for, which A does not allow.
    bool lacks_definiteness() const
    {
        Cpu serial(1);
        return options_.precond.mlilu.definite &&
               !(asymmetry_of(serial, A_, Mirror::hermitian).within_rounding && has_positive_diagonal(A_));
    }

    /// The matrix of the solver is the one that was taken last.
    void expect_numbers() const
    {
        const CsrView<double>& A = solver_->matrix();
        if (analysed_) expect(same_pattern(A, A_) && same_bits(A.val(), A_.val()), "the numbers that were taken last");
    }

    void listen(const ScriptCall& call)
    {
        interrupts_ = call.fault_after >= 0;
        AttemptListener listener{.on_progress = {}, .keep_history = call.questions < 0};
        solver_->stop_by(StopToken().asking([left = call.questions]() mutable { return left-- == 0; }));
        std::function<void(const Attempt&)> after;
        if (call.fault_after >= 0)
            after = [left = call.fault_after](const Attempt&) mutable {
                if (left-- == 0) throw Interruption();
            };
        solver_->listen(std::move(listener), std::move(after));
    }

    void move()
    {
        LinearSolver other(std::move(*solver_));
        *solver_ = LinearSolver(options_);
        *solver_ = std::move(other);
        expect_numbers();
    }

    /// @param A  of the script, which outlives the solver: it borrows
    void analyse(const CsrMatrix<double>& A, double systems)
    {
        if (!guarded(A.rows() == A.cols() && all_finite(A.val()), [&] { solver_->analyse(A, systems); })) return;
        analysed(A);
    }

    void analyse_own()
    {
        CsrMatrix<double> given = A_;
        if (!guarded(true, [&] { solver_->analyse(std::move(given), 2); })) return;
        analysed(A_);
    }

    void analysed(const CsrMatrix<double>& A)
    {
        A_ = A;
        analysed_ = true;
        numbers_ = Numbers::none;
        expect_numbers();
        (void)solver_->device();
    }

    /// What is there of the strategy taken last.
    void expect_factors(const FactorReport& report)
    {
        shown_.push_back(static_cast<std::uint64_t>(report.outcome));
        shown_.push_back(static_cast<std::uint64_t>(report.method));
        expect(report.ready() || !report.detail.empty(), "why there are no factors");
        expect(report.seconds >= 0, "seconds");
        const bool direct = report.method == MethodChoice::lu;
        if (!report.ready()) return;
        expect(direct == (solver_->lu() != nullptr) && direct == (solver_->preconditioner() == nullptr),
               "the factors of the strategy taken");
    }

    void renew(const ScriptCall& call)
    {
        const bool        own = call.kind == Kind::factor || call.kind == Kind::refactor_own;
        const bool        of_matrix = call.kind == Kind::refactor_matrix;
        CsrMatrix<double> before = A_;
        const auto        values = own ? std::span<const double>(before.val()) : of_matrix ? call.A.val() : call.values;
        bool              sensible = analysed_ && std::ssize(values) == A_.nnz() && all_finite(values);
        if (of_matrix) sensible = sensible && same_pattern(call.A, A_);
        const bool solves = call.kind == Kind::refactor_and_solve;
        if (solves) sensible = sensible && fits(call);
        if (sensible) std::ranges::copy(values, A_.val().begin());
        if (sensible) numbers_ = Numbers::broken_off;
        if (solves) return refactor_and_solve(call, sensible);
        std::optional<FactorReport> report;
        const bool                  returned = guarded(sensible, [&] {
            switch (call.kind) {
                case Kind::factor:
                    report = solver_->factor();
                    break;
                case Kind::factor_values:
                    report = solver_->factor(values);
                    break;
                case Kind::refactor_values:
                    report = solver_->refactor(values);
                    break;
                case Kind::refactor_own:
                    report = solver_->refactor(solver_->matrix());
                    break;
                default:
                    report = solver_->refactor(call.A);
            }
        });
        if (!returned) return;
        numbers_ = report->ready() ? Numbers::factored : Numbers::failed;
        expect_factors(*report);
        expect_numbers();
    }

    bool fits(const ScriptCall& call) const
    {
        return std::ssize(call.b) == A_.rows() && call.x.size() == call.b.size() && all_finite(call.b);
    }

    void refactor_and_solve(const ScriptCall& call, bool sensible)
    {
        Vector                      x = call.x;
        std::optional<SolverReport> report;
        if (!guarded(sensible, [&] { report = solver_->refactor_and_solve(call.values, call.b, x); })) return;
        numbers_ = Numbers::factored;
        judge(*report, call.b, x);
    }

    void solve(const ScriptCall& call)
    {
        Vector                      x = call.x;
        std::optional<SolverReport> report;
        const auto                  work = [&] { report = solver_->solve(call.b, x); };
        const bool                  sensible = analysed_ && numbers_ != Numbers::none && fits(call);
        if (sensible && numbers_ == Numbers::broken_off) {  // it may have come far enough
            try {
                work();
            } catch (const InvalidInput&) {
                return;
            } catch (const Interruption&) {
                expect(interrupts_, "what nobody threw");
                return;
            }
        } else if (!guarded(sensible, work)) return;
        judge(*report, call.b, x);
        if (numbers_ == Numbers::failed) expect(!report->converged(), "no solution without factors");
    }

    void judge(const SolverReport& report, std::span<const double> b, const Vector& x)
    {
        expect(!report.attempts.empty() && report.best < report.attempts.size(), "a result");
        expect(same_bits(report.result().x.of<double>(), x), "x is that of the result");
        expect(report.converged() == report.result().converged(), "one outcome");
        for (const std::string& decision : report.decisions) expect(!decision.empty(), "a decision");
        for (const Attempt& tried : report.attempts) {
            shown_.push_back(static_cast<std::uint64_t>(tried.report.outcome));
            shown_.push_back(static_cast<std::uint64_t>(tried.report.steps));
            for (const double value : tried.x.of<double>()) shown_.push_back(std::isnan(value) ? 0 : bits(value));
            const ExactResidual exact = exact_residual(A_, tried.x.of<double>(), b);
            expect_measured(tried, exact);
            if (!tried.converged()) continue;
            expect(exact.finite && tried.accuracy.finite, "a finite solution");
            expect_standard(tried, exact, options_);
        }
        expect_numbers();
    }

    enum class Numbers { none, broken_off, failed, factored };

    SolverOptions                 options_;
    std::optional<LinearSolver<>> solver_;
    CsrMatrix<double>             A_;  // as it should be in the solver
    bool                          analysed_ = false, interrupts_ = false;
    Numbers                       numbers_ = Numbers::none;
    std::vector<std::uint64_t>    shown_;
};

/// Nothing is decided by seconds.
bool repeats(const SolverOptions& options)
{
    return options.strategy() != SolverMode::automatic && (options.time_limit == 0 || options.time_limit >= 100);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const SolverScript script = solver_script(data, size);
    const Player       first(script);
    if (script.twice && repeats(script.options)) expect(Player(script).shown() == first.shown(), "the same bits again");
    return 0;
}
