#include "ilux/precond/coarse/found_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/random_number.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {
namespace {

constexpr Index  steps_of_a_vector = 8;
constexpr double good = 0.65;  // ‖x‖ after a step over that before, at most

/// Numbers of (−1, 1). @param which  of such vectors
template <class T>
std::vector<T> random_vector(Index n, Index which)
{
    std::vector<T> x(n);
    for (Index i = 0; i < n; ++i) x[i] = 2 * random_share(static_cast<Index>(random_bits(i) >> 34) + which) - 1;
    return x;
}

/// x ← x − M₂⁻¹ A x so many times, normalized. @return ‖x‖₂ after the last over that before it
template <class T>
double relax(Cpu& be, const LinearOperator<Cpu, T>& A, Preconditioner<Cpu, T>& M2, std::vector<T>& x)
{
    std::vector<T> r(x.size()), z(x.size());
    double         left = 1;
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
template <class T>
CoarseOptions suited(const CsrView<T>& A, CoarseOptions options)
{
    if (!has_zero_diagonal(A)) return options;
    options.most_exact = 20000;
    options.most_found = 0;
    if (options.unknowns == 0) options.unknowns = 60;
    return options;
}

/// @throws InvalidInput as test_vectors()
template <class T>
NearNull<T> near_null_of(const MlIluOptions& options, Index n)
{
    const std::vector<double> given = test_vectors(options, n);
    return {.values = {given.begin(), given.end()}, .count = TestVectors(given, n).count()};
}

}  // namespace

template <class T>
std::string FoundSpace<T>::text(Offset nnz) const
{
    if (!level) return "coarse space: none, no unknown has a strong tie";
    return fmt::format(
        "coarse space: {} unknowns on {} level{}, {:.2f} x nnz(A); vectors: {} given, {} found in {} steps, {:.2f} of an error left "
        "a step; {:.3g} s",
        level->A.rows(), level->levels(), level->levels() == 1 ? "" : "s",
        static_cast<double>(level->stored()) / static_cast<double>(std::max<Offset>(1, nnz)), given, found, steps, left,
        seconds);
}

template <class T>
FoundSpace<T> found_space(Cpu& be, const CsrView<T>& A, Preconditioner<Cpu, T>& M, const CoarseOptions& asked,
                          bool symmetric, const StopToken& stop)
{
    const WallClock         clock;
    const CoarseOptions     options = suited(A, asked);
    const Nodes             nodes = nodes_of(A);
    const MatrixOperator<T> op(A);
    FoundSpace<T>           space;
    space.vectors = asked.M.near_null ? near_null_of<T>(asked.M, A.rows()) : constants(A, nodes);
    space.given = space.vectors.count;
    space.level = coarse_level<T>(be, A, nodes, space.vectors, options, stop);
    while (space.level && options.most_found > 0) {
        stop.check();
        TwoLevel<T>    M2(op, M, space.level, symmetric);
        std::vector<T> x = random_vector<T>(A.rows(), space.found);
        space.left = relax<T>(be, op, M2, x);
        space.steps += steps_of_a_vector;
        if (!(space.left > good) || !std::isfinite(space.left) || space.found == options.most_found) break;
        space.vectors.append(x);
        ++space.found;
        space.level = coarse_level<T>(be, A, nodes, space.vectors, options, stop);
    }
    space.seconds = clock.seconds();
    return space;
}

#define ILUX_INSTANTIATE(T)                                                                                          \
    template struct FoundSpace<T>;                                                                                   \
    template FoundSpace<T> found_space(Cpu&, const CsrView<T>&, Preconditioner<Cpu, T>&, const CoarseOptions&, bool, \
                                       const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
