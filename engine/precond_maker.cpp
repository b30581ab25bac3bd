#include "ilux/engine/precond_maker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/found_vectors.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

constexpr double beside_coarse = 2;  // τ_S over τ, where it is left to us: a coarse space mends what is dropped

/// By threads.
template <Scalar S>
bool has_positive_diagonal(Cpu& be, const CsrView<S>& A)
{
    std::vector<char> refuted(row_blocks(A.rows()), 0);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index i = begin; i < end && !refuted[b]; ++i) refuted[b] = !(real_part(A.at(i, i)) > 0);
    });
    return std::ranges::find(refuted, 1) == refuted.end();
}

/// Options of a coarse space where there is none.
void tell_unused(Attempt& tried)
{
    const PrecondOptions defaults, &asked = tried.plan.precond;
    const auto           unused = [&](const char* name, Index value, Index usual) {
        if (value != usual)
            tried.decisions.push_back(fmt::format("{}={} has no effect without a coarse space", name, value));
    };
    unused("coarse_size", asked.coarse_size, defaults.coarse_size);
    unused("coarse_vectors", asked.coarse_vectors, defaults.coarse_vectors);
}

/// What is left to us, for a plan with a coarse space: M in rounds that do not compensate, since a coarse space mends
/// small eigenvalues of M⁻¹A alone. Then near_null is the coarse space's.
/// @param positive  A is Hermitian with a positive diagonal
MlIluOptions settled(const PrecondOptions& precond, bool positive)
{
    MlIluOptions options = precond.mlilu;
    if (precond.coarse != CoarseChoice::on) return options;
    if (options.setup == MlIluSetup::automatic) options.setup = MlIluSetup::rounds;
    if (options.compensation == Compensation::automatic)
        options.compensation = positive ? Compensation::lumped : Compensation::off;
    if (options.compensation != Compensation::on) options.near_null = {};
    if (!options.schur_drop_tol.given) options.schur_drop_tol = beside_coarse * options.drop_tol;
    return options;
}

MlIluOptions fitted_to(const Machine& machine, const MlIluOptions& asked, Attempt& tried)
{
    if (!machine.gpu) return asked;
    MlIluOptions options = for_gpu(asked);
    if (options.off_diagonal != asked.off_diagonal)
        tried.decisions.push_back(fmt::format("off_diagonal={}, for a GPU", field_text(options.off_diagonal)));
    if (options.depth_bound != asked.depth_bound)
        tried.decisions.push_back(fmt::format("depth_bound={}, for a GPU", field_text(options.depth_bound)));
    return options;
}

void note_mlilu(const MlIluReport& report, Attempt& tried)
{
    tried.mlilu = report;
    tried.fill = report.fill;
    tried.factor_bytes = report.bytes;
    tried.seconds_analyse = report.seconds_analyse;
    tried.seconds_factor = report.seconds_factor;
}

/// Null at a zero pivot; then `tried` says so.
template <Scalar S>
std::unique_ptr<Ilu0<S>> build_ilu0(const CsrView<S>& A, Attempt& tried)
{
    WallClock clock;
    auto      M = std::make_unique<Ilu0<S>>(A);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = M->bytes();
    tried.fill = 1;
    tried.zero_pivot = M->zero_pivot();
    if (tried.zero_pivot < 0) return M;
    tried.fail(Outcome::breakdown,
               fmt::format("ILU(0) met a zero pivot at row {} (counted from 1)", tried.zero_pivot + 1));
    return nullptr;
}

template <Scalar S>
std::unique_ptr<Jacobi<S>> build_jacobi(const Cpu& cpu, const CsrView<S>& A, Attempt& tried)
{
    WallClock clock;
    auto      M = std::make_unique<Jacobi<S>>(A, cpu);
    tried.seconds_factor = clock.seconds();
    tried.factor_bytes = sizeof(S) * static_cast<std::size_t>(A.rows());
    tried.fill = A.nnz() > 0 ? double(A.rows()) / double(A.nnz()) : 0;
    return M;
}

/// For what has no limit of its own. @throws OutOfMemory
void require_within(Bytes limit, const Attempt& tried)
{
    if (limit.value > 0 && tried.factor_bytes > limit.value)
        throw OutOfMemory(fmt::format("memory_limit is {}, and {} takes {}", bytes_text(double(limit.value)),
                                      field_text(tried.plan.precond.kind), bytes_text(double(tried.factor_bytes))));
}

}  // namespace

/// What M is made of: A, or what stands for it where A is Hermitian or symmetric but for rounding.
template <Scalar S>
struct PrecondMaker<S>::OfM {
    ExactImage<S>               image = {};
    std::optional<DeviceCsr<S>> there = {};        ///< the mean, where M is made on a GPU
    bool                        positive = false;  ///< Hermitian, its pattern included, with a positive diagonal

    CsrView<S>          A(const CsrView<S>& given) const { return image.mean ? CsrView<S>(*image.mean) : given; }
    const DeviceCsr<S>* mean() const { return there ? &*there : nullptr; }
};

template <Scalar S>
std::optional<typename PrecondMaker<S>::FormerRounds> PrecondMaker<S>::rounds_at_hand() const
{
    if (!made_by_) return {};
    FormerRounds former{.options = *made_by_};
    if (factors_.rounds) former.on_gpu = factors_.rounds->plan();
    else if (factors_.mlilu) former.on_host = factors_.mlilu->rounds_plan();
    if (!former.on_gpu && !former.on_host) return {};
    return former;
}

template <Scalar S>
void PrecondMaker<S>::drop()
{
    auto space = std::move(factors_.null_space);
    factors_ = {};
    factors_.null_space = std::move(space);
    made_by_.reset();
    former_.reset();
}

template <Scalar S>
void PrecondMaker<S>::begin_next()
{
    auto former = rounds_at_hand();
    drop();
    former_ = std::move(former);
}

/// Rounds on the device, where they are asked for or may be chosen. Nothing where the host should factor; `tried` says
/// why.
template <Scalar S>
std::optional<GpuRounds<S>> PrecondMaker<S>::made_there(const Task& task, const MlIluOptions& options, OfM& of,
                                                        const ProgressListener& on_progress, Attempt& tried)
{
    if (!task.there || options.setup == MlIluSetup::crout) return {};
    const bool  again = former_ && former_->on_gpu && former_->options == options;
    std::string why;
    try {
        if (of.image.mean) of.there.emplace(task.there->gpu(), *of.image.mean);
        GpuRounds<S> rounds =
            task.there->set_up_rounds(options, again ? &*former_->on_gpu : nullptr, on_progress, task.stop, of.mean());
        if (rounds.made()) {
            note_mlilu(rounds.report(), tried);
            made_by_ = options;
            if (of.image.mean) tried.decisions.push_back(of.image.told);
            return rounds;
        }
        why = rounds.why_not();
    } catch (const OutOfMemory& error) {
        why = error.what();
    }
    if (!why.empty()) tried.decisions.push_back("factored on the host: " + why);
    return {};
}

/// The host makes M. It reuses the rounds of the M before where there are any.
template <Scalar S>
MlIlu<S> PrecondMaker<S>::made_here(const Task& task, const MlIluOptions& asked, const OfM& of,
                                    const ProgressListener& on_progress, Attempt& tried)
{
    task.bring_values();
    const CsrView<S> A = of.A(task.A);
    if (of.image.mean) tried.decisions.push_back(of.image.told);
    Cpu&               cpu = task.machine.cpu;
    const MlIluOptions options = fitted_to(task.machine, asked, tried);
    const bool         again = former_ && former_->on_host && former_->options == options;
    MlIlu<S>           factors = again ? MlIlu<S>::rebuild(cpu, A, options, *former_->on_host, on_progress, task.stop)
                                       : MlIlu<S>::build(cpu, A, options, on_progress, task.stop);
    made_by_ = options;
    note_mlilu(factors.report(), tried);
    return factors;
}

/// A coarse space for the M at hand, where one is asked for: made where M is to be applied.
template <Scalar S>
void PrecondMaker<S>::add_coarse(const Task& task, const MlIluOptions& of_M, const OfM& of, Attempt& tried)
{
    const PrecondOptions& asked = tried.plan.precond;
    if (is_complex<S> && (tried.plan.method == MethodChoice::sqmr || tried.plan.method == MethodChoice::cocg))
        throw InvalidOption(fmt::format("precond.coarse=on makes M not complex symmetric, and method {} needs that",
                                        field_text(tried.plan.method)));
    CoarseOptions options{.unknowns = asked.coarse_size,
                          .most_found = asked.coarse_vectors,
                          .M = of_M,
                          .positive = of.positive};
    options.M.near_null = asked.mlilu.near_null;
    const auto note = [&](const auto& space) {
        tried.decisions.push_back(space.text(task.A.nnz()));
        tried.seconds_factor += space.seconds;
        if (space.level) tried.factor_bytes += space.level->bytes();
        return space.level;
    };
    if (task.there) try {
            factors_.coarse_there = note(task.there->find_coarse(factors_, options, task.stop, of.mean()));
            return;
        } catch (const OutOfMemory&) {
            tried.device_is_full = true;
            throw;
        }
    Cpu&                    cpu = task.machine.cpu;
    const CsrView<S>        A = of.A(task.A);
    const MatrixOperator<S> product(A);
    auto                    M = std::make_unique<MlIluPreconditioner<S>>(*factors_.mlilu);
    factors_.coarse = note(found_space<Cpu, S>({cpu, cpu, task.stop}, {A, A, product, std::move(M)}, options));
    require_within(limit_, tried);
}

template <Scalar S>
bool PrecondMaker<S>::make_mlilu(const Task& task, const ProgressListener& on_progress, Attempt& tried)
{
    const bool coarse = tried.plan.precond.coarse == CoarseChoice::on;
    OfM        of;
    if (coarse || (task.there && tried.plan.rounded_symmetry)) {
        task.bring_values();
        of.image = exact_image(task.machine.cpu, task.A);
        of.positive = of.image.mirror == Mirror::hermitian && has_positive_diagonal<S>(task.machine.cpu, of.A(task.A));
    }
    if (!coarse) tell_unused(tried);
    const MlIluOptions options = settled(tried.plan.precond, of.positive);
    if (options.tau_S() != tried.plan.precond.mlilu.tau_S())
        tried.decisions.push_back(fmt::format("schur_drop_tol={}, beside a coarse space", options.tau_S()));
    factors_.rounds = made_there(task, options, of, on_progress, tried);
    if (!factors_.rounds) factors_.mlilu = made_here(task, options, of, on_progress, tried);
    if (const Index level = tried.mlilu->overflowed; level > 0) {
        tried.fail(Outcome::breakdown, fmt::format("the multilevel ILU's numbers overflowed on level {}", level));
        return false;
    }
    if (coarse) add_coarse(task, options, of, tried);
    return true;
}

template <Scalar S>
bool PrecondMaker<S>::make_kind(const Task& task, const ProgressListener& on_progress, Attempt& tried)
{
    switch (tried.plan.precond.kind) {
        case PrecondKind::mlilu:
            return make_mlilu(task, on_progress, tried);
        case PrecondKind::ilu0:
            task.bring_values();
            factors_.ilu0 = build_ilu0<S>(task.A, tried);
            if (factors_.ilu0) require_within(limit_, tried);
            return factors_.ilu0 != nullptr;
        case PrecondKind::jacobi:
            task.bring_values();
            factors_.jacobi = build_jacobi<S>(task.machine.cpu, task.A, tried);
            require_within(limit_, tried);
            return true;
        case PrecondKind::none:
            return true;
    }
    return true;
}

template <Scalar S>
bool PrecondMaker<S>::make(const Task& task, Attempt& tried)
{
    WallClock              clock;
    double                 analysed = -1;
    Progress               where{.phase = Progress::Phase::setup, .level = 1, .total = task.A.rows()};
    const ProgressListener on_progress = [&](const Progress& now) {
        if (task.listener.on_progress) task.listener.on_progress(now);
        if (analysed < 0 && now.done > 0) analysed = clock.seconds();
        where = now;
    };
    try {
        return make_kind(task, on_progress, tried);
    } catch (const Stopped&) {
        tried.seconds_analyse =
            analysed < 0 ? clock.seconds() : analysed;  // of level 1; that of further levels is short
        tried.seconds_factor = clock.seconds() - tried.seconds_analyse;
        const auto column = where.done > 0 ? fmt::format("at column {} of {}", where.done, where.total)
                                           : fmt::format("before the first of {} columns", where.total);
        tried.fail(outcome_of(task.stop.reason()),
                   fmt::format("the factorization was given up after {:.3g} s, on level {} {}", clock.seconds(),
                               where.level, column));
    }
    return false;
}

#define ILUX_INSTANTIATE(S) template class PrecondMaker<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
