#pragma once
// The last columns of a diagonal block, which elimination has filled: as entries that wait for one another each would
// be a level of its own, as a small dense matrix one thread block factors them.

#include <cstddef>
#include <span>
#include <vector>

#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// Columns first … first + size − 1 of a pattern, the last ones of a diagonal block.
struct TailColumns {
    static constexpr Index most = 160;  ///< that a thread block's registers hold
    Index                  first = 0, size = 0;

    bool empty() const { return size == 0; }
};

/// Takes as many columns of the block that is deepest in levels of columns as save most time on an H200 by a model of
/// levels and of elimination steps; none where that is little. O(nnz)
TailColumns choose_dense_tail(const LuPattern& pattern);
/// @param levels  of the pattern, by DependencyRule::left
TailColumns choose_dense_tail(const LuPattern& pattern, const LuLevels& levels);

/// @throws InvalidInput unless `tail` is empty, or at most TailColumns::most columns at the end of a diagonal block
void require_tail(const LuPattern& pattern, TailColumns tail);

/// S = B_TT − L_T,: U_:,T, the tail's rows and columns T less all products with columns before them, lies in slots of a
/// DataflowProgram (factor_dataflow) and is replaced by its factors there.
struct DenseTail {
    Index                              size = 0;
    std::vector<DataflowProgram::Slot> slot;  ///< size², by columns; zero_slot where the pattern has no entry
};
/// @param slot_of  of the program that factor_dataflow made for `tail`
/// @throws InvalidInput as require_tail
DenseTail dense_tail(const LuPattern& pattern, TailColumns tail, std::span<const DataflowProgram::Slot> slot_of);

/// S = L U without pivoting: l_ik = s_ik / u_kk, s_ij ← fma(−l_ik, u_kj, s_ij), k ascending, over all size² entries.
/// Those that the pattern lacks start as 0 and, as the pattern is closed under fill, remain so until some entry is not
/// finite or a pivot is zero; they are not written. The bits of every other method: what tests trust. O(size³)
void run_tail_serial(const DenseTail& tail, std::span<double> v);

}  // namespace ilux
