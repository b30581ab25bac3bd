#include "ilux/krylov/stopping.hpp"

#include <cmath>

namespace ilux {
namespace {

constexpr double growth_limit = 1e8;
constexpr double idle_reduction = 0.999;  // a cycle that reduces less is idle
constexpr Index  idle_limit = 3;

}  // namespace

Stopping::Stopping(const KrylovOptions& opt, double norm_b) : opt_(opt), norm_b_(norm_b), target_(opt.rtol * norm_b)
{
    validate(opt);
    if (opt.stop == StopTest::backward_error && !(opt.matrix_norm > 0 && std::isfinite(opt.matrix_norm)))
        throw InvalidOption("stop=backward_error needs the Frobenius norm of A in matrix_norm, which is " +
                            std::to_string(opt.matrix_norm));
}

void Stopping::iterate(double norm_x, double norm_dx)
{
    norm_dx_ = norm_dx;
    const double size = norm_b_ + (norm_dx <= opt_.rtol * norm_x ? opt_.matrix_norm * norm_x : 0);
    target_ = opt_.rtol * (wants_iterate() && std::isfinite(size) ? size : norm_b_);
}

std::optional<Outcome> Stopping::at_restart(double residual, double norm_x)
{
    const double least_before = least_;
    iterate(norm_x, norm_dx_);
    ratio_ = 1;
    if (++cycles_ == 0) start_ = std::fmax(residual, norm_b_);
    cycle_start_ = residual;
    improved_ = std::isfinite(norm_x) && residual < least_;
    if (improved_) least_ = residual;
    const auto verdict = judge(residual, norm_x, least_before);
    broke_ = false;
    const bool speaks_for_itself = !verdict || *verdict == Outcome::converged || *verdict == Outcome::max_steps ||
                                   *verdict == Outcome::time_limit || *verdict == Outcome::cancelled;
    if (speaks_for_itself) detail_ = "";
    return verdict;
}

std::optional<Outcome> Stopping::judge(double residual, double norm_x, double least_before)
{
    if (std::isfinite(norm_x) && std::isfinite(residual) && residual <= target_) return Outcome::converged;
    if (failure_) return failure_;
    if (!std::isfinite(norm_b_) || !std::isfinite(residual) || !std::isfinite(norm_x)) {
        detail_ = !std::isfinite(norm_b_) ? "b holds NaN or Inf, or its norm overflows"
                  : cycles_ == 0          ? "the initial guess, or its product with A, holds NaN or Inf"
                                          : "x, or its product with A, came to hold NaN or Inf";
        return Outcome::not_finite;
    }
    if (residual > growth_limit * start_) {
        detail_ = "b - A x grew by 1e8";
        return Outcome::diverged;
    }
    if (broke_ && !(residual <= 0.5 * least_before)) return Outcome::breakdown;
    if (told_ != StopReason::none) return outcome_of(told_);
    if (no_room()) return Outcome::max_steps;
    // The least positive number times 99.9 % is that number: less must be less.
    const bool reduced = residual < least_before && residual <= idle_reduction * least_before;
    idle_cycles_ = reduced ? 0 : idle_cycles_ + 1;
    if (idle_cycles_ < idle_limit) return std::nullopt;
    detail_ = "three cycles in a row reduced b - A x by less than 0.1 %";
    return Outcome::stagnated;
}

bool Stopping::ends_cycle(double estimate) const
{
    const double trusted = ratio_ == 1 ? target_ : 0.5 * ratio_ * target_;
    const double residual = as_residual(estimate);
    const bool   goes_on = estimate > trusted && residual > std::numeric_limits<double>::epsilon() * cycle_start_ &&
                         residual <= growth_limit * start_;  // NaN does not
    return !goes_on || broke_ || failure_ || told_ != StopReason::none || no_room();
}

void Stopping::breakdown(const char* what)
{
    broke_ = true;
    detail_ = what;
}

void Stopping::fail(Outcome outcome, const char* what)
{
    failure_ = outcome;
    detail_ = what;
}

}  // namespace ilux
