#pragma once
// A x = b, or Aᴴ x = b, solved by an iteration with one M, where A, M and the vectors are.

#include <functional>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/engine/machine/precond_factors.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/standard.hpp"
#include "ilux/engine/system_vectors.hpp"
#include "ilux/engine/witness/witness.hpp"

namespace ilux {

/// How a system is to be solved and judged. All that is referred to must outlive the calls.
template <Scalar S = double>
struct Iterate {
    const CsrView<S>& A;  ///< on the host, or its adjoint; its values may be older than those where the iteration works
    KrylovOptions     krylov;
    Standard          standard;
    const ProgressListener&      on_progress;
    const StopToken&             stop;
    Witness<S>&                  witness;
    const std::function<void()>& bring_values;  ///< before the host looks at A
};

/// The host, or a GPU.
template <Scalar S = double>
class KrylovPlace {
public:
    virtual ~KrylovPlace() = default;

    /// Other values of A's pattern; M stays. @param A  must stand until others are given
    virtual void renew(const CsrView<S>& A) = 0;
    /// @param factors  of A, also where the system is with Aᴴ; must outlive their use  @throws OutOfMemory, DeviceError
    virtual void put(const PrecondFactors<S>& factors) = 0;
    virtual void drop_factors() = 0;
    /// What A, M and vectors take.
    virtual void note(Attempt& tried) const = 0;

    /// Solves from the guess; tried.report says how that went. x stays there until judge() or fetch().
    virtual void iterate(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) = 0;
    /// finish_iteration() there, or on the host where that has to look at x; tried.x ← x. Where x converged on the
    /// GPU that holds the caller's arrays, it is written there at once, and tried.x becomes empty.
    virtual void judge(SystemVectors<S>& given, const Iterate<S>& how, Attempt& tried) = 0;
    virtual void fetch(Attempt& tried) = 0;  ///< tried.x ← x
    /// z ← M⁻¹ r, in double there, for given.b() = r; z is delivered.
    virtual void apply(SystemVectors<S>& given) = 0;
};

}  // namespace ilux
