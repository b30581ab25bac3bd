#include "ilux/direct/supernodal/front_solve.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/supernodal/dense_columns.hpp"
#include "ilux/direct/supernodal/front_dense.hpp"

namespace ilux {
namespace {

using blas::Op;

/// Undoes exchange_rows.
template <class S>
void exchange_back(S* a, Index ld, Index columns, std::span<const Index> swap)
{
    for (Index v = 0; v < columns; ++v) {
        S* const column = a + static_cast<Offset>(v) * ld;
        for (auto i = static_cast<Index>(swap.size()); i-- > 0;)
            if (swap[i] != i) std::swap(column[i], column[swap[i]]);
    }
}

/// The passes over one block. y1: the pivots' part of y; w: what goes to the rows that a front updates.
template <Op op, class S>
class Passes {
public:
    Passes(Cpu& be, const LuFactors<S>& factors, Index rhs, S* y, S* scratch)
        : be_(be), F_(factors), plan_(*factors.fronts), tree_(plan_.tree), rhs_(rhs), y_(y), contribution_(scratch)
    {}

    void run()
    {
        const Index blocks = plan_.blocks();
        for (Index step = 0; step < blocks; ++step) {
            const Index block = op == Op::none ? blocks - 1 - step : step;
            if constexpr (op != Op::none) gather_F(block);
            const auto shared = std::ranges::lower_bound(plan_.passes, block, {}, &FrontPasses::block);
            const bool apart = be_.threads() > 1 && shared != plan_.passes.end() && shared->block == block;
            apart ? by_threads(*shared) : up_and_down(plan_.block_front[block], plan_.block_front[block + 1]);
            if constexpr (op == Op::none) scatter_F(block);
        }
    }

private:
    void up_and_down(Index first, Index last)
    {
        for (Index f = first; f < last; ++f) forward(f);
        for (Index f = last; f-- > first;) backward(f);
    }
    void by_threads(const FrontPasses& passes)
    {
        const auto fronts_of = [&](Index task) { return passes.fronts[task]; };
        const auto last = static_cast<Index>(passes.fronts.size()) - 1;
        (void)passes.forward.run(be_, be_.threads(), {}, [&](Index task, int) {
            for (Index f = fronts_of(task).first; f < fronts_of(task).second; ++f) forward(f);
        });
        (void)passes.backward.run(be_, be_.threads(), {}, [&](Index task, int) {
            for (Index f = fronts_of(last - task).second; f-- > fronts_of(last - task).first;) backward(f);
        });
    }

    struct Front {
        Index    m, k, u;
        Offset   first_row;
        const S *L, *U;
        S*       y1;
    };
    Front front(Index f) const
    {
        const Index m = tree_.size(f), k = tree_.pivots(f);
        const S*    L = F_.val.data() + plan_.val_ptr[f];
        return {m, k, m - k, tree_.row_ptr[f], L, L + static_cast<Offset>(m) * k, y_ + tree_.pivot_ptr[f]};
    }

    std::span<const Index> swap(Index f) const
    {
        return std::span(F_.swap).subspan(tree_.pivot_ptr[f], tree_.pivots(f));
    }

    void take_children(const Front& f, Index number)
    {
        S* const w = contribution_ + f.first_row * rhs_;
        std::fill(w, w + static_cast<Offset>(f.u) * rhs_, S(0));
        for (const Index c : tree_.children(number)) {
            const Offset begin = tree_.row_ptr[c], count = tree_.row_ptr[c + 1] - begin;
            const Index* place = plan_.place.data() + begin;
            const S*     from = contribution_ + begin * rhs_;
            for (Index v = 0; v < rhs_; ++v, from += count) {
                S* const y1 = f.y1 + static_cast<Offset>(v) * plan_.n;
                S* const rest = w + static_cast<Offset>(v) * f.u - f.k;
                for (Offset i = 0; i < count; ++i) (place[i] < f.k ? y1 : rest)[place[i]] += from[i];
            }
        }
    }

    void forward(Index number);
    void backward(Index number);

    /// F takes the numbers of a block to the blocks before.
    void scatter_F(Index block)
    {
        for (Index c = plan_.block_ptr[block]; c < plan_.block_ptr[block + 1]; ++c)
            for (Offset p = plan_.f_col_ptr[c]; p < plan_.f_col_ptr[c + 1]; ++p)
                for (Index v = 0; v < rhs_; ++v) {
                    S* const y = y_ + static_cast<Offset>(v) * plan_.n;
                    y[plan_.f_row[p]] = minus_product(y[plan_.f_row[p]], F_.f_val[p], y[c]);
                }
    }
    /// The other way round.
    void gather_F(Index block)
    {
        for (Index c = plan_.block_ptr[block]; c < plan_.block_ptr[block + 1]; ++c)
            for (Offset p = plan_.f_col_ptr[c]; p < plan_.f_col_ptr[c + 1]; ++p)
                for (Index v = 0; v < rhs_; ++v) {
                    S* const y = y_ + static_cast<Offset>(v) * plan_.n;
                    y[c] = minus_product(y[c], by_vectors::value_of<op>(F_.f_val[p]), y[plan_.f_row[p]]);
                }
    }

    Cpu&                be_;
    const LuFactors<S>& F_;
    const FrontPlan&    plan_;
    const FrontTree&    tree_;
    Index               rhs_;
    S *                 y_, *contribution_;  // of tree.row; backward: what was found for these rows
};

template <Op op, class S>
[[gnu::always_inline]] inline void forward_one(Index m, Index k, const S* L, const S* U, S* y1, S* w)
{
    if constexpr (op == Op::none) {
        by_vectors::solve_lower(k, L, m, y1);
        by_vectors::multiply_subtract(m - k, k, L + k, m, y1, w);
    } else {
        by_vectors::solve_upper_transposed<op>(k, L, m, y1);
        by_vectors::multiply_subtract_transposed<op>(k, m - k, U, k, y1, w);
    }
}
template <Op op, class S>
[[gnu::always_inline]] inline void backward_one(Index m, Index k, const S* L, const S* U, S* y1, const S* x)
{
    if constexpr (op == Op::none) {
        by_vectors::multiply_subtract(k, m - k, U, k, x, y1);
        by_vectors::solve_upper(k, L, m, y1);
    } else {
        by_vectors::multiply_subtract_transposed<op>(m - k, k, L + k, m, x, y1);
        by_vectors::solve_lower_transposed<op>(k, L, m, y1);
    }
}

template <Op op, class S>
void forward_portable(Index m, Index k, const S* L, const S* U, S* y1, S* w)
{
    forward_one<op>(m, k, L, U, y1, w);
}
template <Op op, class S>
ILUX_FMA void forward_fma(Index m, Index k, const S* L, const S* U, S* y1, S* w)
{
    forward_one<op>(m, k, L, U, y1, w);
}
template <Op op, class S>
void backward_portable(Index m, Index k, const S* L, const S* U, S* y1, const S* x)
{
    backward_one<op>(m, k, L, U, y1, x);
}
template <Op op, class S>
ILUX_FMA void backward_fma(Index m, Index k, const S* L, const S* U, S* y1, const S* x)
{
    backward_one<op>(m, k, L, U, y1, x);
}

template <Op op, class S>
void Passes<op, S>::forward(Index number)
{
    using namespace blas;
    const Front f = front(number);
    S* const    w = contribution_ + f.first_row * rhs_;
    take_children(f, number);
    if constexpr (op == Op::none) exchange_rows<S>(f.y1, plan_.n, rhs_, 0, f.k, swap(number));
    if (rhs_ == 1)
        return (processor_has_fma() ? forward_fma<op, S> : forward_portable<op, S>)(f.m, f.k, f.L, f.U, f.y1, w);
    if constexpr (op == Op::none) {
        solve_triangle(Triangle::lower, op, Diagonal::unit, f.k, rhs_, f.L, f.m, f.y1, plan_.n);
        multiply_subtract(op, f.u, rhs_, f.k, f.L + f.k, f.m, f.y1, plan_.n, w, f.u);
    } else {
        solve_triangle(Triangle::upper, op, Diagonal::stored, f.k, rhs_, f.L, f.m, f.y1, plan_.n);
        multiply_subtract(op, f.u, rhs_, f.k, f.U, f.k, f.y1, plan_.n, w, f.u);
    }
}

template <Op op, class S>
void Passes<op, S>::backward(Index number)
{
    using namespace blas;
    const Front  f = front(number);
    const Index* row = tree_.row.data() + f.first_row;
    S* const     x = contribution_ + f.first_row * rhs_;
    for (Index v = 0; v < rhs_; ++v)
        for (Index i = 0; i < f.u; ++i)
            x[i + static_cast<Offset>(v) * f.u] = y_[row[i] + static_cast<Offset>(v) * plan_.n];
    if (rhs_ == 1) (processor_has_fma() ? backward_fma<op, S> : backward_portable<op, S>)(f.m, f.k, f.L, f.U, f.y1, x);
    else if constexpr (op == Op::none) {
        multiply_subtract(op, f.k, rhs_, f.u, f.U, f.k, x, f.u, f.y1, plan_.n);
        solve_triangle(Triangle::upper, op, Diagonal::stored, f.k, rhs_, f.L, f.m, f.y1, plan_.n);
    } else {
        multiply_subtract(op, f.k, rhs_, f.u, f.L + f.k, f.m, x, f.u, f.y1, plan_.n);
        solve_triangle(Triangle::lower, op, Diagonal::unit, f.k, rhs_, f.L, f.m, f.y1, plan_.n);
    }
    if constexpr (op != Op::none) exchange_back<S>(f.y1, plan_.n, rhs_, swap(number));
}

}  // namespace

std::size_t front_solve_scratch(const FrontPlan& plan, Index rhs)
{
    return plan.tree.row.size() * static_cast<std::size_t>(rhs);
}

template <class S>
void front_solve(Cpu& be, const LuFactors<S>& factors, blas::Op op, Index rhs, S* y, S* scratch)
{
    const blas::OneThread single(be.threads());
    switch (op) {
        case Op::none:
            return Passes<Op::none, S>(be, factors, rhs, y, scratch).run();
        case Op::transposed:
            return Passes<Op::transposed, S>(be, factors, rhs, y, scratch).run();
        case Op::adjoint:
            return Passes<Op::adjoint, S>(be, factors, rhs, y, scratch).run();
    }
}

#define ILUX_INSTANTIATE(S) template void front_solve(Cpu&, const LuFactors<S>&, blas::Op, Index, S*, S*);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
