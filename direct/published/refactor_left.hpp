#pragma once
// Left-looking refactorization on a GPU, cluster mode and pipeline mode [chen_wang_14].

#include <cstdint>
#include <memory>
#include <vector>

#include "ilux/direct/gpu/kernel_trial.hpp"
#include "ilux/direct/published/published_refactor.hpp"

namespace ilux {

/// Where the pipeline should begin the paper leaves open; 128 is what a successor of its authors takes.
struct LeftTuning {
    Index       pipeline_columns = 128;  ///< the first level of fewer columns starts the pipeline; 0: no pipeline
    Index       warps = 0;               ///< resident warps at most; 0: as many as fit, within work_bytes
    std::size_t work_bytes = std::size_t{1} << 32;  ///< of the dense work vectors, one of n numbers a warp
};

/// What one run on the device shares.
template <class S>
struct LeftState;

/// What kernels get.
template <class S>
struct LeftView {
    LuPatternView  pattern;
    const Index*   column = nullptr;  ///< n; by levels
    std::uint32_t* done = nullptr;    ///< n; the epoch in which a column was finished last
    LeftState<S>*  state = nullptr;
    S*             work = nullptr;  ///< warps vectors of n
    Index          warps = 0;
    unsigned       delay = 0;
};

/// A warp computes a column: it scatters it into a dense vector, applies the columns of U(:,k) in ascending order,
/// divides and gathers. Cluster mode launches one kernel a level; pipeline mode one for all levels that remain, in
/// which columns are handed out by ticket in level order and wait for one another by epoch flags. The launches are
/// captured in a CUDA graph when this is made. Bitwise equal to refactor_serial for any number of warps. Serves one
/// stream at a time.
template <Scalar S = double>
class LeftRefactor final : public PublishedRefactor<S> {
public:
    /// Host O(nnz). Memory: bytes_needed(pattern, warps()).
    /// @param trial  of tests: warps are late before they begin and before they publish a column
    /// @throws InvalidOption for negative numbers in `tuning`; OutOfMemory
    LeftRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const LeftTuning& tuning = {},
                 const detail::KernelTrial& trial = {});

    /// L + U in place of the scattered inputs; only enqueued, allocates nothing, may be captured in a graph. A zero or
    /// non-finite pivot runs through as IEEE arithmetic has it, and later columns may be left as they were;
    /// GpuPivotMonitor names the same first bad column as CpuRefactor.
    /// @param val  pattern.entries()
    /// @throws InvalidInput when val is shorter
    void run(Gpu& gpu, DeviceSpan<S> val) override;

    Index       warps() const { return view_.warps; }
    Index       cluster_levels() const { return static_cast<Index>(cluster_ptr_.size()) - 1; }
    Index       pipeline_columns() const { return view_.pattern.n - cluster_ptr_.back(); }
    std::size_t bytes() const override
    {
        return arrays_.bytes() + done_.size() * sizeof(std::uint32_t) + work_.size() * sizeof(S);
    }
    /// On the device, besides the pattern: sizeof(S) n warps + 8 n, and what alignment adds.
    static std::size_t bytes_needed(const LuPattern& pattern, Index warps)
    {
        const auto            n = static_cast<std::size_t>(pattern.n);
        constexpr std::size_t alignment = 2 * 256;  // of `column` and the state
        return n * warps * sizeof(S) + n * (sizeof(Index) + sizeof(std::uint32_t)) + alignment;
    }
    /// That the device holds at once.
    static Index resident_warps(Gpu& gpu);

private:
    void enqueue(Gpu& gpu) const;

    std::shared_ptr<const GpuLuPattern> pattern_;
    std::vector<Index>                  cluster_ptr_;  ///< levels of cluster mode + 1; the pipeline begins at the last
    DeviceArrays                        arrays_;
    DeviceBuffer<std::uint32_t>         done_;
    DeviceBuffer<S>                     work_;
    LeftView<S>                         view_;
    std::shared_ptr<void>               graph_;  ///< null: few launches, or a stream that cannot be captured
};

}  // namespace ilux
