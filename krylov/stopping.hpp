#pragma once
// Tolerances and limits shared by every Krylov method, and how they turn into an Outcome.

#include <limits>
#include <optional>
#include <string>

#include "ilux/base/fields.hpp"
#include "ilux/base/progress.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// Side of the preconditioner in GMRES: A M⁻¹ u = b, or M⁻¹ A x = M⁻¹ b.
enum class Side { right, left };
/// When x is good enough. The methods themselves hold ‖b − A x‖₂ against ‖b‖₂, or for backward_error against
/// ‖A‖_F ‖x‖₂ + ‖b‖₂; LinearSolver goes on from there for rowwise and error.
enum class StopTest { residual, backward_error, rowwise, error };
/// How the basis is made orthogonal; mgso_hybrid and mgso_host, of a GPU, compute coefficients or all of it on the
/// host.
enum class Orthogonalization { mgso, cgs2, mgso_hybrid, mgso_host };
/// What an iteration computes in. The methods themselves take the type they are given; LinearSolver chooses it. mixed:
/// in single precision, as corrections of an x whose residual is computed in double.
enum class KrylovPrecision { in_double, mixed };

constexpr auto names(Side) { return words("right", "left"); }
constexpr auto names(StopTest) { return words("residual", "backward_error", "rowwise", "error"); }
constexpr auto names(Orthogonalization) { return words("mgso", "cgs2", "mgso_hybrid", "mgso_host"); }
constexpr auto names(KrylovPrecision) { return words("double", "mixed"); }

/// Options of every Krylov method; fields() has their ranges and meanings.
struct KrylovOptions {
    double            rtol = 1e-8;
    double            etol = 5e-3;
    Index             max_steps = 1000;
    Index             restart = 30;
    Side              side = Side::right;
    StopTest          stop = StopTest::residual;
    Orthogonalization ortho = Orthogonalization::mgso;
    double            reorthogonalize = 0.98;
    KrylovPrecision   precision = KrylovPrecision::in_double;
    std::string       null_space = "none";  ///< LinearSolver projects; the methods themselves take no notice
    double matrix_norm = 0;  ///< ‖A‖_F when known: needed by StopTest::backward_error, reported otherwise
};

template <class Visit>
void fields(KrylovOptions& o, Visit&& visit)
{
    visit("rtol", o.rtol, within(0, 1), "stop at ‖b − A x‖₂ ≤ rtol·‖b‖₂");
    visit(
        "etol", o.etol, within(0, 1),
        "stop=error, and auto, where an LU only warns: estimated error of each unknown above 1e-12 of the largest, as a share of it");
    visit("max_steps", o.max_steps, at_least(0), "steps in all: products with A and M, in bicg with Aᴴ and Mᴴ, too");
    visit("restart", o.restart, at_least(1), "Krylov dimension m before a restart");
    visit("side", o.side, anything(), "of the preconditioner in GMRES");
    visit(
        "stop", o.stop, anything(),
        "residual: ‖b − A x‖₂ against ‖b‖₂; backward_error: against ‖A‖_F·‖x‖₂ + ‖b‖₂; rowwise: besides each "
        "|b − A x|_i against (|A||x| + |b|)_i; error: these to 1e-12, and the estimated error of each unknown to etol");
    visit("ortho", o.ortho, anything(),
          "mgso: modified Gram-Schmidt, selectively repeated; cgs2: classical, twice; on a GPU also mgso_hybrid: "
          "coefficients on the host, mgso_host: all of it there");
    visit("reorthogonalize", o.reorthogonalize, within(0, 1), "mgso repeats a projection above this squared cosine");
    visit(
        "precision", o.precision, anything(),
        "mixed: products, basis and preconditioner in single precision, as corrections of an x whose residual is computed in double, "
        "and to the same tolerances; in double where single precision does not suffice (with retry=on)");
    visit(
        "null_space", o.null_space, anything(),
        "none; constant: A takes the constants of each of its parts to 0; or a file of vectors that A takes to 0. x is the shortest "
        "solution, and what b has of these vectors is taken off where A^H takes them to 0, too");
}

/// When to end a cycle, and when to end the solve. A cycle runs on estimates; at its end b − A x is recomputed, and
/// that alone decides:
///   converged   ‖r‖ ≤ target, where target = rtol·‖b‖, or rtol·(‖b‖ + ‖A‖‖x‖) for StopTest::backward_error once the
///               last change of x was small, ‖Δx‖ ≤ rtol·‖x‖: a huge x must not fake convergence
///   not_finite  ‖r‖ or ‖x‖ is NaN or Inf, or the cycle met one
///   diverged    ‖r‖ > 10⁸·max(‖r₀‖, ‖b‖)
///   breakdown   the cycle broke down and had not even halved the least ‖r‖ so far; else a fresh cycle may help
///   time_limit, cancelled  the caller's StopToken says so; it is asked after every step
///   max_steps   no room for another step
///   stagnated   three cycles in a row left the least ‖r‖ above 99.9 % of what it was; slow but steady goes on
/// Pure bookkeeping on norms, which are double for real and complex systems alike: it touches no vector.
class Stopping {
public:
    /// @throws InvalidOption when an option is out of range, or backward_error is asked for without ‖A‖
    Stopping(const KrylovOptions& opt, double norm_b);

    /// The verdict on a recomputed ‖b − A x‖₂; nothing: run another cycle.
    std::optional<Outcome> at_restart(double residual, double norm_x);
    bool                   improved() const { return improved_; }  ///< the last verified residual is the least so far
    double                 least() const { return least_; }        ///< +Inf before the first finite one

    /// Whether the cycle should end at this estimate of ‖r‖₂, because it meets the target, blew up, or no step is left;
    /// or because it fell to ε times where the cycle began, below which only a recomputed one means anything.
    bool ends_cycle(double estimate) const;
    void note_stop(StopReason reason) { told_ = reason; }
    void count_step(Index steps = 1) { steps_ += steps; }
    /// The cycle's estimates are of M⁻¹r, `ratio` times as large as r where it began; they are trusted half as far.
    void   estimates_preconditioned(double ratio) { ratio_ = ratio; }
    double as_residual(double estimate) const { return estimate / ratio_; }

    /// Sizes of the iterate and its latest change, wherever they are known; used by backward_error alone.
    void   iterate(double norm_x, double norm_dx);
    bool   wants_iterate() const { return opt_.stop == StopTest::backward_error; }
    double target() const { return target_; }

    void breakdown(const char* what);              ///< ends the cycle; final unless that cycle helped
    void fail(Outcome outcome, const char* what);  ///< ends the solve, unless the residual proves to be small

    Index       steps() const { return steps_; }
    Index       cycles() const { return cycles_; }  ///< completed
    const char* detail() const { return detail_; }

private:
    std::optional<Outcome> judge(double residual, double norm_x, double least_before);
    bool                   no_room() const { return steps_ >= opt_.max_steps; }

    const KrylovOptions    opt_;
    const double           norm_b_;
    double                 target_, ratio_ = 1;
    double                 norm_dx_ = std::numeric_limits<double>::infinity();
    double                 start_ = 0;        ///< max(‖r₀‖, ‖b‖)
    double                 cycle_start_ = 0;  ///< ‖r‖ as last recomputed
    double                 least_ = std::numeric_limits<double>::infinity();
    bool                   improved_ = false, broke_ = false;
    StopReason             told_ = StopReason::none;
    Index                  steps_ = 0, cycles_ = -1, idle_cycles_ = 0;
    std::optional<Outcome> failure_;
    const char*            detail_ = "";
};

}  // namespace ilux
