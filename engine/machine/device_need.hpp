#pragma once
// What an iteration takes of a GPU's memory.

#include <cstddef>

#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/machine/precond_factors.hpp"

namespace ilux {

/// Bytes of device memory: an estimate, made before anything is allocated.
struct DeviceNeed {
    std::size_t matrix = 0, factors = 0, workspace = 0;
    std::size_t total() const { return matrix + factors + workspace; }
};
template <Scalar S>
DeviceNeed device_need(const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
                       const KrylovOptions& krylov, Precision precision,
                       KrylovPrecision arithmetic = KrylovPrecision::in_double);

/// Device memory of M alone. @param adjoinable  M⁻ᴴ is applied, too
template <Scalar S>
std::size_t device_bytes_of_M(Index n, const PrecondFactors<S>& factors, bool adjoinable, Precision precision);
/// @param held  bytes of `need` that are allocated already  @throws OutOfMemory where there is no room for the rest
void refuse_beyond(const DeviceNeed& need, std::size_t held, Gpu& gpu, Bytes limit);

}  // namespace ilux
