#pragma once
// New values by entries on a GPU: by dot products that wait for one another, or by a published method.

#include <memory>
#include <optional>
#include <span>

#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/direct/dataflow/gpu_dense_tail.hpp"
#include "ilux/direct/gpu/gpu_pivot_monitor.hpp"
#include "ilux/direct/gpu/gpu_refactor.hpp"
#include "ilux/direct/published/published_refactor.hpp"

namespace ilux {

/// Factors by entries.
template <Scalar S = double>
class GpuEntryRefactor final : public GpuRefactor<S> {
public:
    /// @param options  refactor: left, glu1, glu3, islu, or automatic: dot products, or left where gpu_cost
    ///                 (refactor_choice.hpp) says so or their program does not fit
    /// @param host  whose threads look up where the caller's values go
    /// @throws InvalidOption for another method; OutOfMemory, or InvalidInput where 32 bits cannot count
    GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const LuOptions& options = {},
                     Cpu host = Cpu());
    /// Refactors by a published method that the caller has made for the pattern.
    GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern,
                     std::unique_ptr<PublishedRefactor<S>> published, RefactorMethod method);

    /// Repeatable: bitwise, but for methods that vary them.
    void                                run(Gpu& gpu, const S* values) override;
    PivotMonitor                        monitor(Gpu& gpu) const override { return monitor_->result(gpu); }
    void                                download(Gpu& gpu, LuFactors<S>& factors) const override;
    std::unique_ptr<GpuSubstitution<S>> substitution(Gpu& gpu, bool transpose) const override;

    std::string_view method() const override;  ///< dataflow, left, glu1, glu3 or islu
    bool             makes_graphs() const override { return published_ != nullptr; }
    std::size_t      bytes() const override;
    const LuPattern& pattern() const { return pattern_->host(); }

private:
    /// Entries as dot products, and the dense tail by one thread block.
    struct DotProducts {
        GpuDataflow  entries;
        GpuDenseTail tail;
    };
    GpuEntryRefactor(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs,
                     const LuOptions& options);
    bool make_dot_products(Gpu& gpu, const EntryInputs& inputs);

    RefactorMethod                        method_;  // automatic: dot products
    std::shared_ptr<const GpuLuPattern>   pattern_;
    std::optional<DotProducts>            dot_products_;
    std::unique_ptr<PublishedRefactor<S>> published_;  // in place of these
    // Entry e of LuPattern, those of F behind the others, is val_[slot_of_[e]], or val_[e] where that is empty.
    UnsetVector<DataflowProgram::Slot> slot_of_;
    DeviceBuffer<S>                    val_;
    std::optional<GpuPivotMonitor>     monitor_;
};

}  // namespace ilux
