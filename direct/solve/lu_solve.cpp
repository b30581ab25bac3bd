#include "ilux/direct/solve/lu_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/solve/lu_solve_fronts.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {
namespace {

// Right-hand sides are solved `width` at a time, interleaved as y[k·width + c]: an entry read once serves all of them.
constexpr std::array<Offset, 3> widths{1, 4, 8};
constexpr std::array<double, 3> pass_cost{1, 1.6, 2.6};  // one pass, relative; circuits, Xeon of 2023, AVX2
constexpr double min_parallel = 2e5;  // entries × right-hand sides: below, forking costs more than it saves
constexpr Offset long_sum = 8;
template <class S>
constexpr std::size_t line = 64 / sizeof(S);  // no interleaved row may straddle more cache lines than it must

/// The entries of one column, or of a part of it.
template <class S>
struct Entries {
    const Index* row;
    const S*     val;
    Offset       count;
};

template <class S>
Entries<S> F_of(const LuFactors<S>& f, Index k)
{
    const Offset begin = f.pattern->f_col_ptr[k];
    return {f.pattern->f_row.data() + begin, f.f_val.data() + begin, f.pattern->f_col_ptr[k + 1] - begin};
}
template <class S>
Entries<S> upper(const LuFactors<S>& f, Index k)
{
    const Offset begin = f.pattern->col_ptr[k];
    return {f.pattern->row.data() + begin, f.val.data() + begin, f.pattern->diag[k] - begin};
}
template <class S>
Entries<S> lower(const LuFactors<S>& f, Index k)
{
    const Offset begin = f.pattern->diag[k] + 1;
    return {f.pattern->row.data() + begin, f.val.data() + begin, f.pattern->col_ptr[k + 1] - begin};
}

// What follows is inlined into the functions that are compiled for each kind of processor.
#define ILUX_INLINE [[gnu::always_inline]] inline

/// to ← to − a x
template <Offset width, class S>
ILUX_INLINE void subtract(S a, const S* x, S* to)
{
#pragma omp simd
    for (Offset c = 0; c < width; ++c) to[c] = minus_product(to[c], a, x[c]);
}

template <Offset width, class S>
ILUX_INLINE void divide(S* x, S pivot)
{
    const DividedBy<S> by_pivot(pivot);
#pragma omp simd
    for (Offset c = 0; c < width; ++c) x[c] = by_pivot(x[c]);
}

/// Re and Im of a complex number side by side.
using Lanes = double __attribute__((vector_size(16)));

/// A number lies on 8 bytes, Lanes on 16: so it is copied, which is one unaligned move.
ILUX_INLINE Lanes lanes_of(const std::complex<double>& z)
{
    Lanes lanes;
    std::memcpy(&lanes, &z, sizeof lanes);
    return lanes;
}

ILUX_INLINE Lanes fma_of(Lanes a, Lanes b, Lanes c)
{
    return Lanes{std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1])};
}

/// y_row(p) ← minus_product(y_row(p), a_p, x), written so that g++ makes two instructions of the four fma.
ILUX_INLINE void scatter_lanes(Entries<std::complex<double>> a, const std::complex<double>* x, std::complex<double>* y)
{
    const Lanes x_k = lanes_of(*x);
    const Lanes by_re = -x_k, by_im = Lanes{x_k[1], x_k[0]} * Lanes{1, -1};
    for (Offset p = 0; p < a.count; ++p) {
        const double re = a.val[p].real(), im = a.val[p].imag();
        auto&        to = y[a.row[p]];
        const Lanes  sum = fma_of(Lanes{re, re}, by_re, fma_of(Lanes{im, im}, by_im, lanes_of(to)));
        std::memcpy(static_cast<void*>(&to), &sum, sizeof sum);
    }
}

/// y_row(p) ← y_row(p) − a_p x
template <Offset width, class S>
ILUX_INLINE void scatter(Entries<S> a, const S* x, S* y)
{
    if constexpr (width == 1 && is_complex<S>) return scatter_lanes(a, x, y);
    for (Offset p = 0; p < a.count; ++p) subtract<width>(a.val[p], x, y + a.row[p] * width);
}

/// sum ← sum − Σ_p a_p y_row(p); a long one in four parts, since each subtraction waits for the one before.
template <Offset width, Values values, class S>
ILUX_INLINE void gather(Entries<S> a, const S* y, S* sum)
{
    const auto take = [&](Offset p, S * to) __attribute__((always_inline))
    {
        subtract<width>(detail::value_of<values, S>(a.val[p]), y + a.row[p] * width, to);
    };
    Offset p = 0;
    if (a.count >= long_sum) {
        S part1[width] = {}, part2[width] = {}, part3[width] = {};
        for (; p + 4 <= a.count; p += 4) {
            take(p, sum);
            take(p + 1, part1);
            take(p + 2, part2);
            take(p + 3, part3);
        }
#pragma omp simd
        for (Offset c = 0; c < width; ++c) sum[c] = (sum[c] + part1[c]) + (part2[c] + part3[c]);
    }
    for (; p < a.count; ++p) take(p, sum);
}

/// Row k of y while it is worked on. One number stays in a register; several stay in y, since g++ cuts local arrays
/// into vectors of changing size, and each change stalls.
template <Offset width, class S>
class Row {
public:
    ILUX_INLINE      Row(S* y, Index k) : y_(y + k * width), x_(*y_) {}
    ILUX_INLINE S*   numbers() { return width == 1 ? &x_ : y_; }
    ILUX_INLINE void store()
    {
        if (width == 1) *y_ = x_;
    }

private:
    S* y_;
    S  x_;
};

/// y ← B⁻¹ y: for each block from the last, y ← L⁻¹ y, y ← U⁻¹ y, and F takes it to the blocks before.
template <Offset width, class S>
ILUX_INLINE void solve_blocks(const LuFactors<S>& f, S* y)
{
    const LuPattern& P = *f.pattern;
    for (Index block = P.blocks(); block-- > 0;) {
        const Index begin = P.block_ptr[block], end = P.block_ptr[block + 1];
        const bool  has_F = P.f_col_ptr[begin] < P.f_col_ptr[end];
        if (end - begin > 1)
            for (Index k = begin; k < end; ++k) scatter<width>(lower(f, k), Row<width, S>(y, k).numbers(), y);
        for (Index k = end; k-- > begin;) {
            Row<width, S> x(y, k);
            divide<width>(x.numbers(), f.val[P.diag[k]]);
            x.store();
            scatter<width>(upper(f, k), x.numbers(), y);
            if (has_F) scatter<width>(F_of(f, k), x.numbers(), y);
        }
    }
}

/// y ← B⁻ᵀ y, or B⁻ᴴ y with values conjugated: for each block from the first, y ← y − Fᵀ y, y ← U⁻ᵀ y, y ← L⁻ᵀ y.
template <Offset width, Values values, class S>
ILUX_INLINE void solve_blocks_transposed(const LuFactors<S>& f, S* y)
{
    const LuPattern& P = *f.pattern;
    for (Index block = 0; block < P.blocks(); ++block) {
        const Index begin = P.block_ptr[block], end = P.block_ptr[block + 1];
        const bool  has_F = P.f_col_ptr[begin] < P.f_col_ptr[end];
        for (Index k = begin; k < end; ++k) {
            Row<width, S> x(y, k);
            if (has_F) gather<width, values>(F_of(f, k), y, x.numbers());
            gather<width, values>(upper(f, k), y, x.numbers());
            divide<width>(x.numbers(), detail::value_of<values, S>(f.val[P.diag[k]]));
            x.store();
        }
        if (end - begin == 1) continue;
        for (Index k = end; k-- > begin;) {
            Row<width, S> x(y, k);
            gather<width, values>(lower(f, k), y, x.numbers());
            x.store();
        }
    }
}

/// A permutation, perm[new] = old, with the scaling of what it moves.
struct Side {
    const std::vector<Index>&  perm;
    const std::vector<double>& scale;  // by old number; empty: ones

    double factor(Index i) const { return scale.empty() ? 1 : scale[i]; }
};

/// Up to `width` right-hand sides, one after the other in b and x. Where there are fewer, the last fills the spare
/// lanes.
template <class S>
struct Group {
    const S* b;
    S*       x;
    S*       y;  ///< n·width
    Offset   count;

    Offset vector(Offset lane) const { return std::min(lane, count - 1); }
};

template <Offset width, class S>
ILUX_INLINE void solve_group(const LuFactors<S>& f, Transpose transpose, const Group<S>& group)
{
    const LuPattern& P = *f.pattern;
    const Side       rows{P.row_perm, P.row_scale}, columns{P.col_perm, P.col_scale};
    const Side&      from = transpose == Transpose::no ? rows : columns;
    const Side&      to = transpose == Transpose::no ? columns : rows;
    const S*         b[width];
    S*               x[width];
    for (Offset c = 0; c < width; ++c) b[c] = group.b + group.vector(c) * P.n, x[c] = group.x + group.vector(c) * P.n;

    for (Offset k = 0; k < P.n; ++k) {
        const Index  i = from.perm[k];
        const double s = from.factor(i);
        for (Offset c = 0; c < width; ++c) group.y[k * width + c] = s * b[c][i];
    }
    if (transpose == Transpose::no) solve_blocks<width>(f, group.y);
    else if (!is_complex<S> || transpose == Transpose::yes)
        solve_blocks_transposed<width, Values::as_stored>(f, group.y);
    else if constexpr (is_complex<S>) solve_blocks_transposed<width, Values::conjugated>(f, group.y);
    for (Offset k = 0; k < P.n; ++k) {
        const Index  j = to.perm[k];
        const double s = to.factor(j);
        for (Offset c = 0; c < width; ++c) x[c][j] = s * group.y[k * width + c];
    }
}

template <class S>
using Solve = void (*)(const LuFactors<S>&, Transpose, const Group<S>&);

template <Offset width, class S>
void solve_portable(const LuFactors<S>& f, Transpose transpose, const Group<S>& group)
{
    solve_group<width>(f, transpose, group);
}
// Aligned, since where the linker puts such short loops makes a tenth of the time.
template <Offset width, class S>
ILUX_FMA [[gnu::aligned(64)]] void solve_fma(const LuFactors<S>& f, Transpose transpose, const Group<S>& group)
{
    solve_group<width>(f, transpose, group);
}

/// The function for widths[w] on this processor. AVX-512 was measured too: a gain only beyond 10⁶ entries, and small.
template <class S>
Solve<S> solve_for(std::size_t w)
{
    if (processor_has_fma()) return std::array<Solve<S>, 3>{solve_fma<1, S>, solve_fma<4, S>, solve_fma<8, S>}[w];
    return std::array<Solve<S>, 3>{solve_portable<1, S>, solve_portable<4, S>, solve_portable<8, S>}[w];
}

std::size_t narrowest_for(Offset rhs) { return rhs <= 1 ? 0 : rhs <= widths[1] ? 1 : 2; }

Index padded(Index rhs)
{
    const Offset width = widths[narrowest_for(rhs)];
    return static_cast<Index>((std::max<Offset>(rhs, 1) + width - 1) / width * width);
}

/// Chooses the width that takes `threads` threads the least time, among those that the workspace has room for.
Offset choose_width(Offset rhs, Offset capacity, int threads)
{
    Offset best = 1;
    double best_cost = std::numeric_limits<double>::infinity();
    for (std::size_t w = 0; w < widths.size() && widths[w] <= capacity; ++w) {
        const Offset passes = (rhs + widths[w] - 1) / widths[w];
        const Offset rounds = (passes + threads - 1) / threads;
        const double cost = static_cast<double>(rounds) * pass_cost[w];
        if (cost < best_cost) best = widths[w], best_cost = cost;
    }
    return best;
}

/// The first address in y where a cache line begins: an interleaved row must not straddle more than it must.
template <class S>
S* aligned(std::vector<S>& y)
{
    const auto past = reinterpret_cast<std::uintptr_t>(y.data()) / sizeof(S) % line<S>;
    return y.data() + (past == 0 ? 0 : line<S> - past);
}

template <class S>
void require_suitable(const LuFactors<S>& factors, std::span<const NotDeduced<S>> b, std::span<const NotDeduced<S>> x,
                      const LuWorkspace<S>& ws)
{
    const std::size_t n = factors.pattern->n;
    require(b.size() == x.size() && (n == 0 ? b.empty() : b.size() % n == 0), [&] {
        return fmt::format("right-hand sides of {} and solutions of {} numbers; expected the same multiple of n = {}",
                           b.size(), x.size(), n);
    });
    require(factors.monitor.bad_column < 0, [&] {
        return fmt::format("the factors have a bad pivot in column {}, so they cannot solve",
                           factors.monitor.bad_column);
    });
    require(ws.r.size() >= n,
            [&] { return fmt::format("a workspace for n = {}, but factors of n = {}", ws.r.size(), n); });
}

}  // namespace

template <class S>
LuWorkspace<S>::LuWorkspace(Index n, Index rhs) : r(n), d(n), lost(n), rhs_(padded(rhs))
{
    y.resize(static_cast<std::size_t>(n) * rhs_ + (rhs_ > 1 ? line<S> - 1 : 0));
}

template <class S>
void lu_solve(Cpu& be, const LuFactors<S>& factors, std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
              LuWorkspace<NotDeduced<S>>& ws, Transpose transpose)
{
    require_suitable<S>(factors, b, x, ws);
    const LuPattern& P = *factors.pattern;
    if (P.n == 0) return;
    if (factors.fronts) return detail::lu_solve_fronts<S>(be, factors, b, x, ws, transpose);
    const Offset n = P.n, rhs = b.size() / n;
    const bool   parallel = be.threads() > 1 && static_cast<double>(P.nnz() + P.nnz_F()) * rhs >= min_parallel;
    const Offset width = choose_width(rhs, ws.rhs(), parallel ? be.threads() : 1);
    const Offset at_once = ws.rhs() / width * width;
    S*           ys = ws.rhs() > 1 ? aligned(ws.y) : ws.y.data();

    const auto solve = [&](Offset c, Offset last, S* y) {
        const Offset count = std::min(width, last - c);
        solve_for<S>(narrowest_for(count))(factors, transpose, {b.data() + c * n, x.data() + c * n, y, count});
    };
    for (Offset first = 0; first < rhs; first += at_once) {
        const Offset last = std::min(first + at_once, rhs);
        if (parallel && last - first > width) {
#pragma omp parallel for schedule(dynamic) num_threads(be.team())
            for (Offset c = first; c < last; c += width) solve(c, last, ys + (c - first) * n);
        } else
            for (Offset c = first; c < last; c += width) solve(c, last, ys);
    }
}

#define ILUX_INSTANTIATE(S)        \
    template class LuWorkspace<S>; \
    template void lu_solve(Cpu&, const LuFactors<S>&, std::span<const S>, std::span<S>, LuWorkspace<S>&, Transpose);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
