#pragma once
// A refactorization, and the substitutions after it, as dot products (dataflow_program.hpp):
///   u_ik = b_ik − Σ_{j<i} l_ij u_jk,   l_ik = (b_ik − Σ_{j<k} l_ij u_jk) / u_kk,
///   y_i = b_i − Σ f_ij x_j − Σ l_ij y_j,   x_i = (y_i − Σ u_ij x_j) / u_ii.

#include "ilux/base/cpu.hpp"
#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// Entries: the nnz(L + U) of the pattern in its order, those of F, then input values beyond the first of an entry.
/// Inputs are the caller's values. An entry subtracts its products in the order in which they become known and, where
/// there are many, over several lanes and through partial sums. So the bits are refactor_serial's only where sums are
/// of one product, but the bound of elimination, which knows no order, is the same. O(multiply-adds), by the threads of
/// `be`; the same program, to the last byte, for any number of them. A GPU makes it by itself (gpu_factor_program.hpp).
/// @param tail  of these rows and columns entries subtract only products with columns before them, and are not divided:
///              dense_tail.hpp has the rest
/// @throws InvalidInput when 32 bits cannot count slots or inputs, and as require_tail
DataflowProgram factor_dataflow(const LuPattern& pattern, TailColumns tail = {}, Cpu be = Cpu());

/// Entries: y by rows of B, then x. Input is the right-hand side; a and divisors are factor entries, where `slot_of`
/// has them: those of L + U, then of F.
/// Entry n + i is component out_index of the result times its scale.
struct SolveDataflow {
    DataflowProgram           dataflow;
    std::vector<std::int32_t> out_index;  ///< slots; −1: not part of the result
    std::vector<double>       out_scale;  ///< slots
};
SolveDataflow        solve_dataflow(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                                    Transpose transpose);
inline SolveDataflow solve_dataflow(const LuPattern& pattern, const DataflowProgram& factor, Transpose transpose)
{
    return solve_dataflow(pattern, std::span<const DataflowProgram::Slot>(factor.slot_of), transpose);
}

}  // namespace ilux
