#pragma once
// Engine `syncfree`: one launch, rows in level order that wait for one another through L2 [aliaga19]. Internal.

#include "ilux/sptrsv/gpu/warp_rows.hpp"

namespace ilux {

/// How the sync-free engine is spread over a GPU.
struct SyncFreeTuning {
    WarpLayoutOptions layout;
    int               resident = 0;  ///< blocks of 8 warps on a multiprocessor at once; 0: as many as fit
};

/// Contract: gpu_engines.hpp.
template <class T>
class SyncFreeEngine {
public:
    using S = working_of<T>;
    SyncFreeEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level,
                   const SyncFreeTuning& tuning = {});

    std::size_t bytes() const { return rows_.bytes(); }
    std::size_t workspace_bytes() const;
    void        prepare(Gpu&, DeviceSpan<std::byte>) const {}
    void solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work, Index rhs = 1) const;
    EngineNumbers<T> numbers() { return rows_.numbers(); }

private:
    WarpRows<T> rows_;
    std::size_t shared_bytes_ = 0;  ///< asked for by each block, so that no more than `resident` fit
};

}  // namespace ilux
