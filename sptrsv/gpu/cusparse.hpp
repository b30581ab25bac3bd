#pragma once
// Engine `cusparse`: the vendor's SpSV, to compare with. Internal.

#include "ilux/sptrsv/gpu/device_frame.hpp"
#include "ilux/sptrsv/gpu/gpu_engines.hpp"

namespace ilux {

/// Values are widened to those of the vectors, as SpSV has one type for matrix and vectors. Contract: gpu_engines.hpp;
/// the vendor's analysis belongs to a workspace, since what it allocates serves one stream at a time, so prepare() runs
/// it.
/// @throws InvalidInput when the entries with the diagonal pass 2³¹ − 1
template <class T>
class CuSparseEngine {
public:
    using S = working_of<T>;
    CuSparseEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level);

    std::size_t bytes() const { return arrays_.bytes(); }
    std::size_t workspace_bytes() const;  ///< without the vendor's buffer
    HostState   prepare(Gpu& gpu, DeviceSpan<std::byte> work) const;
    void        solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                      const HostState& state) const;

private:
    DeviceArrays arrays_;
    const Index* row_ptr_ = nullptr;  // n + 1, of L with its diagonal where that is stored
    const Index* col_ = nullptr;
    const S*     val_ = nullptr;
    FrameView<S> frame_;
    Index        n_ = 0, nnz_ = 0;
    bool         unit_ = true, framed_ = false;
};

}  // namespace ilux
