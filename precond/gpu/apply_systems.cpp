#include "ilux/precond/gpu/apply_systems.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "ilux/base/background.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/apply_levels.hpp"
#include "ilux/precond/ilu0.hpp"

namespace ilux {
namespace {

// What was measured of the engines of sptrsv/, rounded up. Entries are padded to whole lanes; the rows of a level that
// one block has need at least one task of 32; and an analysis takes scratch memory for a while.
constexpr double      padding = 1.5;
constexpr Offset      task_entries = 32;
constexpr std::size_t row_bytes = 160, fixed_bytes = std::size_t{4} << 20;
constexpr std::size_t more_bytes = 6;  // numbers of a row, of which complex ones take twice the bytes

/// Nothing couples its accepted and postponed rows, or the coupling is kept as L_G and U_F: one system either way.
template <Scalar S>
bool collapses(const MlIluLevel<S>& level)
{
    return level.keep || level.nB == 0 || level.nB == level.n;
}

enum class Piece { gather, keep_forward, keep_backward, save_lower, save_upper_G, save_F_lower, save_upper, dense };

struct PlannedStep {
    Piece       piece;
    std::size_t first, last;  // the levels it is made of
    ApplyPart   in, out;
};

/// Which systems, and where their vectors lie. A level works inside one region of the work vector: it finds its input
/// there and gives its last part to the next level, which leaves its output in place.
template <Scalar S>
class ApplyPlan {
public:
    explicit ApplyPlan(const MlIluFactors<S>& factors) : factors_(factors), levels_(factors.levels)
    {
        for (const auto& level : levels_)
            if (!collapses(level)) {
                overhang_ = std::max(overhang_, level.nB);
                widest_ = std::max(widest_, level.n);
            }
        if (widest_ > 0) scratch_ = region(widest_, 0);
        if (factors.n == 0) return;
        const ApplyPart r{ApplyPart::Of::r, 0, factors.n}, z{ApplyPart::Of::z, 0, factors.n};
        if (levels_.empty() || collapses(levels_[0])) {
            add(0, r, z);
        } else {
            const ApplyPart x = region(factors.n, overhang_);
            steps.push_back({Piece::gather, 0, 0, r, x});
            add(0, x, z);
        }
    }

    bool  has_dense() const { return factors_.dense.stored() > 0; }  // otherwise it is empty or the identity
    Index order_of_rest(std::size_t l) const { return l < levels_.size() ? levels_[l].n : factors_.dense.size(); }

    std::vector<PlannedStep> steps;
    Offset                   work = 0;

private:
    ApplyPart region(Index n, Index overhang)
    {
        const ApplyPart part{ApplyPart::Of::work, work, n};
        work += Offset{n} + overhang;
        return part;
    }

    /// M_l⁻¹, from `in` to `out`; both may be the same region.
    void add(std::size_t l, ApplyPart in, ApplyPart out)
    {
        if (l < levels_.size() && !collapses(levels_[l])) return add_saved(l, in, out);
        std::size_t last = l;
        while (last < levels_.size() && collapses(levels_[last])) ++last;
        if (last == l) {
            if (has_dense()) steps.push_back({Piece::dense, l, l, in, out});
            return;
        }
        const ApplyPart x = region(in.n, overhang_);
        steps.push_back({Piece::keep_forward, l, last, in, x});
        add_rest(last, {x.of, x.begin + x.n - order_of_rest(last), order_of_rest(last)});
        steps.push_back({Piece::keep_backward, l, last, x, out});
    }

    void add_saved(std::size_t l, ApplyPart in, ApplyPart out)
    {
        const Index     nB = levels_[l].nB;
        const ApplyPart t{scratch_.of, scratch_.begin, in.n};
        steps.push_back({Piece::save_lower, l, l + 1, in, t});
        steps.push_back({Piece::save_upper_G, l, l + 1, t, {in.of, in.begin + nB, in.n}});
        add_rest(l + 1, {in.of, in.begin + nB, in.n - nB});
        steps.push_back({Piece::save_F_lower, l, l + 1, in, t});
        steps.push_back({Piece::save_upper, l, l + 1, t, out});
    }

    void add_rest(std::size_t l, ApplyPart in_place)
    {
        if (in_place.n > 0) add(l, in_place, in_place);
    }

    const MlIluFactors<S>&            factors_;
    const std::vector<MlIluLevel<S>>& levels_;
    Index                             overhang_ = 0, widest_ = 0;  // over the levels that save
    ApplyPart                         scratch_;
};

template <class T, Scalar S>
ForwardSystem<T> system_of(Cpu& be, const PlannedStep& step, std::span<const ApplyLevel<S>> levels,
                           const ApplyPlan<S>& plan, std::span<const MlIluLevel<S>> originals)
{
    const auto entry = [&](std::size_t l) {
        return l < levels.size() && !collapses(originals[l]) ? ApplyEntry{levels[l].p, levels[l].row_scale}
                                                             : ApplyEntry{};
    };
    const auto  run = levels.subspan(step.first, step.last - step.first);
    const Index rest = plan.order_of_rest(step.last);
    switch (step.piece) {
        case Piece::gather:
            return gather_system<T>(entry(0));
        case Piece::keep_forward:
            return keep_forward<T>(be, run, rest, entry(step.last));
        case Piece::keep_backward:
            return keep_backward<T>(be, run, rest);
        case Piece::save_lower:
            return save_lower<T>(be, run[0]);
        case Piece::save_upper_G:
            return save_upper_G<T>(be, run[0], entry(step.last));
        case Piece::save_F_lower:
            return save_F_lower<T>(be, run[0]);
        case Piece::save_upper:
            return save_upper<T>(be, run[0]);
        case Piece::dense:
            break;
    }
    return {};
}

}  // namespace

/// By rows: the conjugated columns of S⁻ᴴ are the rows of S⁻¹.
template <class T>
std::vector<T> inverse_of(Cpu& be, const DenseLevel<working_of<T>>& dense, bool adjoint)
{
    using S = working_of<T>;
    const auto     n = static_cast<std::ptrdiff_t>(dense.size());
    std::vector<T> W(n * n);
    Offset         too_large = 0;
    // scratch is made here: nothing in the parallel region may throw
    std::vector<std::vector<S>> scratch(be.threads(), std::vector<S>(2 * n + dense.workspace()));
#pragma omp parallel num_threads(be.team(n > 64)) reduction(+ : too_large)
    {
        std::vector<S>& memory = scratch[omp_get_thread_num()];
        const auto      e = std::span(memory).first(n), x = std::span(memory).subspan(n, n);
        const auto      work = std::span(memory).subspan(2 * n);
#pragma omp for schedule(dynamic, 8)
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            std::ranges::fill(e, S(0));
            e[i] = 1;
            if (adjoint) dense.solve(e, x, work);
            else dense.solve_adjoint(e, x, work);
            for (std::ptrdiff_t j = 0; j < n; ++j) {
                W[i * n + j] = static_cast<T>(conj(x[j]));
                too_large += is_finite(W[i * n + j]) ? 0 : 1;
            }
        }
    }
    require_storable(too_large, sizeof(real_of<T>));
    return W;
}

template <class T>
ApplySystems<T> apply_systems(Cpu& be, const MlIluFactors<working_of<T>>& factors, bool adjoint)
{
    using S = working_of<T>;
    const ApplyPlan<S>         plan(factors);
    std::vector<ApplyLevel<S>> levels;
    for (const auto& level : factors.levels) levels.emplace_back(level, adjoint);
    ApplySystems<T> systems{.n = factors.n, .work = plan.work};
    if (plan.has_dense()) {
        systems.dense = factors.dense.size();
        systems.W = inverse_of<T>(be, factors.dense, adjoint);
    }
    for (const auto& step : plan.steps)
        systems.steps.push_back({.in = step.in, .out = step.out, .dense = step.piece == Piece::dense});
    const auto make = [&](std::size_t s) {
        if (s < plan.steps.size())
            systems.steps[s].system = system_of<T, S>(be, plan.steps[s], levels, plan, factors.levels);
    };
    for (std::size_t s = 0; s < plan.steps.size(); s += 2) {  // two at a time: each has stretches for one thread
        const auto next = [&] { make(s + 1); };
        auto       beside = be.threads() > 1 ? in_background(next) : std::async(std::launch::deferred, next);
        make(s);
        beside.get();
    }
    return systems;
}

template <class T>
ApplySystems<T> apply_systems(Cpu&, const Ilu0<working_of<T>>& ilu0, bool adjoint)
{
    require(ilu0.zero_pivot() < 0, [&] {
        return "ILU(0) met a zero pivot in row " + std::to_string(ilu0.zero_pivot() + 1) + " and cannot be applied";
    });
    const Index     n = ilu0.size();
    const ApplyPart r{ApplyPart::Of::r, 0, n}, z{ApplyPart::Of::z, 0, n}, y{ApplyPart::Of::work, 0, n};
    ApplySystems<T> systems{.n = n, .work = n};
    auto            first = adjoint ? forward_system<T>(ilux::adjoint(ilu0.U()), Triangle::lower, Diagonal::stored)
                                    : forward_system<T>(ilu0.L(), Triangle::lower, Diagonal::unit);
    auto            second = adjoint ? forward_system<T>(ilux::adjoint(ilu0.L()), Triangle::upper, Diagonal::unit)
                                     : forward_system<T>(ilu0.U(), Triangle::upper, Diagonal::stored);
    for (const auto* system : {&first, &second})
        require_storable(std::ranges::count_if(system->L.val(), [](T value) { return !is_finite(value); }),
                         sizeof(real_of<T>));
    if (n == 0) return systems;
    systems.steps.push_back({.in = r, .out = y, .system = std::move(first)});
    systems.steps.push_back({.in = y, .out = z, .system = std::move(second)});
    return systems;
}

std::size_t ApplySize::bytes(std::size_t value_bytes, std::size_t scalar_bytes, int multiprocessors) const
{
    const Offset tasks = std::min(rows, multiprocessors * depth);
    const auto   slots = static_cast<std::size_t>(padding * static_cast<double>(entries)) +
                       static_cast<std::size_t>(tasks) * task_entries;
    return slots * (value_bytes + sizeof(Index)) +
           static_cast<std::size_t>(rows) * (row_bytes + more_bytes * (scalar_bytes - sizeof(double))) + fixed_bytes +
           static_cast<std::size_t>(dense) * static_cast<std::size_t>(dense) * value_bytes +
           static_cast<std::size_t>(work) * scalar_bytes;
}

template <Scalar S>
ApplySize apply_size(const MlIluFactors<S>& factors)
{
    const ApplyPlan<S> plan(factors);
    ApplySize          size{.dense = plan.has_dense() ? factors.dense.size() : 0, .work = plan.work};
    for (const auto& step : plan.steps) {
        ++size.steps;
        if (step.piece == Piece::dense) continue;
        size.rows += step.in.n;
        const bool L =
            step.piece == Piece::keep_forward || step.piece == Piece::save_lower || step.piece == Piece::save_F_lower;
        const bool lower = step.piece == Piece::keep_forward || step.piece == Piece::save_upper_G;
        const bool upper = step.piece == Piece::keep_backward || step.piece == Piece::save_F_lower;
        for (std::size_t l = step.first; l < step.last; ++l) {
            const auto& report = factors.report.levels[l];
            size.entries += L ? report.nnz_L : report.nnz_U;
            size.depth += (L ? report.depth_L : report.depth_U) + 1;
            size.entries += (lower ? report.nnz_G : 0) + (upper ? report.nnz_F : 0);
        }
    }
    return size;
}

template <Scalar S>
ApplySize apply_size(const Ilu0<S>& ilu0)
{
    const Offset n = ilu0.size();
    return {.steps = n > 0 ? 2 : 0,
            .rows = 2 * n,
            .entries = ilu0.nnz() - n,
            .depth = Offset{dependency_depth(ilu0.L(), Triangle::lower)} + dependency_depth(ilu0.U(), Triangle::upper),
            .work = n};
}

MlIluOptions for_gpu(MlIluOptions options)
{
    if (options.off_diagonal == OffDiagonal::automatic) options.off_diagonal = OffDiagonal::keep;
    if (options.depth_bound.rows == DepthBound::automatic) options.depth_bound.rows = gpu_depth_bound;
    return options;
}

template <class T>
void solve_serial(const ApplySystems<T>& systems, std::span<const working_of<T>> r, std::span<working_of<T>> z,
                  std::span<working_of<T>> work)
{
    using S = working_of<T>;
    const auto part = [&](const ApplyPart& where) {
        return (where.of == ApplyPart::Of::z ? z : work).subspan(where.begin, where.n);
    };
    for (const auto& step : systems.steps) {
        if (!step.dense) {
            const auto in = step.in.of == ApplyPart::Of::r ? r.subspan(step.in.begin, step.in.n) : part(step.in);
            solve_serial<T>(step.system, in, part(step.out));
            continue;
        }
        const auto           x = part(step.in);
        const std::vector<S> y(x.begin(), x.end());
        for (std::size_t i = 0; i < y.size(); ++i) {
            x[i] = 0;
            for (std::size_t j = 0; j < y.size(); ++j) x[i] += static_cast<S>(systems.W[i * y.size() + j]) * y[j];
        }
    }
}

#define ILUX_INSTANTIATE(T)                                                                                      \
    template ApplySystems<T> apply_systems<T>(Cpu&, const MlIluFactors<working_of<T>>&, bool);                   \
    template ApplySystems<T> apply_systems<T>(Cpu&, const Ilu0<working_of<T>>&, bool);                           \
    template std::vector<T>  inverse_of<T>(Cpu&, const DenseLevel<working_of<T>>&, bool);                        \
    template void solve_serial(const ApplySystems<T>&, std::span<const working_of<T>>, std::span<working_of<T>>, \
                               std::span<working_of<T>>);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(S)                                \
    template ApplySize apply_size(const MlIluFactors<S>&); \
    template ApplySize apply_size(const Ilu0<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
