#pragma once
// New values of a supernodal LU on a GPU, front after front, with pivots chosen anew within each.

#include <memory>
#include <vector>

#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/direct/gpu/gpu_refactor.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

struct FrontInputArrays;

/// Fronts of up to 128 rows (of complex numbers 96) are one piece of work of a warp or a block; larger ones of many
/// blocks, panel by panel. Serves one stream at a time.
template <Scalar S = double>
class GpuFrontRefactor final : public GpuRefactor<S> {
public:
    using V = cuda::Value<S>;

    /// O(inputs log + tiles), on the host. @param pattern  what front_pattern gives
    /// @throws OutOfMemory; InvalidInput for fronts that are too large (gpu_front_schedule)
    GpuFrontRefactor(Gpu& gpu, std::shared_ptr<const FrontPlan> plan, std::shared_ptr<const LuPattern> pattern);

    /// May be captured in a graph. Repeatable: bitwise.
    void         run(Gpu& gpu, const S* values) override;
    PivotMonitor monitor(Gpu& gpu) const override;
    /// val, f_val and swap of `factors`, which must be of the same plan; waits.
    void                                download(Gpu& gpu, LuFactors<S>& factors) const override;
    std::unique_ptr<GpuSubstitution<S>> substitution(Gpu& gpu, bool transpose) const override;

    const FrontPlan&        plan() const { return *plan_; }
    const LuPattern&        pattern() const { return *pattern_; }
    const GpuFrontSchedule& schedule() const { return schedule_; }
    const FrontsView<V>&    view() const { return view_; }
    const V*                f_val() const { return inputs_.f_value; }
    std::string_view        method() const override { return "supernodes"; }
    std::size_t             bytes() const override { return arrays_.bytes(); }

private:
    /// Blocks of U and L whose inverses a solve takes.
    struct Inverses {
        std::vector<FrontItem> items = {};  // until they are on the device
        const FrontItem*       there = nullptr;
        Index                  count = 0, largest = 0;
        Offset                 numbers = 0;
    };
    void describe(const FrontInputArrays& inputs);
    void upload(Gpu& gpu, const FrontInputArrays& inputs);

    std::shared_ptr<const FrontPlan>      plan_;
    std::shared_ptr<const LuPattern>      pattern_;
    FrontClasses                          classes_;
    GpuFrontSchedule                      schedule_;
    std::vector<DeviceFront>              fronts_;
    DeviceArrays                          arrays_;
    FrontsView<V>                         view_;
    FrontInputs<V>                        inputs_;
    std::shared_ptr<const cuda::Branches> branches_;
    const AssemblyItem*                   assembly_ = nullptr;
    const FrontItem *                     beside_ = nullptr, *update_ = nullptr;
    Inverses                              inverses_;
    const Index *                         small_ = nullptr, *large_ = nullptr;
    FrontExtremes*                        extremes_ = nullptr;  // monitor_blocks + 1
    mutable HostBuffer<FrontExtremes>     found_;
};

}  // namespace ilux
