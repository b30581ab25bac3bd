#include "ilux/precond/coarse/found_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/coarse/slow_error.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {
namespace {

template <class T>
std::vector<T> placed(Cpu&, std::vector<T> values)
{
    return values;
}
template <class T>
DeviceBuffer<T> placed(Gpu& gpu, const std::vector<T>& values)
{
    return on_device<T>(gpu, values);
}

/// Constants are far from the null space where a basis of finite elements is hierarchical, say. Then steps with M alone
/// take what has energy out of them. They stay where M is so good that nothing is left.
/// @param plain  steps t ← t − M⁻¹ A t, which need M ≥ A; else CG. Where an unknown is alone, CG would leave of a
/// constant
///               with a boundary near it a vector of both signs; of a node's unknowns it takes more energy out.
template <Backend B, Scalar T>
bool smooth(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, bool plain, NearNull<B, T>& vectors)
{
    constexpr double far = 0.12;       // ‖M⁻¹ A t‖ over ‖t‖
    constexpr double rounding = 1e-8;  // what is left of t
    const auto       n = vectors.n();
    Buffer<B, T>     r(n), z(n);
    bool             smoothed = false;
    for (Index c = 0; c < vectors.count; ++c) {
        const Span<B, T> t = Span<B, T>(vectors.values).subspan(c * n, n);
        A.apply(be, t, r);
        M.apply(be, r, z);
        if (!(norm2<T>(be, z) > far * norm2<T>(be, t))) continue;
        copy<T>(be, t, r);
        const SlowError error = plain ? left_by_steps<B, T>(be, A, M, r) : left_by_cg<B, T>(be, A, M, r);
        if (!(error.rest > rounding)) continue;
        copy<T>(be, r, t);
        smoothed = true;
    }
    return smoothed;
}

/// How many vectors are sought for at a time: displacements of a node lack their rotations, one in the plane and three
/// in space.
Index sought_together(const NodeNumbering& nodes) { return nodes.size == 3 ? 3 : 1; }

/// A saddle point's coarse matrix is stable for aggregates of many unknowns of all kinds.
CoarseOptions suited(CoarseOptions options, bool saddle_point)
{
    if (!saddle_point) return options;
    options.most_found = 0;
    if (options.unknowns == 0) options.unknowns = 60;
    return options;
}

/// @throws InvalidInput as given_near_null()
template <class T>
NearNull<Cpu, T> given_vectors(const MlIluOptions& options, Index n)
{
    const std::vector<double> by_rows = given_near_null(options, n);
    const Index               count = TestVectors(by_rows, n).count();
    NearNull<Cpu, T>          given{.values = std::vector<T>(by_rows.size()), .count = count};
    for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < count; ++c)
            given.values[static_cast<std::size_t>(c) * n + i] = by_rows[static_cast<std::size_t>(i) * count + c];
    return given;
}

/// A search for a space.
template <Backend B, Scalar T>
class Finder {
public:
    Finder(const CoarsePlace<B>& where, CoarseSystem<B, T> system, const CoarseOptions& asked)
        : where_{where.host, where.be, where.stop, &space_.parts},
          n_(system.host_A.rows()),
          A_(system.A),
          product_(system.product),
          positive_(asked.positive),
          M2_({.A = system.product, .M = std::move(system.M)})
    {
        begin(system, asked);
    }

    FoundSpace<B, T> run()
    {
        make();
        for (Index before = -1; space_.level && before < vectors_.found && options_.most_found > 0;) {
            before = vectors_.found;
            M2_.set(where_.be, space_.level);
            for (Index k = 0; k < together_ && one_more(k == 0); ++k) {
            }
            if (vectors_.found > before) make();
        }
        space_.seconds = clock_.seconds();
        return std::move(space_);
    }

private:
    void begin(CoarseSystem<B, T>& system, const CoarseOptions& asked)
    {
        const CsrView<T>& A = system.host_A;
        Cpu&              host = where_.host;
        const bool        saddle_point = !positive_ && looks_like_saddle_point(host, A);
        const auto        nodes = nodes_of(A);
        const bool        given = asked.M.near_null != nullptr;
        options_ = suited(asked, saddle_point);
        together_ = given ? 1 : sought_together(nodes);
        parts_ = aggregates<B, T>(where_.be, A_, groups_of(where_.be, nodes), options_.unknowns);
        space_.kept = system.former.found > 0;
        space_.constants = !given;
        if (space_.kept) vectors_ = std::move(system.former);
        else if (given) take(given_vectors<T>(asked.M, n_));
        else if (saddle_point) take(constants(host, A, nodes, true));
        else vectors_ = {.all = constants_of<T>(where_.be, nodes), .given = nodes.size};
        space_.parts.aggregates += lap_.lap();
        if (positive_ && !given && !space_.kept)
            space_.smoothed = smooth<B, T>(where_.be, product_, M2_, nodes.size == 1 && options_.lumped, vectors_.all);
        space_.parts.steps += lap_.lap();
    }

    void take(NearNull<Cpu, T> first)
    {
        vectors_.given = first.count;
        vectors_.all = {.values = placed(where_.be, std::move(first.values)), .count = first.count};
    }

    void make()
    {
        where_.stop.check();
        space_.level = coarse_level<B, T>(where_, A_, parts_, vectors_.all, options_);
    }

    /// Looks for an error that M₂ is slow at. @param judges  it tells how good the space is  @return whether it joined
    bool one_more(bool judges)
    {
        B& be = where_.be;
        where_.stop.check();
        if (!judges && vectors_.found == options_.most_found) return false;
        Buffer<B, T> x = random_numbers<T>(be, n_, vectors_.found);
        lap_.lap();
        const SlowError error = positive_
                                    ? left_by_cg<B, T>(be, product_, M2_, x, step_beside_coarse(space_.level->lumped))
                                    : left_by_steps<B, T>(be, product_, M2_, x);
        space_.parts.steps += lap_.lap();
        space_.steps += error.steps;
        if (judges) space_.left = error.left;
        space_.indefinite |= error.indefinite;
        if (!error.found || vectors_.found == options_.most_found || !has_room()) return false;
        append<B, T>(be, vectors_.all, x);
        ++vectors_.found;
        return true;
    }

    /// A coarse matrix of half as many unknowns as A has would hardly be smaller.
    bool has_room() const { return 2 * Offset{parts_.count()} * (vectors_.all.count + 1) <= n_; }

    const WallClock             clock_;
    WallClock                   lap_;
    FoundSpace<B, T>            space_;
    FoundVectors<B, T>&         vectors_ = space_.vectors;
    CoarsePlace<B>              where_;
    const Index                 n_;
    const SparseView<B, T>&     A_;
    const LinearOperator<B, T>& product_;
    const bool                  positive_;
    CoarseOptions               options_;
    Index                       together_ = 1;
    Groups<B>                   parts_;
    TwoLevel<B, T>              M2_;
};

}  // namespace

template <Backend B, Scalar T>
std::string FoundSpace<B, T>::text(Offset nnz) const
{
    if (!level) return "coarse space: none, no unknown has a strong tie and a vector";
    std::string by_host;
    for (const CoarseLevel<B, T>* at = level.get(); at; at = at->next.get())
        if (!at->M.by_host.empty())
            by_host += fmt::format("; M of {} unknowns by the host: {}", at->A.rows(), at->M.by_host);
    const std::string first = fmt::format("{} {}{}", vectors.given, constants ? "constant" : "given",
                                          constants && vectors.given != 1 ? "s" : "");
    const std::string judged =
        steps == 0 || !(left >= 0) ? "" : fmt::format(" in {} steps, {:.2f} of an error left a step", steps, left);
    return fmt::format(
               "coarse space: {} unknowns on {} level{}, {:.2f} x nnz(A); vectors: {}{}, {} {}{}; {:.3g} s (aggregates {:.2g}, P {:.2g}, "
               "PᴴAP {:.2g}, M {:.2g}, steps {:.2g})",
               level->A.rows(), level->levels(), level->levels() == 1 ? "" : "s",
               static_cast<double>(level->stored()) / static_cast<double>(std::max<Offset>(1, nnz)), first,
               smoothed ? " and smoothed" : "", vectors.found, kept ? "kept and found" : "found", judged, seconds,
               parts.aggregates, parts.P, parts.A, parts.M, parts.steps) +
           by_host;
}

template <Backend B, Scalar T>
FoundSpace<B, T> found_space(const CoarsePlace<B>& where, CoarseSystem<B, T> system, const CoarseOptions& options)
{
    return Finder<B, T>(where, std::move(system), options).run();
}

#define ILUX_INSTANTIATE(B, T)        \
    template struct FoundSpace<B, T>; \
    template FoundSpace<B, T> found_space(const CoarsePlace<B>&, CoarseSystem<B, T>, const CoarseOptions&);
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
