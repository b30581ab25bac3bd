#pragma once
// The multilevel ILU in rounds, set up on a GPU: A is scaled, eliminated and applied there, and the host only decides.

#include <memory>
#include <string>
#include <vector>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/progress.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/precond/gpu/gpu_apply.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace ilux {

template <class T>
struct RoundsFactors;
struct SingleScales;

/// What a setup in rounds on a device has decided: enough to eliminate other matrices of the same pattern by the same
/// rounds. Holds 4 bytes of device memory a row.
struct GpuRoundsPlan {
    struct Level {
        std::vector<Index> ends;     ///< of each round, in `order`
        double             cut = 0;  ///< MlIluLevelReport::cut when the rounds were chosen
    };
    std::shared_ptr<const DeviceBuffer<Index>> order;  ///< n: rows as they are eliminated, ascending in a round
    std::vector<Level>                         levels;
    Compensation                               compensation = Compensation::off;
    bool matched = false;  ///< a level was: no other matrix is set up by this plan
};

/// What was set up for a matrix of S, or why it was not. Cheap to copy (shared); immutable; serves any number of
/// streams.
template <Scalar S = double>
class GpuRounds {
    using Single = single_of<S>;

public:
    GpuRounds() = default;
    /// M for A as MlIlu::build makes it by options.setup=rounds or auto, up to rounding. Bits repeat, on devices of one
    /// kind. Cost as that of the host's rounds; the host waits for a few counters a round. None is made of so few rows
    /// that the host is faster, unless options.dense_order asks for their inverse.
    /// @param in_single  store values in single precision; where one is too large for it they are stored in double, and
    /// remark()
    ///                   says so
    /// @throws OutOfMemory, DeviceError, Cancelled, OutOfTime; InvalidInput where options.definite asks for what A is
    /// not
    static GpuRounds build(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options, bool in_single,
                           const ProgressListener& on_progress = {}, const StopToken& stop = {});

    /// M for A by the rounds that an earlier setup found for another matrix, as MlIlu::rebuild does it: where they do
    /// not suit A, it is set up by build() after all, and `decisions` says why. Takes half to three quarters of the
    /// time of build(); where it is refused, what it took until then besides.
    /// @param plan  of a matrix of the same order and, for it to be of use, pattern; set up by the same options
    /// @throws as build(), and InvalidInput for a plan of another order or without rounds
    static GpuRounds rebuild(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options, bool in_single,
                             const GpuRoundsPlan& plan, const ProgressListener& on_progress = {},
                             const StopToken& stop = {});
    /// What rebuild() needs. Needs an M.
    const GpuRoundsPlan& plan() const { return *plan_; }

    /// Whether there is an M. Where not, the host should set it up, and why_not() says what was in the way: "" where
    /// rounds were not chosen.
    bool               made() const { return in_double_ || in_single_; }
    const std::string& why_not() const { return why_not_; }
    const std::string& remark() const { return remark_; }
    const MlIluReport& report() const { return report_; }
    bool               in_single() const { return in_single_ != nullptr; }
    std::size_t        bytes() const;                      ///< of device memory
    std::size_t        most_bytes(bool adjoinable) const;  ///< while preconditioner() is made, scratch included
    std::size_t        workspace_bytes() const;            ///< of preconditioner(), besides
    Index              rounds() const;                     ///< of all levels
    Index              dense_order() const;                ///< of the dense end
    /// The triangular systems, as a report shows them, a level a round: of M⁻¹, then of M⁻ᴴ where that is asked for.
    std::vector<GpuFactorReport::System> systems(bool adjoinable = false) const;

    /// z ← M⁻¹ r on one stream, and where it is `adjoinable` z ← M⁻ᴴ r, for as much memory again and a sort of all
    /// entries of L and U at each call. apply_columns() solves eight columns in the time of 3.5 to 5, for eight vectors
    /// of workspace that its first call takes: make one before a stream is captured.
    /// @throws OutOfMemory, DeviceError
    std::unique_ptr<Preconditioner<Gpu, S>> preconditioner(Gpu& gpu, bool adjoinable = false) const;

    /// The preconditioner of R A C, with vectors, values and sums in single precision. Needs in_single().
    std::unique_ptr<Preconditioner<Gpu, Single>> preconditioner_in_single(Gpu& gpu, const SingleScales& scales,
                                                                          bool adjoinable = false) const;

private:
    template <Scalar>
    friend class GpuRoundsBuilder;
    Index                                        n_ = 0;
    std::string                                  why_not_, remark_;
    MlIluReport                                  report_;
    std::shared_ptr<const GpuRoundsPlan>         plan_;
    std::shared_ptr<const RoundsFactors<S>>      in_double_;
    std::shared_ptr<const RoundsFactors<Single>> in_single_;
};

}  // namespace ilux
