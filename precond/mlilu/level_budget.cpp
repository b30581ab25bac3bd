#include "ilux/precond/mlilu/level_budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"

namespace ilux {
namespace {

constexpr double entry_bytes = sizeof(double) + sizeof(Index);
// Beside its entries a row stores: p, q, two scale factors; if accepted D⁻¹, pointers into L_B, U_B and `upper`, and for
// both solves its place in the level order, the work before it and, in the worst case, the end of a level of its own;
// if postponed a pointer into `lower`, and a row of the next level.
constexpr double both_bytes = 2 * sizeof(Index) + 2 * sizeof(double);
constexpr double accepted_bytes =
    both_bytes + sizeof(double) + 3 * sizeof(Offset) + 2 * (sizeof(Index) + sizeof(Offset) + sizeof(Index));
constexpr double postponed_bytes = both_bytes + sizeof(Offset) + accepted_bytes;
static_assert(postponed_bytes - accepted_bytes <= LevelBudget::postponed_cost * entry_bytes);
constexpr double level_bytes = 512;             // last row pointers and the like
constexpr double automatic_limit_factor = 40;   // limit = 0: so many times A,
constexpr double automatic_limit_least = 80e6;  // and at least so many bytes

}  // namespace

LevelBudget::LevelBudget(const CsrView<double>& A, Bytes limit)
    : limit_(limit),
      n_(A.rows()),
      left_(limit.value > 0 ? static_cast<double>(limit.value)
                            : std::max(automatic_limit_least + accepted_bytes * A.rows(),
                                       automatic_limit_factor * static_cast<double>(A.bytes())))
{
    const double least = (accepted_bytes + entry_bytes) * A.rows();
    if (left_ < least) throw_out_of_memory(least);
}

Offset LevelBudget::entries_left(Index rows) const
{
    return static_cast<Offset>(std::max(0., (left_ - level_bytes - accepted_bytes * rows) / entry_bytes));
}

Offset LevelBudget::room(const CroutLevel& crout) const
{
    const auto postponed = static_cast<Index>(crout.postponed.size());
    return entries_left(static_cast<Index>(crout.accepted.size()) + postponed) - postponed_cost * postponed;
}

bool LevelBudget::saved_fits(const CroutLevel& crout, const LevelBlocks& blocks) const
{
    return crout.L_B.nnz() + crout.U_B.nnz() + blocks.G.nnz() + blocks.F.nnz() <= room(crout);
}

bool LevelBudget::kept_fits(const CroutLevel& crout) const
{
    return crout.L_B.nnz() + crout.U_B.nnz() + crout.L_G.nnz() + crout.U_F.nnz() <= room(crout);
}

bool LevelBudget::next_fits(const CsrView<double>& S) const
{
    return S.nnz() <= std::max<Offset>(S.rows(), entries_left(S.rows()));
}

bool LevelBudget::dense_fits(Index n) const { return n <= DenseLevel::largest && fits(DenseLevel::bytes(n)); }

void LevelBudget::check(std::size_t bytes) const
{
    if (given() && bytes > limit_.value) throw_out_of_memory(static_cast<double>(bytes));
}

void LevelBudget::throw_out_of_memory(double least) const
{
    throw OutOfMemory(fmt::format(
        "memory_limit is {} bytes, which cannot hold even the sparsest factors of {} rows, about {:.0f} bytes",
        limit_.value, n_, least));
}

}  // namespace ilux
