#include "ilux/sptrsv/level_set.hpp"

#include <omp.h>

#include <algorithm>

#include "ilux/base/barrier.hpp"
#include "ilux/base/error.hpp"
#include "ilux/sptrsv/serial.hpp"

namespace ilux {
namespace {

/// level_i = 1 + max_j level_j over the rows j that row i reads; counted from 1. Returns the greatest.
template <class T>
Index assign_levels(const CsrMatrix<T>& A, Triangle triangle, std::vector<Index>& level)
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

template <Triangle triangle, int count, class T>
void run_stages(Cpu& be, const CsrMatrix<T>& A, const LevelSets& levels, Diagonal diagonal, const double* b, double* x)
{
    const Index*    order = levels.order().data();
    YieldingBarrier barrier;
#pragma omp parallel num_threads(be.team())
    {
        const int t = omp_get_thread_num(), parts = omp_get_num_threads();
        for (const LevelSets::Stage& stage : levels.stages()) {
            const Index begin = stage.shared ? levels.part(stage, t, parts) : stage.begin;
            const Index end = stage.shared ? levels.part(stage, t + 1, parts) : (t == 0 ? stage.end : stage.begin);
            for (Index s = begin; s < end; ++s) detail::substitute_row<triangle, count>(A, diagonal, order[s], b, x);
            barrier.wait(parts);
        }
    }
}

template <Triangle triangle, class T>
void solve_blocks(Cpu& be, const CsrMatrix<T>& A, const LevelSets& levels, Diagonal diagonal, std::span<const double> b,
                  std::span<double> x)
{
    const auto  n = static_cast<std::size_t>(A.rows());
    std::size_t at = 0;
    for (; at + 4 * n <= x.size(); at += 4 * n)
        run_stages<triangle, 4>(be, A, levels, diagonal, b.data() + at, x.data() + at);
    for (; at < x.size(); at += n) run_stages<triangle, 1>(be, A, levels, diagonal, b.data() + at, x.data() + at);
}

}  // namespace

template <class T>
LevelSets::LevelSets(const CsrMatrix<T>& A, Triangle triangle, Offset wide)
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

void LevelSets::make_stages(Offset wide)
{
    Offset shared = 0;
    for (Index l = 0; l < depth(); ++l) {
        const Index  begin = level_ptr_[l], end = level_ptr_[l + 1];
        const Offset work = work_[end] - work_[begin];
        const bool   shared_level = work >= wide;
        if (shared_level) shared += work;
        if (!shared_level && !stages_.empty() && !stages_.back().shared) stages_.back().end = end;
        else stages_.push_back({begin, end, shared_level});
    }
    worth_sharing_ = shared >= work_.back() / 4;  // else the thin part bounds the gain below 4/3
}

Index LevelSets::part(const Stage& stage, int t, int parts) const
{
    if (t >= parts) return stage.end;
    const Offset first = work_[stage.begin], all = work_[stage.end] - first;
    const auto   at = std::lower_bound(work_.begin() + stage.begin, work_.begin() + stage.end, first + all * t / parts);
    return static_cast<Index>(at - work_.begin());
}

std::size_t LevelSets::bytes() const
{
    return (order_.size() + level_ptr_.size()) * sizeof(Index) + work_.size() * sizeof(Offset) +
           stages_.size() * sizeof(Stage);
}

template <class T>
void solve_levels(Cpu& be, const CsrMatrix<T>& A, const LevelSets& levels, Triangle triangle, Diagonal diagonal,
                  std::span<const double> b, std::span<double> x)
{
    ILUX_ASSERT(b.size() == x.size() && levels.order().size() == static_cast<std::size_t>(A.rows()));
    if (be.threads() == 1 || !levels.worth_sharing() || A.rows() == 0) return solve_serial(A, triangle, diagonal, b, x);
    if (triangle == Triangle::lower) solve_blocks<Triangle::lower>(be, A, levels, diagonal, b, x);
    else solve_blocks<Triangle::upper>(be, A, levels, diagonal, b, x);
}

template <class T>
Index dependency_depth(const CsrMatrix<T>& A, Triangle triangle)
{
    std::vector<Index> level;
    return assign_levels(A, triangle, level);
}

template LevelSets::LevelSets(const CsrMatrix<double>&, Triangle, Offset);
template LevelSets::LevelSets(const CsrMatrix<float>&, Triangle, Offset);
template void solve_levels(Cpu&, const CsrMatrix<double>&, const LevelSets&, Triangle, Diagonal,
                           std::span<const double>, std::span<double>);
template void solve_levels(Cpu&, const CsrMatrix<float>&, const LevelSets&, Triangle, Diagonal, std::span<const double>,
                           std::span<double>);
template Index dependency_depth(const CsrMatrix<double>&, Triangle);
template Index dependency_depth(const CsrMatrix<float>&, Triangle);

}  // namespace ilux
