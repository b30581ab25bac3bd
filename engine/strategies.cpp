#include "ilux/engine/strategies.hpp"

#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/lu_device.hpp"
#include "ilux/engine/analysis_limits.hpp"

namespace ilux {
namespace {

/// Whether an analysis by some options serves others. Only an automatic matching decides by pivot_tol.
bool same_analysis(const LuOptions& one, const LuOptions& two)
{
    const bool alike = one.matching != LuMatching::automatic || one.pivot_tol == two.pivot_tol;
    return alike && one.scaling == two.scaling && one.matching == two.matching;
}

}  // namespace

template <Scalar S>
Strategies<S>::Strategies(const SolverOptions& options, const CsrView<S>& A, double systems,
                          std::shared_ptr<const LuSymbolic> symbolic, std::optional<LuPlan> stored,
                          std::shared_ptr<SystemValues<S>> values)
    : options_(options),
      A_(A),
      systems_(systems),
      values_(std::move(values)),
      symbolic_(std::move(symbolic)),
      stored_(std::move(stored))
{}

template <Scalar S>
std::vector<std::string> Strategies<S>::take(bool direct)
{
    std::vector<std::string> decisions;
    if (direct ? !direct_ : !iterative_) {
        SolverOptions options = options_;
        options.method = direct ? MethodChoice::lu : MethodChoice::gmres;  // all iterations alike
        Machine machine = machine_for(options, A_, systems_ > 1, decisions);
        if (direct) {
            direct_ = std::make_unique<DirectSolver<S>>(std::move(machine), options_, systems_, values_);
            if (stored_) direct_->take(*stored_, options_.lu);
            else if (symbolic_) direct_->take(symbolic_, options_.lu);
        } else {
            iterative_ = std::make_unique<IterativeSolver<S>>(std::move(machine), options_);
        }
    }
    if (takes_direct_ == direct) return decisions;
    takes_direct_ = direct;
    if (direct) release_preconditioner();
    else if (direct_) direct_->release();
    return decisions;
}

template <Scalar S>
void Strategies<S>::release_preconditioner()
{
    if (iterative_) iterative_->release();
}

template <Scalar S>
void Strategies<S>::bring_values()
{
    if (iterative_) iterative_->bring_values();
}

template <Scalar S>
void Strategies<S>::forget_values()
{
    if (iterative_) iterative_->forget_values();
}

template <Scalar S>
bool Strategies<S>::analysed_for(const LuOptions& lu) const
{
    return direct_->analysed() && same_analysis(direct_->symbolic()->options, lu);
}

template <Scalar S>
bool Strategies<S>::analyse_lu(const StopToken& stop, Attempt& tried)
{
    if (has_fewer_entries_than_rows(A_)) {
        tried.device = direct_->machine().device();
        tried.fail(Outcome::singular, why_singular(A_));
        return false;
    }
    if (analysed_for(tried.plan.lu)) direct_->choose_pivots_by(tried.plan.lu);
    else direct_->analyse(A_, tried.plan.lu, stop);
    return true;
}

template <Scalar S>
Device Strategies<S>::device() const
{
    return takes_direct_ ? direct_->machine().device() : iterative_->machine().device();
}

template <Scalar S>
const Lu<S>* Strategies<S>::lu() const
{
    return takes_direct_ && direct_ && direct_->factored() ? &direct_->lu() : nullptr;
}

template <Scalar S>
const PrecondFactors<S>* Strategies<S>::preconditioner() const
{
    return !takes_direct_ && has_preconditioner() ? &iterative_->factors() : nullptr;
}

#define ILUX_INSTANTIATE(S) template class Strategies<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
