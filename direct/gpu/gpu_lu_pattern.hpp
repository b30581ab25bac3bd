#pragma once
// The pattern of L + U on a GPU, and where the caller's values go.

#include <cstddef>
#include <cstdint>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// What kernels get. Entries are those of LuPattern in its order: L + U by columns, then, from nnz on, F.
struct LuPatternView {
    Index               n = 0;
    Offset              nnz = 0, nnz_F = 0;
    const Offset*       col_ptr = nullptr;  ///< n + 1
    const Index*        row = nullptr;      ///< nnz
    const Offset*       diag = nullptr;     ///< n
    const std::int32_t* source = nullptr;   ///< nnz + nnz_F; position of an entry's first input; −1: none
    const double*       scale = nullptr;    ///< nnz + nnz_F; of that input

    // Further inputs of entries that have several, added in this order.
    Index               repeated = 0;              ///< entries with further inputs
    const Offset*       repeated_entry = nullptr;  ///< repeated
    const Offset*       repeated_ptr = nullptr;    ///< repeated + 1
    const std::int32_t* repeated_source = nullptr;
    const double*       repeated_scale = nullptr;
};

/// Immutable: serves several streams at once.
class GpuLuPattern {
public:
    /// @throws InvalidInput when 32 bits cannot count the caller's values
    GpuLuPattern(Gpu& gpu, std::shared_ptr<const LuPattern> pattern);
    /// @param inputs  of that pattern
    GpuLuPattern(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const EntryInputs& inputs);

    const LuPattern&                        host() const { return *host_; }
    const std::shared_ptr<const LuPattern>& shared_host() const { return host_; }
    const LuPatternView&                    view() const { return view_; }
    std::size_t entries() const { return static_cast<std::size_t>(view_.nnz + view_.nnz_F); }
    std::size_t bytes() const { return arrays_.bytes(); }

    /// val ← the scaled inputs of each entry, 0 where there are none; only enqueued. The bits are refactor_serial's.
    /// @param values  of the caller, on the device  @param val  entries()
    template <Scalar S = double>
    void scatter(Gpu& gpu, const NotDeduced<S>* values, DeviceSpan<NotDeduced<S>> val) const;

private:
    std::shared_ptr<const LuPattern> host_;
    DeviceArrays                     arrays_;
    LuPatternView                    view_;
};

}  // namespace ilux
