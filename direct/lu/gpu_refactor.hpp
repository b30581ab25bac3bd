#pragma once
// New values, the same pattern and pivots, on a GPU: one interface over all methods.

#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/direct/dataflow/gpu_dense_tail.hpp"
#include "ilux/direct/gpu/gpu_pivot_monitor.hpp"
#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/direct/published/refactor_right.hpp"
#include "ilux/direct/published/refactor_union.hpp"

namespace ilux {

/// What methods take beyond LuOptions; the defaults serve every GPU.
struct GpuRefactorTuning {
    LeftTuning  left = {};
    RightTuning right = {};
    UnionTuning joined = {};
};

/// Entries as dot products that wait for one another, and the dense tail by one thread block.
struct DataflowRefactor {
    GpuDataflow  entries;
    GpuDenseTail tail;

    std::size_t bytes() const { return entries.bytes() + tail.bytes(); }
};

/// Factors on the device, by one of the methods. Serves one stream at a time.
template <Scalar S = double>
class GpuRefactor {
public:
    /// @param method     left, glu1, glu3, islu, or automatic: dot products, or left where gpu_cost
    ///                   (refactor_choice.hpp) says so or their program does not fit
    /// @throws InvalidOption for another method; OutOfMemory, or InvalidInput where 32 bits cannot count
    /// @param host  whose threads look up where the caller's values go
    GpuRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, RefactorMethod method,
                const GpuRefactorTuning& tuning = {}, Cpu host = Cpu());

    /// Factors and monitor from the caller's values, which are on the device; only enqueued, allocates nothing.
    /// Repeatable: bitwise, but for glu1 and glu3.
    void run(Gpu& gpu, const S* values);
    /// Of the last run; waits for it.
    PivotMonitor monitor(Gpu& gpu) const { return monitor_.result(gpu); }

    /// Entry e of LuPattern, those of F behind the others, is val()[slot_of()[e]], or val()[e] where slot_of() is
    /// empty.
    const S*                               val() const { return val_.data(); }
    std::span<const DataflowProgram::Slot> slot_of() const { return slot_of_; }
    /// val and f_val of `factors`, which must be of the same pattern; waits.
    void download(Gpu& gpu, LuFactors<S>& factors) const;

    std::string_view method() const;  ///< dataflow, left, glu1, glu3 or islu
    const LuPattern& pattern() const { return pattern_->host(); }
    std::size_t      bytes() const;  ///< on the device
    /// The published methods capture graphs of their own, so their run may not be captured.
    bool makes_graphs() const { return !std::holds_alternative<DataflowRefactor>(engine_); }

    const LeftRefactor<S>*  left() const { return std::get_if<LeftRefactor<S>>(&engine_); }
    const RightRefactor<S>* right() const { return std::get_if<RightRefactor<S>>(&engine_); }
    const UnionRefactor<S>* joined() const { return std::get_if<UnionRefactor<S>>(&engine_); }

    using Engine = std::variant<DataflowRefactor, LeftRefactor<S>, RightRefactor<S>, UnionRefactor<S>>;

private:
    GpuRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs, RefactorMethod method,
                const GpuRefactorTuning& tuning);

    RefactorMethod                      method_;  ///< automatic: dot products
    std::shared_ptr<const GpuLuPattern> pattern_;
    UnsetVector<DataflowProgram::Slot>  slot_of_;  ///< of dot products
    Engine                              engine_;
    DeviceBuffer<S>                     val_;
    GpuPivotMonitor                     monitor_;
};

}  // namespace ilux
