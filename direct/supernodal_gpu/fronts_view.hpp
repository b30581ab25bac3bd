#pragma once
// Fronts as kernels get them.

#include <cstdint>

#include "ilux/base/gpu/value.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// One front as kernels get it.
struct DeviceFront {
    Offset val = 0, rest = 0;        ///< where its numbers begin, and what it leaves
    Offset row = 0, input = 0;       ///< of FrontTree::row; of the inputs
    Index  first = 0, k = 0, m = 0;  ///< its first pivot; pivots; rows
    Index  inputs = 0;
    Index  child_begin = 0, child_end = 0;
    Index  slot = -1;     ///< among large fronts
    Offset inverse = -1;  ///< where its inverted diagonal blocks begin; −1: none
};

/// Magnitudes are compared by their bits, which order numbers below Inf and that below NaN.
using Magnitude = unsigned long long;

/// Rows that a panel of a large front moved: the pivot that came to its i-th row was in row from[i], and what had been
/// there went to row to[i], if that is beyond the panel (else −1). Counted within the front.
template <int width>
struct PanelMoves {
    Index from[width], to[width];
};

template <class V>
constexpr int panel_width = is_complex<V> ? 16 : 32;

/// V: Value of the scalar.
template <class V>
struct FrontsView {
    const DeviceFront*          front = nullptr;
    const Index*                child = nullptr;
    const Index*                place = nullptr;     ///< FrontPlan::place
    const Index*                row = nullptr;       ///< FrontTree::row
    const std::uint32_t*        input_at = nullptr;  ///< row + 2¹⁶ column, within the front
    const V*                    input = nullptr;     ///< scaled, duplicates added
    V *                         val = nullptr, *rest = nullptr;
    Index *                     swap = nullptr, *perm = nullptr;  ///< n; perm: row of the front that pivot k was in
    double*                     pivot = nullptr;                  ///< n; |u_kk|, negative where it was replaced
    Magnitude *                 bmax = nullptr, *umax = nullptr, *lmax = nullptr;  ///< n; of columns
    PanelMoves<panel_width<V>>* moves = nullptr;                                   ///< by slot
    V* inverse = nullptr;  ///< of diagonal blocks of solve_block pivots, by columns: U⁻¹, and below the diagonal L⁻¹
};

}  // namespace ilux
