#include "ilux/precond/coarse/aggregates.hpp"

#include <utility>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse_steps/products.hpp"
#include "ilux/precond/coarse_steps/roots.hpp"

namespace ilux {
namespace {

constexpr double few_passes_left = 2;  // aggregates that are so near their size stay
constexpr double near = 6;             // aggregates that are to grow by less take neighbours alone

/// Σ |a_ij| over the unknowns of two groups.
template <Backend B>
Sparse<B, double> between(B& be, const Sparse<B, double>& F, const Groups<B>& groups)
{
    if (groups.alone()) return strong(be, F, 0);
    const Sparse<B, double> G = indicator(be, groups);
    return product<double>(be, adjoint(be, G), product<double>(be, F, G));
}

template <Backend B>
Ties<B> strong_ties(B& be, const Sparse<B, double>& F)
{
    Ties<B> ties{.there = strong(be, F, strong_tie), .back = {}};
    ties.back = adjoint(be, ties.there);
    return ties;
}

}  // namespace

template <Backend B, class T>
Groups<B> aggregates(B& be, const SparseView<B, T>& A, const Groups<B>& nodes, Index unknowns)
{
    Ties<B>   ties = strong_ties<B>(be, between<B>(be, magnitudes(be, A), nodes));
    Groups<B> last = around_roots(be, ties, 2, false), all = composed(be, nodes, last);
    while (all.count() > 1) {
        const double growth = static_cast<double>(unknowns) * all.count() / static_cast<double>(all.size());
        if (growth < few_passes_left) break;
        ties = strong_ties<B>(be, between<B>(be, ties.there, last));
        last = around_roots(be, ties, growth < near ? 1 : 2, true);
        if (last.count() == all.count()) break;
        all = composed(be, all, last);
    }
    return all;
}

#define ILUX_INSTANTIATE(B, T) \
    template Groups<B> aggregates<B, T>(B&, const SparseView<B, T>&, const Groups<B>&, Index);
ILUX_BACKENDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
