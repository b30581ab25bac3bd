#include "ilux/krylov/refinement.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/krylov/iteration.hpp"

namespace ilux {
namespace {

constexpr double least_tolerance =
    1e-5;  // of an inner solve: float keeps some digits more, which a large condition takes
constexpr double most_tolerance = 0.1;
constexpr double margin = 0.9;  // the last correction aims so far below the target, for it falls short a little

/// The tolerance of an inner solve, so that a few equal ones reach `left` = target / residual.
double inner_tolerance(double left)
{
    const double aim = margin * left;
    if (!(aim > 1e-300)) return least_tolerance;
    const double count = std::ceil(std::log(aim) / std::log(least_tolerance));
    return std::clamp(std::pow(aim, 1 / std::max(count, 1.)), least_tolerance, most_tolerance);
}

/// 2^e ‖r‖ is near 1, and 2^e and 2^−e are numbers.
int exponent_for(double norm) { return norm > 0 ? -std::clamp(std::ilogb(norm), -1000, 1000) : 0; }

/// Passes an inner solve's steps on as those of the whole.
struct InnerListener {
    const ProgressListener& outer;
    Index                   taken, limit;
    double                  share;  // of the residual where the inner solve begins in ‖b‖

    void operator()(const Progress& now) const
    {
        if (now.exact) return;
        outer({.phase = Progress::Phase::solve,
               .done = taken + now.done,
               .total = limit,
               .residual = share * now.residual,
               .exact = false});
    }
};

template <Backend B, Scalar S>
void times(B& be, ConstSpan<B, S> d, Span<B, S> x)
{
    if (!d.empty()) multiply<S>(be, d, ConstSpan<B, S>(x), x);
}

/// A solve in progress.
template <Backend B, Scalar S>
class Refinement {
    using Single = single_of<S>;

public:
    Refinement(B& be, const LinearOperator<B, S>& A, const SingleSystem<B, S>& single, ConstSpan<B, S> b, Span<B, S> x,
               RefinementWorkspace<B, S>& ws, const KrylovOptions& opt, const ProgressListener& on_progress,
               const StopToken& stop)
        : be_(be),
          single_(single),
          ws_(ws),
          opt_(opt),
          monitor_(on_progress),
          token_(stop),
          none_(A.size()),
          it_(be, A, none_, b, x, ws.best(), opt, on_progress, stop)
    {}

    IterationReport run()
    {
        double before = std::numeric_limits<double>::infinity();
        for (;;) {
            it_.recompute_residual(ws_.r());  // r ← b − A x
            if (it_.over()) return report();
            times<B, S>(be_, single_.row_scale, ws_.r());  // r ← R r
            const double beta = norm2<S>(be_, ConstSpan<B, S>(ws_.r()));
            if (!it_.check_finite(beta, "R (b - A x) is out of the range of numbers")) continue;
            if (!(beta <= before / 2)) {
                give_up();
                continue;  // to the verdict, with the best x
            }
            before = beta;
            correct(beta);
        }
    }

private:
    /// x ← x + C d with (R A C) d ≈ R r
    void correct(double beta)
    {
        const int e = exponent_for(beta);
        narrow<S>(be_, std::ldexp(1., e), ConstSpan<B, S>(ws_.r()), ws_.r_single());
        fill<Single>(be_, 0, ws_.d_single());
        const double           share = it_.residual_norm() / it_.norm_b();
        const InnerListener    listener{monitor_, it_.stop.steps(), opt_.max_steps, share};
        const ProgressListener inner_monitor = monitor_ ? ProgressListener(std::cref(listener)) : ProgressListener();
        last_ = solve<B, Single>(be_, ws_.method(), single_.A, single_.M, ConstSpan<B, Single>(ws_.r_single()),
                                 ws_.d_single(), ws_.inner, inner_options(), inner_monitor, token_);
        it_.stop.count_step(last_.steps);
        seconds_.spmv += last_.seconds.spmv;
        seconds_.precond += last_.seconds.precond;
        seconds_.ortho += last_.seconds.ortho;
        widen<S>(be_, ConstSpan<B, Single>(ws_.d_single()), ws_.r());
        times<B, S>(be_, single_.col_scale, ws_.r());
        it_.move_if_finite(std::ldexp(1., -e), ws_.r());
    }

    KrylovOptions inner_options() const
    {
        KrylovOptions inner = opt_;
        inner.stop = StopTest::residual;
        inner.matrix_norm = 0;
        inner.rtol = inner_tolerance(it_.stop.target() / it_.residual_norm());
        inner.max_steps = opt_.max_steps - it_.stop.steps();
        return inner;
    }

    void give_up()
    {
        const Outcome why = last_.outcome;
        const bool    told = why == Outcome::breakdown || why == Outcome::not_finite;
        it_.stop.fail(
            told ? why : Outcome::stagnated,
            told
                ? "a solve in single precision broke down: there A, M or what is left of b may be out of range or singular"
                : "a correction in single precision no longer halves b - A x");
    }

    IterationReport report()
    {
        IterationReport all = it_.report();
        all.seconds.spmv += seconds_.spmv;
        all.seconds.precond += seconds_.precond;
        all.seconds.ortho += seconds_.ortho;
        return all;
    }

    B&                         be_;
    const SingleSystem<B, S>&  single_;
    RefinementWorkspace<B, S>& ws_;
    const KrylovOptions&       opt_;
    const ProgressListener&    monitor_;
    const StopToken&           token_;
    Identity<B, S>             none_;  // M in double: there is none
    Iteration<B, S>            it_;
    IterationReport            last_ = {};
    SolveSeconds               seconds_;
};

}  // namespace

template <Backend B, Scalar S>
RefinementWorkspace<B, S>::RefinementWorkspace(Method method, Index n, const KrylovOptions& opt)
    : inner(method, n, opt), r_(n), best_(n), r_single_(n), d_single_(n)
{}

template <Backend B, Scalar S>
std::size_t RefinementWorkspace<B, S>::bytes() const
{
    return inner.bytes() + (r_.size() + best_.size()) * sizeof(S) +
           (r_single_.size() + d_single_.size()) * sizeof(Single);
}

template <Scalar S>
std::size_t refinement_bytes(Method method, Index n, const KrylovOptions& opt)
{
    return workspace_bytes<single_of<S>>(method, n, opt) +
           static_cast<std::size_t>(n) * 2 * (sizeof(S) + sizeof(single_of<S>));
}

template <Backend B, Scalar S>
IterationReport refine(B& be, const LinearOperator<B, S>& A, const SingleSystem<B, NotDeduced<S>>& single,
                       ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x, RefinementWorkspace<B, S>& ws,
                       const KrylovOptions& opt, const ProgressListener& on_progress, const StopToken& stop)
{
    return Refinement<B, S>(be, A, single, b, x, ws, opt, on_progress, stop).run();
}

template <Backend B, Scalar S>
void precondition(B& be, const SingleSystem<B, NotDeduced<S>>& single, ConstSpan<B, NotDeduced<S>> r,
                  Span<B, NotDeduced<S>> z, RefinementWorkspace<B, S>& ws)
{
    using Single = single_of<S>;
    copy<S>(be, r, ws.r());
    times<B, S>(be, single.row_scale, ws.r());
    const double beta = norm2<S>(be, ConstSpan<B, S>(ws.r()));
    if (beta == 0) return fill<S>(be, 0, z);
    if (!std::isfinite(beta)) return fill<S>(be, std::numeric_limits<double>::quiet_NaN(), z);
    const int e = exponent_for(beta);
    narrow<S>(be, std::ldexp(1., e), ConstSpan<B, S>(ws.r()), ws.r_single());
    single.M.apply(be, ConstSpan<B, Single>(ws.r_single()), ws.d_single());
    widen<S>(be, ConstSpan<B, Single>(ws.d_single()), z);
    times<B, S>(be, single.col_scale, z);
    scale<S>(be, std::ldexp(1., -e), z);
}

#define ILUX_INSTANTIATE(S) template std::size_t refinement_bytes<S>(Method, Index, const KrylovOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

#define ILUX_INSTANTIATE(B, S)                                                                                         \
    template class RefinementWorkspace<B, S>;                                                                          \
    template IterationReport refine<B, S>(B&, const LinearOperator<B, S>&, const SingleSystem<B, S>&, ConstSpan<B, S>, \
                                          Span<B, S>, RefinementWorkspace<B, S>&, const KrylovOptions&,                \
                                          const ProgressListener&, const StopToken&);                                  \
    template void            precondition<B, S>(B&, const SingleSystem<B, S>&, ConstSpan<B, S>, Span<B, S>,            \
                                     RefinementWorkspace<B, S>&);
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
