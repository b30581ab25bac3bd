#include "ilux/engine/precond_maker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/found_vectors.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {
namespace {

constexpr double beside_coarse = 2;  // τ_S over τ, where it is left to us: a coarse space mends what is dropped

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
/// @param saddle_point  its zeros wait for their neighbours in place of a matching
MlIluOptions settled(const PrecondOptions& precond, bool positive, bool saddle_point)
{
    MlIluOptions options = precond.mlilu;
    if (precond.coarse != CoarseChoice::on) return options;
    if (options.setup == MlIluSetup::automatic) options.setup = MlIluSetup::rounds;
    const bool rounds = options.setup == MlIluSetup::rounds;
    if (rounds && options.compensation == Compensation::automatic)
        options.compensation = positive ? Compensation::lumped : Compensation::off;
    if (options.compensation != Compensation::on) options.near_null = {};
    if (rounds && saddle_point && options.matching == MatchingChoice::automatic && !options.definite &&
        !options.absolute)
        options.matching = MatchingChoice::wait;
    if (!options.schur_drop_tol.given) options.schur_drop_tol = beside_coarse * options.drop_tol;
    options.beside_coarse = !saddle_point;
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
struct PrecondMaker<S>::MatrixOfM {
    ExactImage<S>               image = {};
    std::optional<DeviceCsr<S>> there = {};            ///< the mean, where M is made on a GPU
    bool                        positive = false;      ///< Hermitian, its pattern included, with a positive diagonal
    bool                        saddle_point = false;  ///< Hermitian or symmetric, and looks like one

    CsrView<S> in_place_of(const CsrView<S>& A) const { return image.mean ? CsrView<S>(*image.mean) : A; }
    /// The mean on the device, or null: A serves. @throws OutOfMemory
    const DeviceCsr<S>* on_device(GpuSystem<S>& place)
    {
        if (!image.mean) return nullptr;
        if (!there) {
            place.await_values();
            there.emplace(place.gpu(), *image.mean);
        }
        return &*there;
    }
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
    auto vectors = std::move(factors_.coarse_vectors);
    drop();
    former_ = std::move(former);
    factors_.coarse_vectors = std::move(vectors);
}

/// Rounds on the device, where they are asked for or may be chosen. Nothing where the host should factor; `tried` says
/// why.
template <Scalar S>
std::optional<GpuRounds<S>> PrecondMaker<S>::made_there(const Task& task, const MlIluOptions& options,
                                                        MatrixOfM& source, const ProgressListener& on_progress,
                                                        Attempt& tried)
{
    if (!task.there || !device_rounds_are_likely(task.A.rows(), task.A.nnz(), options)) return {};
    const bool  again = former_ && former_->on_gpu && former_->options == options;
    std::string why;
    try {
        GpuRounds<S> rounds = task.there->set_up_rounds(options, again ? &*former_->on_gpu : nullptr, on_progress,
                                                        task.stop, source.on_device(*task.there));
        if (rounds.made()) {
            note_mlilu(rounds.report(), tried);
            made_by_ = options;
            if (source.image.mean) tried.decisions.push_back(source.image.told);
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
MlIlu<S> PrecondMaker<S>::made_here(const Task& task, const MlIluOptions& asked, const MatrixOfM& source,
                                    const ProgressListener& on_progress, Attempt& tried)
{
    task.bring_values();
    const CsrView<S> A = source.in_place_of(task.A);
    if (source.image.mean) tried.decisions.push_back(source.image.told);
    Cpu&               cpu = task.machine.cpu;
    const MlIluOptions options = fitted_to(task.machine, asked, tried);
    const bool         again = former_ && former_->on_host && former_->options == options;
    MlIlu<S>           factors = again ? MlIlu<S>::rebuild(cpu, A, options, *former_->on_host, on_progress, task.stop)
                                       : MlIlu<S>::build(cpu, A, options, on_progress, task.stop);
    made_by_ = options;
    note_mlilu(factors.report(), tried);
    return factors;
}

/// A coarse space for the M at hand: made where M is to be applied. @return whether A may be positive definite
template <Scalar S>
bool PrecondMaker<S>::add_coarse(const Task& task, const MlIluOptions& of_M, MatrixOfM& source, Attempt& tried)
{
    const PrecondOptions& asked = tried.plan.precond;
    const MlIluReport&    made = factors_.rounds ? factors_.rounds->report() : factors_.mlilu->report();
    const bool            seeks = tried.plan.coarse_chosen != CoarseChosen::dominant ||  // else constants are enough
                       asked.coarse_vectors != PrecondOptions().coarse_vectors;
    CoarseOptions options{.unknowns = asked.coarse_size,
                          .most_found = seeks ? asked.coarse_vectors : 0,
                          .M = of_M,
                          .positive = source.positive,
                          .lumped = is_lumped(made)};
    options.M.near_null = asked.mlilu.near_null;
    auto&      vectors = factors_.coarse_vectors;
    bool       indefinite = false;
    const auto note = [&](auto space, auto& kept) {
        tried.decisions.push_back(space.text(task.A.nnz()));
        kept = std::move(space.vectors);
        indefinite = space.indefinite;
        tried.seconds_factor += space.seconds;
        if (space.level) tried.factor_bytes += space.level->bytes() + kept.all.bytes();
        return space.level;
    };
    if (task.there) try {
            const DeviceCsr<S>* const mean = source.on_device(*task.there);
            factors_.coarse_there =
                note(task.there->find_coarse(factors_, options, task.stop, std::move(vectors.there), mean),
                     vectors.there);
            return !indefinite;
        } catch (const OutOfMemory&) {
            tried.device_is_full = true;
            throw;
        }
    Cpu&                    cpu = task.machine.cpu;
    const CsrView<S>        A = source.in_place_of(task.A);
    const MatrixOperator<S> product(A);
    auto                    M = std::make_unique<MlIluPreconditioner<S>>(*factors_.mlilu);
    factors_.coarse = note(found_space<Cpu, S>({cpu, cpu, task.stop},
                                               {A, A, product, std::move(M), std::move(vectors.here)}, options),
                           vectors.here);
    require_within(limit_, tried);
    return !indefinite;
}

/// Why M had better be made once more, or "": A is not positive definite, or a coarse space that was chosen for the
/// user has no room.
template <Scalar S>
std::string PrecondMaker<S>::why_not_coarse(const Task& task, const MlIluOptions& of_M, MatrixOfM& source,
                                            Attempt& tried)
{
    try {
        return add_coarse(task, of_M, source, tried) ? "" : "A is not positive definite";
    } catch (const OutOfMemory& error) {
        if (tried.plan.coarse_chosen == CoarseChosen::none || (task.there && task.machine.gpu_by_choice)) throw;
        tried.device_is_full = false;
        return error.what();
    }
}

/// @param lumps  A may be positive definite, as far as is known
template <Scalar S>
bool PrecondMaker<S>::make_mlilu(const Task& task, const ProgressListener& on_progress, Attempt& tried, bool lumps)
{
    const PrecondOptions& asked = tried.plan.precond;
    const bool            coarse = asked.coarse == CoarseChoice::on;
    MatrixOfM             source;
    if (coarse || (task.there && tried.plan.rounded_symmetry)) {
        task.bring_values();
        source.image = exact_image(task.machine.cpu, task.A, tried.plan.of_adjoint);
        Cpu&             cpu = task.machine.cpu;
        const CsrView<S> A = source.in_place_of(task.A);
        source.positive = lumps && source.image.mirror == Mirror::hermitian && has_positive_diagonal(cpu, A);
        source.saddle_point =
            coarse && !source.positive && source.image.mirror != Mirror::none && looks_like_saddle_point(cpu, A);
    }
    if (!coarse) tell_unused(tried);
    const MlIluOptions options = settled(asked, source.positive, source.saddle_point);
    if (options.tau_S() != asked.mlilu.tau_S())
        tried.decisions.push_back(fmt::format("schur_drop_tol={}, beside a coarse space", options.tau_S()));
    if (options.matching != asked.mlilu.matching)
        tried.decisions.emplace_back("matching=wait, beside a coarse space: unknowns without a diagonal wait for one");
    factors_.rounds = made_there(task, options, source, on_progress, tried);
    if (!factors_.rounds) factors_.mlilu = made_here(task, options, source, on_progress, tried);
    if (const Index level = tried.mlilu->overflowed; level > 0) {
        tried.fail(Outcome::breakdown, fmt::format("the multilevel ILU's numbers overflowed on level {}", level));
        return false;
    }
    const std::string why = coarse ? why_not_coarse(task, options, source, tried) : "";
    if (why.empty()) return true;
    const bool chosen = tried.plan.coarse_chosen != CoarseChosen::none;
    auto       vectors = std::move(factors_.coarse_vectors);
    factors_ = {.null_space = std::move(factors_.null_space)};
    if (!chosen) factors_.coarse_vectors = std::move(vectors);
    tried.decisions.push_back((chosen ? "precond.coarse=off after all: " : "M lumps nothing: ") + why);
    if (chosen) tried.plan.leave_coarse();
    return make_mlilu(task, on_progress, tried, false);
}

template <Scalar S>
bool PrecondMaker<S>::make_kind(const Task& task, const ProgressListener& on_progress, Attempt& tried)
{
    if (tried.plan.precond.mlilu.near_null && tried.plan.precond.kind != PrecondKind::mlilu)
        tried.decisions.push_back(fmt::format("near_null has no effect on {}", field_text(tried.plan.precond.kind)));
    switch (tried.plan.precond.kind) {
        case PrecondKind::mlilu:
            return make_mlilu(task, on_progress, tried, true);
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
