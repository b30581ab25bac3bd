#pragma once
// L and U by one sequence of pivots, where they are: on the host, or on a GPU.

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ilux/base/stop_token.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/lu/system_values.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// What the host needs for a solution.
template <Scalar S = double>
struct LuHost {
    Cpu&            be;
    LuWorkspace<S>& ws;
};

/// Numbers of one system after another by the same pivots, and solutions. Which pivots, and when new ones, is Lu's.
template <Scalar S = double>
class LuFactored {
public:
    /// @param chosen  pivots, and their numbers where these are there already
    explicit LuFactored(LuFactors<S> chosen) : host_(std::move(chosen)) {}
    virtual ~LuFactored() = default;

    const LuPattern&                        pattern() const { return *host_.pattern; }
    const std::shared_ptr<const LuPattern>& shared_pattern() const { return host_.pattern; }
    const std::shared_ptr<const FrontPlan>& fronts() const { return host_.fronts; }  ///< null: by entries
    const PivotMonitor&                     monitor() const { return host_.monitor; }
    LuFactors<S>&                           chosen() { return host_; }        ///< for who takes them over
    virtual bool                            of_gpu() const { return false; }  ///< a GPU renews the numbers
    virtual bool                            on_gpu() const { return false; }  ///< the last numbers are there
    virtual std::string_view                method() const = 0;               ///< that renews the numbers
    virtual std::size_t                     bytes() const                     ///< of the host
    {
        return host_.bytes() + host_.pattern->bytes() + (host_.fronts ? host_.fronts->bytes() : 0);
    }
    virtual std::size_t device_bytes() const { return 0; }

    /// Makes what refactor() needs, if it is not there.
    virtual void prepare() {}
    /// Numbers and monitor of other values.
    /// @param stop  asked by fronts on the host; then the monitor says so
    virtual void refactor(const SystemValues<S>& values, const StopToken& stop) = 0;
    /// refactor(), and x ← A⁻¹ b where one launch does both. @return the refinement of x, where that is so
    virtual std::optional<RefineReport> refactor_and_solve(const SystemValues<S>& values, std::span<const S>,
                                                           std::span<S>, const StopToken& stop)
    {
        refactor(values, stop);
        return std::nullopt;
    }
    /// Brings numbers that were chosen on the host to where refactor() leaves them.
    virtual void settle(const SystemValues<S>&) {}

    /// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b, refined, for as many systems as b holds. @return what the worst of them reached
    virtual RefineReport solve(const LuHost<S>& host, const SystemValues<S>& values, std::span<const S> b,
                               std::span<S> x, Transpose transpose, double tolerance) = 0;
    /// Solves one system, refined, with vectors on the GPU where the factors are. @return nothing where these are not
    virtual std::optional<RefineReport> solve(const SystemValues<S>&, DeviceSpan<const S>, DeviceSpan<S>, Transpose)
    {
        return std::nullopt;
    }
    /// All numbers on the host. Those of a GPU are brought by the first call, which no other thread's may meet.
    virtual const LuFactors<S>& on_host() const { return host_; }

protected:
    mutable LuFactors<S> host_;  ///< pattern and monitor always
};

/// The caller's pattern, as it was analysed, with the last values.
template <Scalar S>
MatrixView<S> matrix_of(const LuSymbolic& pattern, const SystemValues<S>& values)
{
    return {pattern.n, pattern.input_ptr, pattern.input_idx, values.host(), pattern.layout};
}

/// A GPU, and what all factors of one Lu share there.
template <Scalar S = double>
class LuDevice {
public:
    virtual ~LuDevice() = default;
    /// Factors that are renewed there, which this must outlive.
    /// @param chosen  taken over, unless this throws
    /// @param host    whose threads make what the host makes: by fronts all plans, by entries where the values go
    /// @throws OutOfMemory; InvalidInput for fronts that are too large (gpu_front_schedule)
    virtual std::unique_ptr<LuFactored<S>> hold(LuFactors<S>& chosen, const Cpu& host) = 0;
    virtual std::size_t                    bytes() const = 0;  ///< on the device, beside factors and values
};
/// @throws OutOfMemory, DeviceError
template <Scalar S = double>
std::unique_ptr<LuDevice<S>> make_lu_device(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic);

}  // namespace ilux
