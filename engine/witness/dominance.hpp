#pragma once
// A proof that A is regular, by its diagonal.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/gpu/device_csr.hpp"

namespace ilux {

/// What counts as small in that proof.
struct DominanceLimits {
    double tied =
        1e-6;  ///< an entry of this share of those beside the diagonal leads from its row to that of its column
    double grounds = 1e-6;   ///< a row whose diagonal leads by this share holds all rows that lead to it
    double cancels = 1e-12;  ///< what a diagonal may lack: of the terms of a sum that is 0 but for rounding
};

/// Over rows: of |Σ_j a_ij| and of Σ_j |a_ij|.
struct RowTotals {
    double sum = 0, size = 0;

    double pinned() const { return size > 0 ? sum / size : 1; }
};

/// Every row is diagonally dominant, and leads by large entries to one that is so by a millionth: A is regular
/// [taussky_49].
template <Scalar S>
class Dominance {
public:
    /// @param A  square; must outlive this  @param leads_to  n, or none: of each row, as `look_at_constants` has it
    Dominance(Cpu& be, const CsrView<S>& A, std::span<Index> leads_to = {});

    const RowTotals& sums() const { return sums_; }
    bool             proves_regular();

private:
    bool look_at_row(Index i, Index first, RowTotals& sums);
    void spread_from(Index i);
    bool follow(Index i);
    bool follow(Index i, double tie, Index first, Index end);
    void ground(Index i, Index by);

    const CsrView<S>&         A_;
    std::vector<std::uint8_t> grounded_;
    std::span<Index>          leads_to_;
    std::vector<Index>        stack_;
    RowTotals                 sums_;
    bool                      dominant_ = false;
};

/// Repeats a proof for other numbers of the pattern on a GPU: each row leads where it led before.
template <Scalar S>
class GpuDominance {
public:
    /// @param leads_to  of a proof  @throws OutOfMemory
    GpuDominance(Gpu& gpu, std::span<const Index> leads_to);
    /// @return sums of rows where the proof holds; their bits are the same in every run. Waits. Cost: a pass over A,
    /// one launch
    std::optional<RowTotals> prove_regular(Gpu& gpu, const DeviceCsr<S>& A);

private:
    DeviceBuffer<Index>  leads_to_;
    DeviceBuffer<double> found_;
};

}  // namespace ilux
