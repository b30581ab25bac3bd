#include "ilux/precond/crout/level_blocks.hpp"

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// Rows `rows` of A, restricted to the columns with position in [first, last), renumbered from 0.
template <class T>
CsrMatrix<T> block(const CsrView<T>& A, std::span<const Index> rows, std::span<const Index> position, Index first,
                   Index last)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;
    for (Index i : rows) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)  // stays sorted: positions ascend on either side
            if (const Index j = position[A.col()[p]]; j >= first && j < last) {
                col.push_back(j - first);
                val.push_back(A.val()[p]);
            }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<T>::from_sorted(static_cast<Index>(rows.size()), last - first, std::move(row_ptr), std::move(col),
                                     std::move(val));
}

}  // namespace

template <class T>
LevelBlocks<T> split_blocks(const CsrView<T>& A, std::span<const Index> accepted, std::span<const Index> postponed)
{
    const auto         nB = static_cast<Index>(accepted.size());
    std::vector<Index> position(A.rows());
    Index              next = 0;
    for (const auto rows : {accepted, postponed})
        for (Index i : rows) position[i] = next++;
    return {block(A, accepted, position, nB, A.rows()), block(A, postponed, position, 0, nB),
            block(A, postponed, position, nB, A.rows())};
}

#define ILUX_INSTANTIATE(T) \
    template LevelBlocks<T> split_blocks(const CsrView<T>&, std::span<const Index>, std::span<const Index>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
