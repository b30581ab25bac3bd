#pragma once
// One solve in progress: the system with its products timed, the iterate, the best verified iterate, and the verdicts.
// Internal to krylov/: each method makes one, runs cycles until it is over, and returns its report.

#include <cmath>

#include <fmt/format.h>

#include "ilux/base/error.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/krylov/stopwatch.hpp"

namespace ilux {

inline constexpr const char* product_not_finite = "a product with A or M holds NaN or Inf";

/// What all Krylov methods do alike: begin, time their parts, look at the true residual, report.
template <Backend B, Scalar S>
class Iteration {
    using Vector = ConstSpan<B, S>;

    const WallClock clock_;
    const double    norm_b_;

public:
    Stopping stop;

    /// b = 0 sets x ← 0, whose residual then is 0. @param best  n, scratch
    /// @throws InvalidInput when sizes disagree, InvalidOption for options out of range
    Iteration(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, Vector b, Span<B, S> x, Span<B, S> best,
              const KrylovOptions& opt, const ProgressListener& on_progress, const StopToken& token)
        : norm_b_(checked_norm(be, A, M, b, x, best)),
          stop(opt, norm_b_),
          be_(be),
          A_(A),
          M_(M),
          b_(b),
          x_(x),
          best_(best),
          monitor_(on_progress),
          token_(token),
          opt_(opt),
          timeline_(be)
    {
        if (norm_b_ == 0) fill<S>(be, 0, x);
    }

    void apply_A(Vector v, Span<B, S> w)
    {
        const auto t = timeline_.measure(seconds_.spmv);
        A_.apply(be_, v, w);
    }
    void apply_Ah(Vector v, Span<B, S> w)
    {
        const auto t = timeline_.measure(seconds_.spmv);
        A_.apply_adjoint(be_, v, w);
    }
    void apply_M(Vector r, Span<B, S> z)
    {
        const auto t = timeline_.measure(seconds_.precond);
        M_.apply(be_, r, z);
    }
    void apply_Mh(Vector r, Span<B, S> z)
    {
        const auto t = timeline_.measure(seconds_.precond);
        M_.apply_adjoint(be_, r, z);
    }
    auto timing_ortho() { return timeline_.measure(seconds_.ortho); }

    /// r ← b − A x, and the verdict on it. Where that ends the solve, x ← the best iterate ever verified.
    void recompute_residual(Span<B, S> r)
    {
        {
            const auto t = timeline_.measure(seconds_.spmv);
            residual_ = residual<B, S>(be_, A_, x_, b_, r);
        }
        norm_x_ = norm2<S>(be_, Vector(x_));
        stop.note_stop(token_.reason());
        verdict_ = stop.at_restart(residual_, norm_x_);
        tell(residual_, true);
        if (verdict_ && !stop.improved() && std::isfinite(stop.least())) {
            copy<S>(be_, Vector(best_), x_);
            residual_ = stop.least();
            norm_x_ = norm2<S>(be_, Vector(x_));
        } else if (!verdict_ && stop.improved()) {
            copy<S>(be_, Vector(x_), best_);
        }
    }
    bool   over() const { return verdict_.has_value(); }
    double residual_norm() const { return residual_; }  ///< ‖b − A x‖₂ as last recomputed
    double norm_b() const { return norm_b_; }           ///< ‖b‖₂

    /// One step of a cycle is done; `estimate` is of ‖r‖₂ (of ‖M⁻¹r‖₂ after stop.estimates_preconditioned).
    void step(double estimate)
    {
        stop.count_step();
        stop.note_stop(token_.reason());
        tell(stop.as_residual(estimate), false);
    }

    /// x ← x + a p for a finite p. The backward error test also wants ‖x‖ and ‖Δx‖.
    void move(S a, Vector p)
    {
        axpy<S>(be_, a, p, x_);
        if (stop.wants_iterate()) stop.iterate(norm2<S>(be_, Vector(x_)), std::abs(a) * norm2<S>(be_, p));
    }
    /// Moves x along a p that may hold NaN or Inf: then x stays as it was and the solve ends.
    void move_if_finite(S a, Vector p)
    {
        if (check_finite(std::abs(a) * norm2<S>(be_, p), "the correction of x holds NaN or Inf")) move(a, p);
    }

    /// Ends the solve as not_finite when `value` is NaN or Inf. @return whether it is neither
    bool check_finite(S value, const char* what)
    {
        if (!is_finite(value)) stop.fail(Outcome::not_finite, what);
        return is_finite(value);
    }
    /// Ends the cycle in breakdown when `value` vanishes against `scale` up to rounding. @return whether it does not
    bool check_nonzero(S value, double scale, const char* what)
    {
        const bool holds = std::abs(value) > std::numeric_limits<real_of<S>>::epsilon() * scale;
        if (!holds) stop.breakdown(what);
        return holds;
    }

    IterationReport report()
    {
        timeline_.settle();
        seconds_.solve = clock_.seconds();
        // a double may overflow
        const long double size = static_cast<long double>(opt_.matrix_norm) * norm_x_ + norm_b_;
        return {.outcome = *verdict_,
                .steps = stop.steps(),
                .restarts = stop.cycles(),
                .relative_residual = norm_b_ > 0 ? residual_ / norm_b_ : residual_,
                .backward_error = opt_.matrix_norm > 0 && residual_ != 0 ? static_cast<double>(residual_ / size) : 0,
                .detail = stop.detail(),
                .seconds = seconds_};
    }

private:
    /// ‖b‖₂, once all sizes agree.
    static double checked_norm(B& be, const LinearOperator<B, S>& A, const Preconditioner<B, S>& M, Vector b, Vector x,
                               Vector best)
    {
        const auto n = static_cast<std::size_t>(A.size());
        require(n == static_cast<std::size_t>(M.size()) && n == b.size() && n == x.size() && n == best.size(), [&] {
            return fmt::format("sizes disagree: A is of order {}, M of {}, the workspace of {}; b has {} values, x {}",
                               n, M.size(), best.size(), b.size(), x.size());
        });
        return norm2<S>(be, b);
    }
    void tell(double residual, bool exact)
    {
        if (!monitor_) return;
        Progress now{Progress::Phase::solve, 0, stop.steps(), opt_.max_steps, residual, exact};
        if (norm_b_ > 0) now.residual /= norm_b_;
        if constexpr (std::is_convertible_v<Span<B, S>, decltype(now.real_x)>) now.real_x = x_;
        if constexpr (std::is_convertible_v<Span<B, S>, decltype(now.complex_x)>) now.complex_x = x_;
        monitor_(now);
    }

    B&                          be_;
    const LinearOperator<B, S>& A_;
    Preconditioner<B, S>&       M_;
    Vector                      b_;
    Span<B, S>                  x_, best_;
    const ProgressListener&     monitor_;
    const StopToken&            token_;
    const KrylovOptions&        opt_;
    std::optional<Outcome>      verdict_;
    double                      residual_ = 0, norm_x_ = 0;
    SolveSeconds                seconds_;
    Timeline<B>                 timeline_;
};

}  // namespace ilux
