#include "ilux/solver/policy/choice.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/base/units.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/solver/policy/coarse_choice.hpp"
#include "ilux/solver/policy/quick_attempt.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/solver/policy/setup_sample.hpp"
#include "ilux/engine/report/lu_facts.hpp"
#include "ilux/engine/analysis_limits.hpp"

namespace ilux {
namespace {

constexpr Offset tiny_nnz = 5000;         // of A; below, an LU is done before a choice is
constexpr Offset estimated_nnz = 20'000;  // of A; from here on fill is estimated before an order is made
constexpr double doubtful = 0.25,
                 estimate_error = 4;    // an iteration with such odds is begun where LU takes longer for sure
constexpr double heavy_diagonal = 0.3;  // |a_ii| over the other entries of its row

/// ", for 3 systems of 100 right-hand sides each"
std::string amount(const Ahead& ahead)
{
    std::string text = ahead.systems > 1 ? fmt::format(", for {:g} systems", ahead.systems) : "";
    if (ahead.columns == 1) return text;
    return text + fmt::format("{} {:g} right-hand sides{}", text.empty() ? ", for" : " of", ahead.columns,
                              text.empty() ? "" : " each");
}

/// What was chosen, and the figures that decided.
std::string told(const ChoiceFacts& facts, const Expected& expected, const Rates& rates)
{
    return fmt::format(
        "{}: LU is expected to take {}{} ({}{:.2g} flops{}), an iteration{} {} and to fail in {:.0f} % of cases{}; rates {}",
        expected.take_lu ? "direct" : "iterative", time_text(expected.direct),
        facts.lu.analysis_seconds >= 0 ? " beyond its analysis" : "", facts.lu_estimated ? "about " : "",
        facts.lu.flops, fronts_are_likely(facts.lu) ? " by fronts" : "",
        facts.iteration.coarse ? " with a coarse space" : "", time_text(expected.iterative.of(facts.ahead)),
        100 * expected.odds, amount(facts.ahead), rates.origin);
}

template <Scalar S>
IterationFacts facts_of_iteration(Cpu& cpu, const CsrView<S>& A, const SolverOptions& options)
{
    std::atomic<Index>  heavy = 0;
    std::atomic<double> coupling = 0;
    std::atomic<bool>   odd = false;  // a diagonal entry that is 0, or has another sign than the first
    const double        sign = A.rows() > 0 ? real_part(A.at(0, 0)) : 1;
    with_tasks(cpu, A.nnz() >= 50'000, [&] {
        for_pieces(A.rows(), [&](Index, Index begin, Index end) {
            Index  found = 0;
            bool   other = false;
            double most = 0;
            for (Index i = begin; i < end; ++i) {
                double others = 0;
                S      own = 0;
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                    if (A.col()[p] == i) own = A.val()[p];
                    else others += std::abs(A.val()[p]);
                found += std::abs(own) >= heavy_diagonal * others;
                most = std::max(most, own == S(0) ? INFINITY : others / std::abs(own));
                other |= !(real_part(own) * sign > 0);
            }
            heavy += found;
            for (double seen = coupling; most > seen && !coupling.compare_exchange_weak(seen, most);) {
            }
            if (other) odd = true;
        });
    });
    const bool mlilu = options.precond.kind == PrecondKind::mlilu;
    const bool rounds = mlilu && !odd && rounds_are_likely(cpu, A, options.precond.mlilu);
    const auto rows = std::max(1.0, double(A.rows()));
    return {.entries = double(A.nnz()) + A.rows(),
            .rounds = rounds,
            .dominant = rounds,
            .heavy = heavy / rows,
            .positive = !odd,
            .coupling = coupling,
            .complex = is_complex<S>,
            .rows = rows};
}

/// One choice in the making.
template <Scalar S>
class Chooser {
public:
    Chooser(const CsrView<S>& A, const SolverOptions& options, const std::function<bool()>& has_gpu, const Rates& rates,
            const StopToken& stop, Choice& choice)
        : A_(A),
          options_(options),
          has_gpu_(has_gpu),
          rates_(rates),
          stop_(stop),
          cpu_(options.threads),
          choice_(choice)
    {}

    void choose(const Ahead& ahead, std::shared_ptr<const LuSymbolic> stored)
    {
        look(ahead);
        if (!stored) {
            if (A_.nnz() >= estimated_nnz) {
                estimate();
                if (quick_attempt_first() || !worth_an_analysis()) return;
            }
            stored = analysed();
        }
        if (stored) decide(std::move(stored));
    }

    /// A quick try has failed: the choice goes by the facts that were estimated before it.
    void choose_again(const ChoiceFacts& facts)
    {
        facts_ = facts;
        sampled_ = facts.iteration.hopeless || facts.iteration.fill != IterationFacts().fill;
        choice_.iterative = forecast_iterative(facts_.iteration, facts_.place, rates_);
        settle(facts_.lu, true);
        if (!worth_an_analysis()) return;
        if (auto symbolic = analysed()) decide(std::move(symbolic));
    }

    void no_lu(std::string why)
    {
        choice_.symbolic.reset();
        choice_.facts.reset();  // they speak of an LU
        choice_.direct = choice_.direct_possible = false;
        choice_.decisions.push_back("iterative: " + std::move(why));
    }

private:
    void look(const Ahead& ahead)
    {
        facts_.place.threads = std::min(cpu_.threads(), omp_get_num_procs());  // more make nothing faster
        facts_.ahead = ahead;
        facts_.iteration = facts_of_iteration(cpu_, A_, options_);
        look_for_coarse();
        const bool asked = options_.device == DeviceChoice::gpu;
        const bool worth = A_.nnz() >= least_nnz_for_gpu(cpu_.threads(), rates_);
        if (asked || (worth && (facts_.iteration.rounds || may_go_by_rounds_there()))) look_for_gpu();
        choice_.iterative = forecast_iterative(facts_.iteration, facts_.place, rates_);
    }

    /// What parts of A say of an LU, and of simpler preconditioners.
    void estimate()
    {
        const FillEstimate estimate = estimate_fill(cpu_, {A_.rows(), A_.row_ptr(), A_.col()});
        facts_.iteration.radius = estimate.radius;
        try_the_diagonal();
        settle(ilux::work_of(estimate, double(A_.nnz()), is_complex<S>), true);
    }

    /// Whether a coarse space lets M be made in rounds, or takes fewer steps.
    void look_for_coarse()
    {
        IterationFacts& facts = facts_.iteration;
        if (!leaves_coarse(options_)) return;
        const CoarseGain gain = coarse_gain<S>(cpu_, A_, options_.precond.mlilu, gpu_is_likely(options_, A_.nnz()));
        facts.coarse = gain == CoarseGain::steps;
        if (gain != CoarseGain::rounds) return;
        const bool hermitian = ask_for_symmetry();
        facts.coarse = facts.rounds = hermitian && (facts.hermitian || options_.method != MethodChoice::cg);
    }

    /// Asked only where the answer decides: it takes a pass over A that jumps. @return whether A is Hermitian
    bool ask_for_symmetry()
    {
        const SymmetryFacts symmetry = symmetry_facts<S>(cpu_, A_, true, false);
        facts_.iteration.hermitian = symmetry.hermitian && symmetry.positive_diagonal;
        return symmetry.hermitian;
    }

    /// The diagonal may be M where rows are dominant, if only just.
    void try_the_diagonal()
    {
        constexpr double just = 1 + 1e-10, most = 0.7;  // of the steps allowed
        if (!(options_.precond == PrecondOptions{}) || !facts_.iteration.positive) return;
        if (!(facts_.iteration.coupling <= just)) return;
        ask_for_symmetry();
        IterationFacts by_diagonal = facts_.iteration;
        by_diagonal.jacobi = true;
        if (!takes_less(by_diagonal)) return;
        if (steps_by_the_diagonal(by_diagonal) > most * options_.krylov.max_steps) return;
        facts_.iteration = by_diagonal;
        choice_.iterative = forecast_iterative(by_diagonal, facts_.place, rates_);
        choice_.by_diagonal = by_diagonal;
    }
    bool takes_less(const IterationFacts& than_facts) const
    {
        return forecast_iterative(than_facts, facts_.place, rates_).of(facts_.ahead) <
               choice_.iterative.of(facts_.ahead);
    }

    /// A quick try is made on the host: ILU(0) has chains of rows, which a GPU is slow at.
    bool quick_attempt_first()
    {
        if (!leaves_quick_attempt(options_)) return false;
        choice_.quick = worth_a_quick_attempt(facts_, rates_);
        if (choice_.quick > 0) {
            ask_for_symmetry();
            choice_.quick = worth_a_quick_attempt(facts_, rates_);
        }
        if (choice_.quick > 0 && A_.nnz() >= least_nnz_for_gpu(cpu_.threads(), rates_) && has_gpu_()) choice_.quick = 0;
        if (choice_.quick == 0) return false;
        choice_.decisions.emplace_back("BiCGStab with ILU(0) comes first: it may take a fraction of that");
        return true;
    }

    /// Whether LU may win by the estimate, or nobody knows. Flops may be far fewer than estimated, the seconds of an
    /// analysis hardly fewer.
    bool worth_an_analysis() const
    {
        const Expected expected = expect(facts_, rates_);
        const bool     open = expected.odds >= doubtful && estimate_error * expected.iteration > expected.direct &&
                          expected.lu.analyse < expected.iteration;
        return expected.take_lu || open;
    }

    /// Null where an order has too many flops, or the memory does not suffice; then the choice says so.
    std::shared_ptr<const LuSymbolic> analysed()
    {
        const LuOptions lu = within_memory(options_.lu);
        const StopToken limited = analysis_within(stop_, seconds_to_analyse());
        try {
            return analyse<S>(view(A_), lu, limited, cpu_, {.worth = [this](const SymbolicCost& cost, bool dissects) {
                                  return is_worth(cost, dissects);
                              }});
        } catch (const NotWorthIt& seen) {
            settle(work_of(seen.cost), false);
            return nullptr;
        } catch (const Stopped& late) {
            if (stop_.reason() != StopReason::none) throw;
            choice_.direct = false;  // though LU may follow an iteration that fails
            choice_.facts.reset();
            choice_.lu = Forecast{.analyse = INFINITY};  // nobody knows how long it takes
            choice_.decisions.assign(1, fmt::format("iterative: {}", late.what()));
            return nullptr;
        }
    }

    /// An analysis is a mistake that takes longer than half of the iteration that it is to beat, and three times what
    /// LU was estimated to take in all.
    double seconds_to_analyse() const
    {
        constexpr double least = 0.5;
        if (!choice_.facts) return INFINITY;  // a small A, of which nothing was estimated
        const Expected expected = expect(facts_, rates_);
        return std::max({least, 3 * expected.direct, expected.iteration / 2});
    }

    /// The work of an LU whose order was counted, though its analysis was not finished.
    LuWork work_of(const SymbolicCost& cost) const
    {
        const double       arcs = facts_.lu.arcs > 0 ? facts_.lu.arcs : double(A_.nnz());  // as estimated before
        const FillEstimate counted{.nnz = cost.nnz, .flops = 2 * cost.multiply_adds, .arcs = arcs};
        return ilux::work_of(counted, double(A_.nnz()), is_complex<S>);
    }

    /// @param dissects  nested dissection is yet to be made
    bool is_worth(const SymbolicCost& cost, bool dissects)
    {
        LuWork work = work_of(cost);
        if (!dissects) work.analysis_seconds = 0;
        if (gpu_pays_for_fronts(work, facts_.place.threads, rates_)) look_for_gpu();
        if (worth_a_sample(work)) sample();
        ChoiceFacts facts = facts_;
        facts.lu = work;
        return expect(facts, rates_).take_lu;
    }

    void decide(std::shared_ptr<const LuSymbolic> symbolic)
    {
        if (const Index rank = symbolic->report.structural_rank; rank < symbolic->n)
            return no_lu(
                fmt::format("A is structurally singular, rank {} of {}, so that it has no LU", rank, symbolic->n));
        if (const auto why = lack_of_memory([&] { require_memory(*symbolic, options_.lu, sizeof(S)); }))
            return no_lu(*why);
        LuWork work = ilux::work_of(*symbolic, is_complex<S>);
        work.analysis_seconds = 0;  // spent whatever follows
        settle(work, false);
        choice_.lu->analyse = symbolic->report.seconds;
        choice_.symbolic = std::move(symbolic);
    }

    /// Whether a preconditioner of a part takes little beside such an LU.
    bool worth_a_sample(const LuWork& work) const
    {
        constexpr double long_beside = 0.5;  // seconds
        return !sampled_ && !facts_.iteration.rounds && !facts_.iteration.gpu_rounds && !facts_.iteration.jacobi &&
               options_.precond.kind == PrecondKind::mlilu &&
               forecast_direct(work, facts_.place, rates_).of(facts_.ahead) > long_beside;
    }

    void sample()
    {
        sampled_ = true;
        const auto fill = sampled_fill<S>(A_, options_.precond.mlilu);
        facts_.iteration.hopeless = !fill;
        if (fill) facts_.iteration.fill = *fill;
        choice_.iterative = forecast_iterative(facts_.iteration, facts_.place, rates_);
    }

    void look_for_gpu()
    {
        if (facts_.place.gpu || !has_gpu_()) return;
        facts_.place.gpu = true;
        facts_.iteration.gpu_rounds = facts_.iteration.rounds || may_go_by_rounds_there();
    }

    bool may_go_by_rounds_there() const
    {
        return options_.precond.kind == PrecondKind::mlilu &&
               device_rounds_are_likely(A_.rows(), A_.nnz(), options_.precond.mlilu);
    }

    void settle(const LuWork& work, bool estimated)
    {
        facts_.lu = work;
        facts_.lu_estimated = estimated;
        if (gpu_pays_for_fronts(work, facts_.place.threads, rates_)) look_for_gpu();
        if (worth_a_sample(work)) sample();
        const Expected expected = expect(facts_, rates_);
        choice_.facts = facts_;
        choice_.lu = expected.lu;
        choice_.direct = expected.take_lu;
        choice_.decisions.assign(1, told(facts_, expected, rates_));  // of the last figures
    }

    const CsrView<S>&            A_;
    const SolverOptions&         options_;
    const std::function<bool()>& has_gpu_;
    const Rates&                 rates_;
    const StopToken&             stop_;
    Cpu                          cpu_;
    Choice&                      choice_;
    ChoiceFacts                  facts_;
    bool                         sampled_ = false;
};

}  // namespace

template <Scalar S>
Choice choose_strategy(const CsrView<S>& A, const SolverOptions& options, const Ahead& ahead,
                       const std::function<bool()>& has_gpu, const Rates& rates, const StopToken& stop,
                       std::shared_ptr<const LuSymbolic> stored, const ChoiceFacts* estimated)
{
    Choice     choice;
    Chooser<S> chooser(A, options, has_gpu, rates, stop, choice);
    if (has_fewer_entries_than_rows(A)) return choice;  // LU says so, and nothing else is tried
    if (A.nnz() <= tiny_nnz) {
        choice.decisions.push_back(
            fmt::format("direct: an LU of so small a system, nnz {}, takes no longer than a choice", A.nnz()));
        return choice;
    }
    try {
        const auto why = lack_of_memory([&] {
            if (estimated) chooser.choose_again(*estimated);
            else chooser.choose(ahead, std::move(stored));
        });
        if (why) chooser.no_lu("the analysis of an LU found no memory: " + *why);
    } catch (const Stopped& told) {
        chooser.no_lu(told.what());
    }
    return choice;
}

#define ILUX_INSTANTIATE(S)                                                                       \
    template Choice choose_strategy(const CsrView<S>&, const SolverOptions&, const Ahead&,        \
                                    const std::function<bool()>&, const Rates&, const StopToken&, \
                                    std::shared_ptr<const LuSymbolic>, const ChoiceFacts*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
