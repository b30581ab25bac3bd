#pragma once
// The memory limit while levels are built: what is left of it, and what fits into that.

#include "ilux/base/fields.hpp"
#include "ilux/precond/crout/crout_ilu.hpp"
#include "ilux/precond/crout/level_blocks.hpp"

namespace ilux {

/// Bytes left for the levels still to come. Every array of a level counts, the host's plans of its L_B and U_B
/// included.
template <Scalar T = double>
class LevelBudget {
public:
    /// @param limit  0: 40 times A, and at least 80 MB beside what the rows take
    /// @throws OutOfMemory when the limit cannot hold even the sparsest factors of A
    LevelBudget(const CsrView<T>& A, Bytes limit) : LevelBudget(A.rows(), A.bytes(), limit) {}
    LevelBudget(Index rows, std::size_t matrix_bytes, Bytes limit);

    static constexpr Offset postponed_cost = 3;  ///< entries that a postponed row takes up beside its own

    bool given() const { return limit_.value > 0; }  ///< by the user; else it is the automatic one
    /// Entries of L and U, F and G for which there is room in a level that accepts so many rows.
    Offset entries_left(Index rows) const;
    bool   saved_fits(const CroutLevel<T>& crout, const LevelBlocks<T>& blocks) const;  ///< a level with G and F
    bool   kept_fits(const CroutLevel<T>& crout) const;                                 ///< a level with L_G and U_F
    bool   next_fits(const CsrView<T>& S) const;                                        ///< S, or a diagonal at least
    bool   fits(std::size_t bytes) const { return static_cast<double>(bytes) <= left_; }
    bool   dense_fits(Index n) const;  ///< a last level of order n solved densely

    /// Whether levels to come store one entry for two.
    void halve(bool yes) { entries_a_value_ = yes ? 2 : 1; }
    void take(std::size_t bytes) { left_ -= static_cast<double>(bytes); }
    /// @throws OutOfMemory when `bytes` in all pass the limit given
    void check(std::size_t bytes) const;

private:
    Offset            stored_left(Index rows) const;
    Offset            room(const CroutLevel<T>& crout) const;
    [[noreturn]] void throw_out_of_memory(double least) const;

    Offset entries_a_value_ = 1;
    Bytes  limit_;
    Index  n_;
    double left_;
};

}  // namespace ilux
