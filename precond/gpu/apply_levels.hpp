#pragma once
// The levels of a factorization as one application of M meets them, and the forward systems made of them. Internal to
// precond/.

#include <memory>
#include <span>
#include <vector>

#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// A level as M⁻¹ meets it; as M⁻ᴴ does, with L_B ↔ U_Bᴴ, G ↔ Fᴴ, D conjugated, p ↔ q and their scales exchanged.
/// Refers to `level`; what one stored by half lacks is made.
template <Scalar S>
struct ApplyLevel {
    ApplyLevel(const MlIluLevel<S>& level, bool adjoint);

    Index                   n, nB;
    std::span<const Index>  p, q;
    std::span<const double> row_scale, col_scale;
    std::span<const S>      d_inv;
    const CsrMatrix<S>*     L;
    const CsrMatrix<S>*     U;
    const CsrMatrix<S>*     lower;
    const CsrMatrix<S>*     upper;

private:
    struct Made {  // what `level` does not hold
        CsrMatrix<S>   L, U, lower, upper;
        std::vector<S> d_inv;
    };
    std::shared_ptr<const Made> made_;
};

/// How what follows a level wants its input: x_i = scale[perm[i]] y[perm[i]] (a level that saves), or y as it is
/// (empty).
struct ApplyEntry {
    std::span<const Index>  perm;
    std::span<const double> scale;
};

/// @throws InvalidInput unless too_large, a count of values that are not finite once stored in value_bytes, is 0
void require_storable(Offset too_large, std::size_t value_bytes);

/// The forward part of a run of levels that keep: rows are those accepted on the run's first level, on its second, ...,
/// then the `rest` postponed on its last. Reads the run's input; writes D⁻¹ y_B, and behind it what the rest is to
/// solve.
template <class T>
ForwardSystem<T> keep_forward(Cpu& be, std::span<const ApplyLevel<working_of<T>>> run, Index rest, ApplyEntry entry);
/// The backward part: reads D⁻¹ y_B and, behind it, the solution of the rest; writes the run's output.
template <class T>
ForwardSystem<T> keep_backward(Cpu& be, std::span<const ApplyLevel<working_of<T>>> run, Index rest);

/// x_i = scale[perm[i]] r[perm[i]] as a system without entries.
template <class T>
ForwardSystem<T> gather_system(ApplyEntry entry);

/// The four systems of a level that saves G and F, whose input x = (x_B, x_C) is gathered already:
/// lower: (x_B, x_C) → (t, x_C), t = D⁻¹ L_B⁻¹ x_B;          upper_G: (t, x_C) → (y, U_B⁻¹ t), y = x_C − G U_B⁻¹ t;
/// F_lower: (x_B, w_C) → (w_C, t), t = D⁻¹ L_B⁻¹ (x_B − F w_C);   upper: (w_C, t) → output of the level.
template <class T>
ForwardSystem<T> save_lower(Cpu& be, const ApplyLevel<working_of<T>>& level);
template <class T>
ForwardSystem<T> save_upper_G(Cpu& be, const ApplyLevel<working_of<T>>& level, ApplyEntry entry);
template <class T>
ForwardSystem<T> save_F_lower(Cpu& be, const ApplyLevel<working_of<T>>& level);
template <class T>
ForwardSystem<T> save_upper(Cpu& be, const ApplyLevel<working_of<T>>& level);

}  // namespace ilux
