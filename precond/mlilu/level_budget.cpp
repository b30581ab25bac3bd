#include "ilux/precond/mlilu/level_budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"

namespace ilux {
namespace {

template <class T>
constexpr double entry_bytes = sizeof(T) + sizeof(Index);
// Beside its entries a row stores: p, q, two scale factors; if accepted D⁻¹, pointers into L_B, U_B and `upper`, and
// for both solves its place in the level order, the work before it and, in the worst case, the end of a level of its
// own; if postponed a pointer into `lower`, and a row of the next level.
constexpr double both_bytes = 2 * sizeof(Index) + 2 * sizeof(double);
template <class T>
constexpr double accepted_bytes = both_bytes + sizeof(T) + 3 * sizeof(Offset) +
                                  2 * (sizeof(Index) + sizeof(Offset) + sizeof(Index));
template <class T>
constexpr double postponed_bytes = both_bytes + sizeof(Offset) + accepted_bytes<T>;
constexpr double level_bytes = 512;             // last row pointers and the like
constexpr double automatic_limit_factor = 40;   // limit = 0: so many times A,
constexpr double automatic_limit_least = 80e6;  // and at least so many bytes

}  // namespace

template <Scalar T>
LevelBudget<T>::LevelBudget(Index rows, std::size_t matrix_bytes, Bytes limit)
    : limit_(limit),
      n_(rows),
      left_(limit.value > 0 ? static_cast<double>(limit.value)
                            : std::max(automatic_limit_least + accepted_bytes<T> * rows,
                                       automatic_limit_factor * static_cast<double>(matrix_bytes)))
{
    static_assert(postponed_bytes<T> - accepted_bytes<T> <= postponed_cost * entry_bytes<T>);
    const double least = (accepted_bytes<T> + entry_bytes<T>)*rows;
    if (left_ < least) throw_out_of_memory(least);
}

template <Scalar T>
Offset LevelBudget<T>::entries_left(Index rows) const
{
    return entries_a_value_ * stored_left(rows);
}

template <Scalar T>
Offset LevelBudget<T>::stored_left(Index rows) const
{
    return static_cast<Offset>(std::max(0., (left_ - level_bytes - accepted_bytes<T> * rows) / entry_bytes<T>));
}

template <Scalar T>
Offset LevelBudget<T>::room(const CroutLevel<T>& crout) const
{
    const auto postponed = static_cast<Index>(crout.postponed.size());
    return entries_left(static_cast<Index>(crout.accepted.size()) + postponed) - postponed_cost * postponed;
}

template <Scalar T>
bool LevelBudget<T>::saved_fits(const CroutLevel<T>& crout, const LevelBlocks<T>& blocks) const
{
    return crout.L_B.nnz() + crout.U_B.nnz() + blocks.G.nnz() + blocks.F.nnz() <= room(crout);
}

template <Scalar T>
bool LevelBudget<T>::kept_fits(const CroutLevel<T>& crout) const
{
    return crout.L_B.nnz() + crout.U_B.nnz() + crout.L_G.nnz() + crout.U_F.nnz() <= room(crout);
}

template <Scalar T>
bool LevelBudget<T>::next_fits(const CsrView<T>& S) const
{
    return S.nnz() <= std::max<Offset>(S.rows(), stored_left(S.rows()));
}

template <Scalar T>
bool LevelBudget<T>::dense_fits(Index n) const
{
    return n <= DenseLevel<T>::largest && fits(DenseLevel<T>::bytes(n));
}

template <Scalar T>
void LevelBudget<T>::check(std::size_t bytes) const
{
    if (given() && bytes > limit_.value) throw_out_of_memory(static_cast<double>(bytes));
}

template <Scalar T>
void LevelBudget<T>::throw_out_of_memory(double least) const
{
    throw OutOfMemory(fmt::format(
        "memory_limit is {} bytes, which cannot hold even the sparsest factors of {} rows, about {:.0f} bytes",
        limit_.value, n_, least));
}

#define ILUX_INSTANTIATE(T) template class LevelBudget<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
