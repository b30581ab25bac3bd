#pragma once
// Sparse triangular systems on a GPU: analyse once, solve often, by one of several engines with one contract.

#include <cstddef>
#include <memory>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/sptrsv/gpu/renewed_system.hpp"

namespace ilux {

/// level_set: a launch per level, level_graph: the same as one CUDA graph, syncfree: one launch, rows in level order
/// that wait for one another through L2 [aliaga19], chunked: one launch, contiguous rows to a block, which wait for one
/// another through shared memory, cusparse: the vendor's SpSV.
enum class GpuSpTrsvEngine { automatic, chunked, syncfree, level_graph, level_set, cusparse };

constexpr auto names(GpuSpTrsvEngine)
{
    return words("auto", "chunked", "syncfree", "level_graph", "level_set", "cusparse");
}

/// What the report shows of a system.
struct SpTrsvFacts {
    Index n = 0, depth = 0;  ///< rows; levels (of engine chunked: with one more for each long row on the longest chain)
    Offset nnz = 0;          ///< off the diagonal
    Index  longest_row = 0;
};

/// Where the time of an analysis went. Engine chunked works on the device while values are uploaded, so `device` is
/// what was waited for besides; the other engines work on the host and tell nothing apart.
struct SpTrsvSeconds {
    double host = 0, upload = 0, device = 0;
    double total() const { return host + upload + device; }

    SpTrsvSeconds& operator+=(const SpTrsvSeconds& other)
    {
        host += other.host;
        upload += other.upload;
        device += other.device;
        return *this;
    }
};

/// What `automatic` takes: syncfree where levels are wide, chunked elsewhere (docs/design/sptrsv.md has the
/// measurements).
constexpr Offset          wide_level = 12000;  ///< entries a level, on average
constexpr GpuSpTrsvEngine choose_engine(const SpTrsvFacts& facts)
{
    return facts.nnz > wide_level * facts.depth ? GpuSpTrsvEngine::syncfree : GpuSpTrsvEngine::chunked;
}

/// A triangular system on a GPU, ready to be solved. Immutable but for refill(): serves several streams at once, each
/// with a workspace. Values are stored as T; sums and x are of S, double or complex. Bitwise repeatable with every
/// engine but cusparse.
template <class T = double>
class GpuSpTrsvPlan {
public:
    using S = working_of<T>;

    /// What one stream of solves writes. Serves the plan that made it, one call of solve at a time.
    class Workspace {
    public:
        Workspace() = default;
        std::size_t bytes() const { return memory_.size(); }  ///< on the device; without cuSPARSE's own
        Index       rhs() const { return rhs_; }              ///< that it has room for in one launch

    private:
        friend class GpuSpTrsvPlan;
        DeviceBuffer<std::byte> memory_;
        std::shared_ptr<void>   state_;             // of engines that need more than device memory
        const void*             engine_ = nullptr;  // the plan's that made it
        Index                   rhs_ = 1;
    };

    GpuSpTrsvPlan();  ///< of order 0
    /// @throws InvalidInput when an index of the frame is outside 0 .. length() − 1; OutOfMemory; DeviceError
    /// One upload and O(n + nnz) work: engine chunked on the device (on the host where that lacks the memory, or of 2³¹
    /// entries and more), the others on the host
    GpuSpTrsvPlan(Gpu& gpu, const ForwardSystem<T>& system, GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);
    /// A plan whose values refill() brings; takes 4 bytes more for every number it stores, and is no slower.
    /// @throws InvalidOption, besides, for engine cusparse; InvalidInput for what renewed_in_float refuses, where T is
    /// of floats
    GpuSpTrsvPlan(Gpu& gpu, const RenewedSystem& renewed, GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);
    ~GpuSpTrsvPlan();
    GpuSpTrsvPlan(GpuSpTrsvPlan&&) noexcept;
    GpuSpTrsvPlan& operator=(GpuSpTrsvPlan&&) noexcept;

    Index           size() const { return facts_.n; }
    Index           length() const { return length_; }  ///< of b and out, for one system
    SpTrsvFacts     facts() const { return facts_; }
    GpuSpTrsvEngine engine() const { return engine_; }                     ///< never `automatic`
    std::size_t     bytes() const;                                         ///< on the device
    double          analysis_seconds() const { return seconds_.total(); }  ///< levels, layout, upload
    SpTrsvSeconds   seconds() const { return seconds_; }

    /// New values for all solves asked of this Gpu from now on; the caller keeps those of other streams apart. One pass
    /// over what the plan stores: only enqueued, allocates nothing, may be captured in a graph. A zero d_i becomes Inf,
    /// a complex one NaN.
    /// @param values  on the device, stored as T too: the array whose positions the RenewedSystem has
    /// @throws InvalidInput when the plan was not made of one
    void refill(Gpu& gpu, const T* values);

    /// The only allocation a solve needs; cuSPARSE analyses here, for each.
    /// @param rhs  right-hand sides that engines chunked and syncfree solve in one launch, each with memory of its own;
    /// the
    ///             others, and what is beyond, take a launch each. @throws InvalidInput when it is not 1 to most_rhs
    Workspace              workspace(Gpu& gpu, Index rhs = 1) const;
    static constexpr Index most_rhs = 65535;  // rows of a grid

    /// out ← the solution of the system for b, as its frame says; b and out do not overlap. Lengths k·length() solve k
    /// systems, a vector after another, as many in a launch as `ws` has room for, each with the bits it has alone. Only
    /// enqueued: nothing is allocated and the host does not wait, so a CUDA graph may capture it. Costs 2 nnz flops a
    /// right-hand side. A zero pivot yields Inf or NaN, and NaN spreads as it should.
    /// @throws InvalidInput when the lengths are unequal or no multiple of length(), the workspace is another plan's,
    /// or values were never filled in
    void solve(Gpu& be, DeviceSpan<const S> b, DeviceSpan<S> out, Workspace& ws) const;

private:
    struct Engine;

    void make(Gpu& gpu, const ForwardSystem<T>& system, GpuSpTrsvEngine engine);

    SpTrsvFacts             facts_;
    Index                   length_ = 0;
    GpuSpTrsvEngine         engine_ = GpuSpTrsvEngine::chunked;
    SpTrsvSeconds           seconds_;
    std::unique_ptr<Engine> impl_;
};

/// x ← A⁻¹ b, or A⁻ᵀ b, for a triangular A: the forward system above for callers that hold a triangle.
/// @throws InvalidInput as SpTrsvPlan does
template <class T>
GpuSpTrsvPlan<T> gpu_sptrsv(Gpu& gpu, const CsrView<working_of<T>>& A, Triangle triangle, Diagonal diagonal,
                            bool transposed = false, GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic);

}  // namespace ilux
