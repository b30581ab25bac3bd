#include "ilux/precond/coarse/found_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/random_number.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

constexpr Index  steps_of_a_vector = 12;
constexpr double good = 0.94;  // ‖x‖ after a step over that before, at most

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
Groups<Cpu> placed(Cpu&, Groups<Cpu> groups) { return groups; }
Groups<Gpu> placed(Gpu& gpu, const Groups<Cpu>& groups) { return on_device(gpu, groups); }

/// Numbers of (−1, 1). @param which  of such vectors
template <class T>
std::vector<T> random_vector(Cpu& be, Index n, Index which)
{
    std::vector<T> x(n);
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i)
            x[i] = 2 * random_share(static_cast<Index>(random_bits(i) >> 34) + which) - 1;
    });
    return x;
}

/// x ← x − M₂⁻¹ A x so many times, normalized. @return ‖x‖₂ after the last over that before it
template <Backend B, Scalar T>
double relax(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M2, Buffer<B, T>& x)
{
    Buffer<B, T> r(x.size()), z(x.size());
    double       left = 1;
    for (Index k = 0; k < steps_of_a_vector && left > 0; ++k) {
        scale<T>(be, 1 / norm2<T>(be, x), x);
        A.apply(be, x, r);
        M2.apply(be, r, z);
        axpy<T>(be, -1, z, x);
        left = norm2<T>(be, x);
    }
    if (left > 0) scale<T>(be, 1 / left, x);
    return left;
}

/// A saddle point's coarse matrix is stable for aggregates of many unknowns of all kinds, and has no M of its own.
CoarseOptions suited(CoarseOptions options, bool saddle_point)
{
    if (!saddle_point) return options;
    options.most_exact = 20000;
    options.most_found = 0;
    if (options.unknowns == 0) options.unknowns = 60;
    return options;
}

/// @throws InvalidInput as test_vectors()
template <class T>
NearNull<Cpu, T> given_vectors(const MlIluOptions& options, Index n)
{
    const std::vector<double> by_rows = test_vectors(options, n);
    const Index               count = TestVectors(by_rows, n).count();
    NearNull<Cpu, T>          given{.values = std::vector<T>(by_rows.size()), .count = count};
    for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < count; ++c)
            given.values[static_cast<std::size_t>(c) * n + i] = by_rows[static_cast<std::size_t>(i) * count + c];
    return given;
}

}  // namespace

template <Backend B, Scalar T>
std::string FoundSpace<B, T>::text(Offset nnz) const
{
    if (!level) return "coarse space: none, no unknown has a strong tie";
    return fmt::format(
        "coarse space: {} unknowns on {} level{}, {:.2f} x nnz(A); vectors: {} given, {} found in {} steps, {:.2f} of an error left "
        "a step; {:.3g} s (aggregates {:.2g}, P {:.2g}, PᴴAP {:.2g}, M {:.2g}, steps {:.2g})",
        level->A.rows(), level->levels(), level->levels() == 1 ? "" : "s",
        static_cast<double>(level->stored()) / static_cast<double>(std::max<Offset>(1, nnz)), given, found, steps, left,
        seconds, parts.aggregates, parts.P, parts.A, parts.M, parts.steps);
}

template <Backend B, Scalar T>
FoundSpace<B, T> found_space(const CoarsePlace<B>& where, CoarseSystem<B, T> system, const CoarseOptions& asked)
{
    const WallClock     clock;
    WallClock           lap;
    B&                  be = where.be;
    const Index         n = system.host_A.rows();
    const bool          saddle_point = !asked.positive && has_zero_diagonal(where.host, system.host_A);
    const CoarseOptions options = suited(asked, saddle_point);
    const Groups<Cpu>   nodes = nodes_of(where.host, system.host_A);
    auto                first =
        asked.M.near_null ? given_vectors<T>(asked.M, n) : constants(where.host, system.host_A, nodes, saddle_point);
    FoundSpace<B, T> space{.given = first.count};
    CoarsePlace<B>   at{where.host, be, where.stop, &space.parts};
    space.vectors = {.values = placed(be, std::move(first.values)), .count = first.count};
    const Groups<B> parts = aggregates<B, T>(be, system.A, placed(be, nodes), options.unknowns);
    space.parts.aggregates += lap.lap();
    const auto make = [&] {
        at.stop.check();
        space.level = coarse_level<B, T>(at, system.A, parts, space.vectors, options);
    };
    make();
    TwoLevel<B, T> M2({.A = system.product, .M = std::move(system.M), .symmetric = system.symmetric});
    while (space.level && options.most_found > 0) {
        at.stop.check();
        M2.set(be, space.level);
        Buffer<B, T> x = placed(be, random_vector<T>(at.host, n, space.found));
        lap.lap();
        space.left = relax<B, T>(be, system.product, M2, x);
        space.parts.steps += lap.lap();
        space.steps += steps_of_a_vector;
        if (!(space.left > good) || !std::isfinite(space.left) || space.found == options.most_found) break;
        append<B, T>(be, space.vectors, x);
        ++space.found;
        make();
    }
    space.seconds = clock.seconds();
    return space;
}

#define ILUX_INSTANTIATE(B, T)        \
    template struct FoundSpace<B, T>; \
    template FoundSpace<B, T> found_space(const CoarsePlace<B>&, CoarseSystem<B, T>, const CoarseOptions&);
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
