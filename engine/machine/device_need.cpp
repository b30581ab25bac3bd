#include "ilux/engine/machine/device_need.hpp"

#include <fmt/core.h>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/krylov/refinement.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"

namespace ilux {
namespace {

constexpr double estimate_margin = 1.1;  // engines pad their rows, and each plan has small arrays of its own

template <Scalar S>
std::size_t value_bytes(Precision precision)
{
    return precision == Precision::in_single ? sizeof(single_of<S>) : sizeof(S);
}

std::size_t copies_of_M(bool adjoinable) { return adjoinable ? 2 : 1; }

/// Device memory of what krylov.precision=mixed has besides, but M.
template <Scalar S>
std::size_t mixed_bytes(Index n, Offset nnz, Method method, const KrylovOptions& krylov)
{
    const auto rows = static_cast<std::size_t>(n);
    const auto matrix =
        (rows + 1) * sizeof(Offset) + static_cast<std::size_t>(nnz) * (sizeof(Index) + sizeof(single_of<S>));
    constexpr std::size_t vectors = 6;  // scales, their inverses, and two for an M in double
    return (needs_transpose(method) ? 2 : 1) * matrix + refinement_bytes<S>(method, n, krylov) +
           vectors * rows * sizeof(S);
}

}  // namespace

template <Scalar S>
std::size_t device_bytes_of_M(Index n, const PrecondFactors<S>& factors, bool adjoinable, Precision precision)
{
    const auto of_systems = [&](const ApplySize& size) {
        return static_cast<std::size_t>(
            estimate_margin * double(copies_of_M(adjoinable) * size.bytes(value_bytes<S>(precision), sizeof(S))));
    };
    const auto        rows = static_cast<std::size_t>(n);
    const std::size_t of_N = (factors.null_space ? (factors.null_space->count() + 1) * rows * sizeof(S) : 0) +
                             (factors.coarse_there ? factors.coarse_there->bytes() : 0) +
                             factors.coarse_vectors.there.all.bytes();
    if (factors.rounds) return of_N + factors.rounds->most_bytes(adjoinable);
    if (factors.mlilu) return of_N + of_systems(apply_size(factors.mlilu->factors()));
    if (factors.ilu0) return of_N + of_systems(apply_size(*factors.ilu0));
    return of_N + (factors.jacobi ? rows * sizeof(S) : 0);
}

void refuse_beyond(const DeviceNeed& need, std::size_t held, Gpu& gpu, Bytes limit)
{
    const std::size_t free = gpu_memory(gpu.device()).free + held;
    const bool        limited = limit.value > 0 && limit.value < free;
    const std::size_t room = limited ? limit.value : free;
    if (need.total() <= room) return;
    const std::string factors = need.factors > 0 ? fmt::format("factors {}, ", bytes_text(double(need.factors))) : "";
    throw OutOfMemory(fmt::format(
        "about {} of device memory are needed (matrix {}, {}vectors {}), and {} are {}; a larger "
        "precond.drop_tol, precond.precision=single or a smaller krylov.restart takes less, and device=cpu takes none",
        bytes_text(double(need.total())), bytes_text(double(need.matrix)), factors, bytes_text(double(need.workspace)),
        bytes_text(double(room)), limited ? "allowed" : "free"));
}

template <Scalar S>
DeviceNeed device_need(const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                       const KrylovOptions& krylov, Precision precision, KrylovPrecision arithmetic)
{
    const auto        n = static_cast<std::size_t>(A.rows());
    const std::size_t matrix =
        (n + 1) * sizeof(Offset) + static_cast<std::size_t>(A.nnz()) * (sizeof(Index) + sizeof(S));
    if (arithmetic == KrylovPrecision::mixed)
        return {.matrix = matrix,
                .factors = device_bytes_of_M(A.rows(), factors, needs_transpose(method), Precision::in_single),
                .workspace = mixed_bytes<S>(A.rows(), A.nnz(), method, krylov) + 2 * n * sizeof(S)};
    return {.matrix = copies_of_M(needs_transpose(method)) * matrix,
            .factors = device_bytes_of_M(A.rows(), factors, needs_transpose(method), precision),
            .workspace = workspace_bytes<S>(method, A.rows(), krylov) + 2 * n * sizeof(S)};
}

#define ILUX_INSTANTIATE(S)                                                                                     \
    template std::size_t device_bytes_of_M(Index, const PrecondFactors<S>&, bool, Precision);                   \
    template DeviceNeed  device_need(const CsrView<S>&, const PrecondFactors<S>&, Method, const KrylovOptions&, \
                                     Precision, KrylovPrecision);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
