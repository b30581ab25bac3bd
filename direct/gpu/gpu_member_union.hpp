#pragma once
// The member union on a GPU, where it is made in parallel [islu_24].

#include "ilux/direct/gpu/gpu_lu_pattern.hpp"
#include "ilux/direct/gpu/member_union.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// What kernels get; what each array holds is said of MemberUnion and its layout.
struct UnionView {
    const UnionIndex*    index = nullptr;
    const Offset*        first = nullptr;
    const Offset*        len = nullptr;
    Offset               first_wide = 0, first_run = 0;  ///< where in Vlen's count each part of Vdata begins
    const std::uint16_t* plain = nullptr;
    const std::uint32_t* wide = nullptr;
    const UnionRun*      runs = nullptr;
    const UnionWord*     words = nullptr;
};

/// Positions of a pattern's updates on the device. Immutable: serves several streams at once.
class GpuMemberUnion {
public:
    /// Plans within `limit` bytes, counting runs where not all columns can have positions of their own, and builds: a
    /// warp for each u_ik, a lane for each entry of L(:,i), every one a binary search that goes on from the lane's last
    /// one. O(multiply-adds · log)
    GpuMemberUnion(Gpu& gpu, const GpuLuPattern& pattern, std::size_t limit, std::optional<UnionIndex> forced = {});

    const UnionPlan& plan() const { return plan_; }
    const UnionView& view() const { return view_; }
    double           seconds() const { return seconds_; }  ///< on the device
    std::size_t      bytes() const { return arrays_.bytes(); }

    MemberUnion download(Gpu& gpu) const;

private:
    UnionPlan                    plan_;
    [[maybe_unused]] UnionLayout layout_;  // unused in a build without CUDA
    DeviceArrays                 arrays_;
    UnionView                    view_;
    double                       seconds_ = 0;
};

}  // namespace ilux
