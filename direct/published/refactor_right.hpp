#pragma once
// Right-looking refactorization on a GPU: GLU 1.0 [he16] and GLU 3.0 [peng_tan_20].

#include <memory>

#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/published/published_refactor.hpp"

namespace ilux {

namespace detail {
struct RightPlan;
}  // namespace detail

/// The two published right-looking methods: GLU 1.0 and GLU 3.0.
enum class RightMethod { glu1, glu3 };

/// How a right-looking method is spread over a GPU.
struct RightTuning {
    RightMethod  method = RightMethod::glu3;
    Dependencies dependencies = Dependencies::exact;
    Index        capacity = 0;         ///< glu1: columns a level at most; 0: the blocks that fit on the device at once
    Index        stream_columns = 16;  ///< glu3: levels of at most so many columns run in stream mode
    bool         small_blocks = true, streams = true;  ///< glu3's modes, for the ablation; off: large blocks instead
    std::size_t  work_bytes = std::size_t{1} << 32;  ///< of the dense work vectors, one of n numbers a column in flight
};

/// How many levels run in each of glu3's modes; none for glu1, which has one.
struct RightModes {
    Index small_block = 0, large_block = 0, stream = 0;
};

/// Level by level: L(:,j) ← L(:,j) / u_jj, then for every u_jk ≠ 0 of row j the subcolumn (j+1 …, k) minus L(:,j) u_jk,
/// by atomic additions. As published, a subcolumn is walked from (j,k) to its end and a dense copy of L(:,j) says which
/// of its entries are meant; the others are not touched, so that NaN and Inf reach only what depends on them.
///
/// glu1: a block a column, a warp a subcolumn, levels of at most so many columns. glu3: levels of many columns take
/// small blocks, W / s warps a column (W: warps that fit on the device, s: columns); others blocks of 32 warps; of few
/// columns streams, a block a subcolumn.
///
/// Each sum is rounded in an order that varies, so the bits are not repeatable; |B − L U| ≤ γ_n |L||U| entrywise holds
/// in any order [higham_02, th. 9.3]. Of complex numbers the parts are added one by one. Serves one stream at a time.
template <Scalar S = double>
class RightRefactor final : public PublishedRefactor<S> {
public:
    /// @throws InvalidOption for a negative capacity or stream_columns
    RightRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const RightTuning& tuning = {});
    /// By a plan that the caller made (refactor_right_plan.hpp), right or wrong.
    RightRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, detail::RightPlan plan);
    ~RightRefactor() override;
    RightRefactor(RightRefactor&&) noexcept;
    RightRefactor& operator=(RightRefactor&&) noexcept;

    /// L + U in place of the scattered inputs; only enqueued. The launches are captured in a CUDA graph the first time,
    /// and once more whenever `val` lies elsewhere than last time; O(launches). On a stream that cannot be captured,
    /// and on one that is being captured, they are enqueued one by one. Whatever the values, it runs to its end.
    void run(Gpu& gpu, DeviceSpan<S> val) override;

    const LuLevels& levels() const;
    RightModes      modes() const;
    std::size_t     bytes() const override;  ///< on the device, without the pattern's

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ilux
