#include "ilux/sptrsv/level_set.hpp"

#include <omp.h>

#include <algorithm>

#include "ilux/base/barrier.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/serial.hpp"

namespace ilux {
namespace {

/// level_i = 1 + max_j level_j over the rows j that row i reads; counted from 1. Returns the greatest.
template <class T>
Index assign_levels(const CsrView<T>& A, Triangle triangle, std::vector<Index>& level)
{
    const Index n = A.rows();
    Index       depth = 0;
    level.resize(n);
    for (Index s = 0; s < n; ++s) {
        const Index i = triangle == Triangle::lower ? s : n - 1 - s;
        Index       deepest = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i) deepest = std::max(deepest, level[A.col()[p]]);
        level[i] = deepest + 1;
        depth = std::max(depth, level[i]);
    }
    return depth;
}

template <Triangle triangle, int count, Values values, class T, class S>
void run_stages(Cpu& be, const CsrView<T>& A, const LevelSets& levels, Diagonal diagonal, const S* b, S* x)
{
    const Index*    order = levels.order().data();
    YieldingBarrier barrier;
#pragma omp parallel num_threads(be.team())
    {
        const int t = omp_get_thread_num(), parts = omp_get_num_threads();
        for (const LevelSets::Stage& stage : levels.stages()) {
            const Index begin = stage.shared ? levels.part(stage, t, parts) : stage.begin;
            const Index end = stage.shared ? levels.part(stage, t + 1, parts) : (t == 0 ? stage.end : stage.begin);
            for (Index s = begin; s < end; ++s)
                detail::substitute_row<triangle, count, values>(A, diagonal, order[s], b, x);
            barrier.wait(parts);
        }
    }
}

template <Triangle triangle, Values values, class T, class S>
void solve_blocks(Cpu& be, const CsrView<T>& A, const LevelSets& levels, Diagonal diagonal, std::span<const S> b,
                  std::span<S> x)
{
    const auto  n = static_cast<std::size_t>(A.rows());
    std::size_t at = 0;
    for (; at + 4 * n <= x.size(); at += 4 * n)
        run_stages<triangle, 4, values>(be, A, levels, diagonal, b.data() + at, x.data() + at);
    for (; at < x.size(); at += n)
        run_stages<triangle, 1, values>(be, A, levels, diagonal, b.data() + at, x.data() + at);
}

template <Values values, class T, class S>
void solve_either(Cpu& be, const CsrView<T>& A, const LevelSets& levels, Triangle triangle, Diagonal diagonal,
                  std::span<const S> b, std::span<S> x)
{
    if (triangle == Triangle::lower) solve_blocks<Triangle::lower, values>(be, A, levels, diagonal, b, x);
    else solve_blocks<Triangle::upper, values>(be, A, levels, diagonal, b, x);
}

}  // namespace

template <class T>
LevelSets::LevelSets(const CsrView<T>& A, Triangle triangle, Offset wide)
    : order_(A.rows()), work_(A.rows() + std::size_t{1})
{
    std::vector<Index> level;
    const Index        n = A.rows();
    level_ptr_.assign(assign_levels(A, triangle, level) + std::size_t{1}, 0);
    for (Index i = 0; i < n; ++i) ++level_ptr_[level[i]];
    for (std::size_t l = 1; l < level_ptr_.size(); ++l) level_ptr_[l] += level_ptr_[l - 1];
    std::vector<Index> next(level_ptr_.begin(), level_ptr_.end());
    for (Index i = 0; i < n; ++i) order_[next[level[i] - 1]++] = i;
    for (Index s = 0; s < n; ++s) work_[s + 1] = work_[s] + 1 + A.row_ptr()[order_[s] + 1] - A.row_ptr()[order_[s]];
    make_stages(wide);
}

template <class T, class S>
void solve_levels(Cpu& be, const CsrView<T>& A, const LevelSets& levels, Triangle triangle, Diagonal diagonal,
                  std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x, Values values)
{
    ILUX_ASSERT(b.size() == x.size() && levels.order().size() == static_cast<std::size_t>(A.rows()));
    if (be.threads() == 1 || !levels.worth_sharing() || A.rows() == 0)
        return solve_serial<T, S>(A, triangle, diagonal, b, x, values);
    if constexpr (is_complex<T>)
        if (values == Values::conjugated)
            return solve_either<Values::conjugated>(be, A, levels, triangle, diagonal, b, x);
    solve_either<Values::as_stored>(be, A, levels, triangle, diagonal, b, x);
}

template <class T>
Index dependency_depth(const CsrView<T>& A, Triangle triangle)
{
    std::vector<Index> level;
    return assign_levels(A, triangle, level);
}

#define ILUX_SOLVE(T, S)                                                                            \
    template void solve_levels<T, S>(Cpu&, const CsrView<T>&, const LevelSets&, Triangle, Diagonal, \
                                     std::span<const S>, std::span<S>, Values);
#define ILUX_INSTANTIATE(T)                                             \
    template LevelSets::LevelSets(const CsrView<T>&, Triangle, Offset); \
    template Index dependency_depth(const CsrView<T>&, Triangle);       \
    ILUX_SOLVE(T, working_of<T>)
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) ILUX_SOLVE(T, T)
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_SOLVE
#undef ILUX_INSTANTIATE

}  // namespace ilux
