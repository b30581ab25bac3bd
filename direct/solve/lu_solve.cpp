#include "ilux/direct/solve/lu_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/processor.hpp"

namespace ilux {
namespace {

// Right-hand sides are solved `width` at a time, interleaved as y[k·width + c]: an entry read once serves all of them.
constexpr std::array<Offset, 3> widths{1, 4, 8};
constexpr std::array<double, 3> pass_cost{1, 1.6, 2.6};  // one pass, relative; circuits, Xeon of 2023, AVX2
constexpr double      min_parallel = 2e5;  // entries × right-hand sides: below, forking costs more than it saves
constexpr Offset      long_sum = 8;
constexpr std::size_t line = 64 / sizeof(double);  // no interleaved row may straddle two cache lines

/// The entries of one column, or of a part of it.
struct Entries {
    const Index*  row;
    const double* val;
    Offset        count;
};

Entries F_of(const LuFactors<>& f, Index k)
{
    const Offset begin = f.pattern->f_col_ptr[k];
    return {f.pattern->f_row.data() + begin, f.f_val.data() + begin, f.pattern->f_col_ptr[k + 1] - begin};
}
Entries upper(const LuFactors<>& f, Index k)
{
    const Offset begin = f.pattern->col_ptr[k];
    return {f.pattern->row.data() + begin, f.val.data() + begin, f.pattern->diag[k] - begin};
}
Entries lower(const LuFactors<>& f, Index k)
{
    const Offset begin = f.pattern->diag[k] + 1;
    return {f.pattern->row.data() + begin, f.val.data() + begin, f.pattern->col_ptr[k + 1] - begin};
}

// What follows is inlined into the functions that are compiled for each kind of processor.
#define ILUX_INLINE [[gnu::always_inline]] inline

/// to ← fma(−a, x, to)
template <Offset width>
ILUX_INLINE void subtract(double a, const double* x, double* to)
{
    const double minus_a = -a;
#pragma omp simd
    for (Offset c = 0; c < width; ++c) to[c] = std::fma(minus_a, x[c], to[c]);
}

template <Offset width>
ILUX_INLINE void divide(double* x, double pivot)
{
#pragma omp simd
    for (Offset c = 0; c < width; ++c) x[c] /= pivot;
}

/// y_row(p) ← y_row(p) − a_p x
template <Offset width>
ILUX_INLINE void scatter(Entries a, const double* x, double* y)
{
    for (Offset p = 0; p < a.count; ++p) subtract<width>(a.val[p], x, y + a.row[p] * width);
}

/// sum ← sum − Σ_p a_p y_row(p); a long one in four parts, since each subtraction waits for the one before.
template <Offset width>
ILUX_INLINE void gather(Entries a, const double* y, double* sum)
{
    Offset p = 0;
    if (a.count >= long_sum) {
        double part1[width] = {}, part2[width] = {}, part3[width] = {};
        for (; p + 4 <= a.count; p += 4) {
            subtract<width>(a.val[p], y + a.row[p] * width, sum);
            subtract<width>(a.val[p + 1], y + a.row[p + 1] * width, part1);
            subtract<width>(a.val[p + 2], y + a.row[p + 2] * width, part2);
            subtract<width>(a.val[p + 3], y + a.row[p + 3] * width, part3);
        }
#pragma omp simd
        for (Offset c = 0; c < width; ++c) sum[c] = (sum[c] + part1[c]) + (part2[c] + part3[c]);
    }
    for (; p < a.count; ++p) subtract<width>(a.val[p], y + a.row[p] * width, sum);
}

/// Row k of y while it is worked on. One number stays in a register; several stay in y, since g++ cuts local arrays into
/// vectors of changing size, and each change stalls.
template <Offset width>
class Row {
public:
    ILUX_INLINE      Row(double* y, Index k) : y_(y + k * width), x_(*y_) {}
    ILUX_INLINE      operator double*() { return width == 1 ? &x_ : y_; }
    ILUX_INLINE void store()
    {
        if (width == 1) *y_ = x_;
    }

private:
    double* y_;
    double  x_;
};

/// y ← B⁻¹ y: for each block from the last, y ← L⁻¹ y, y ← U⁻¹ y, and F takes it to the blocks before.
template <Offset width>
ILUX_INLINE void solve_blocks(const LuFactors<>& f, double* y)
{
    const LuPattern& P = *f.pattern;
    for (Index block = P.blocks(); block-- > 0;) {
        const Index begin = P.block_ptr[block], end = P.block_ptr[block + 1];
        const bool  has_F = P.f_col_ptr[begin] < P.f_col_ptr[end];
        if (end - begin > 1)
            for (Index k = begin; k < end; ++k) scatter<width>(lower(f, k), Row<width>(y, k), y);
        for (Index k = end; k-- > begin;) {
            Row<width> x(y, k);
            divide<width>(x, f.val[P.diag[k]]);
            x.store();
            scatter<width>(upper(f, k), x, y);
            if (has_F) scatter<width>(F_of(f, k), x, y);
        }
    }
}

/// y ← B⁻ᵀ y: for each block from the first, y ← y − Fᵀ y, y ← U⁻ᵀ y, y ← L⁻ᵀ y.
template <Offset width>
ILUX_INLINE void solve_blocks_transposed(const LuFactors<>& f, double* y)
{
    const LuPattern& P = *f.pattern;
    for (Index block = 0; block < P.blocks(); ++block) {
        const Index begin = P.block_ptr[block], end = P.block_ptr[block + 1];
        const bool  has_F = P.f_col_ptr[begin] < P.f_col_ptr[end];
        for (Index k = begin; k < end; ++k) {
            Row<width> x(y, k);
            if (has_F) gather<width>(F_of(f, k), y, x);
            gather<width>(upper(f, k), y, x);
            divide<width>(x, f.val[P.diag[k]]);
            x.store();
        }
        if (end - begin == 1) continue;
        for (Index k = end; k-- > begin;) {
            Row<width> x(y, k);
            gather<width>(lower(f, k), y, x);
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

/// Up to `width` right-hand sides, one after the other in b and x. Where there are fewer, the last fills the spare lanes.
struct Group {
    const double* b;
    double*       x;
    double*       y;  ///< n·width
    Offset        count;

    Offset vector(Offset lane) const { return std::min(lane, count - 1); }
};

template <Offset width>
ILUX_INLINE void solve_group(const LuFactors<>& f, Transpose transpose, const Group& group)
{
    const LuPattern& P = *f.pattern;
    const Side       rows{P.row_perm, P.row_scale}, columns{P.col_perm, P.col_scale};
    const Side&      from = transpose == Transpose::no ? rows : columns;
    const Side&      to = transpose == Transpose::no ? columns : rows;
    const double*    b[width];
    double*          x[width];
    for (Offset c = 0; c < width; ++c) b[c] = group.b + group.vector(c) * P.n, x[c] = group.x + group.vector(c) * P.n;

    for (Offset k = 0; k < P.n; ++k) {
        const Index  i = from.perm[k];
        const double s = from.factor(i);
        for (Offset c = 0; c < width; ++c) group.y[k * width + c] = s * b[c][i];
    }
    if (transpose == Transpose::no) solve_blocks<width>(f, group.y);
    else solve_blocks_transposed<width>(f, group.y);
    for (Offset k = 0; k < P.n; ++k) {
        const Index  j = to.perm[k];
        const double s = to.factor(j);
        for (Offset c = 0; c < width; ++c) x[c][j] = s * group.y[k * width + c];
    }
}

using Solve = void (*)(const LuFactors<>&, Transpose, const Group&);

template <Offset width>
void solve_portable(const LuFactors<>& f, Transpose transpose, const Group& group)
{
    solve_group<width>(f, transpose, group);
}
// Aligned, since where the linker puts such short loops makes a tenth of the time.
template <Offset width>
ILUX_FMA [[gnu::aligned(64)]] void solve_fma(const LuFactors<>& f, Transpose transpose, const Group& group)
{
    solve_group<width>(f, transpose, group);
}

/// The function for widths[w] on this processor. AVX-512 was measured too: a gain only beyond 10⁶ entries, and small.
Solve solve_for(std::size_t w)
{
    if (processor_has_fma()) return std::array<Solve, 3>{solve_fma<1>, solve_fma<4>, solve_fma<8>}[w];
    return std::array<Solve, 3>{solve_portable<1>, solve_portable<4>, solve_portable<8>}[w];
}

std::size_t narrowest_for(Offset rhs) { return rhs <= 1 ? 0 : rhs <= widths[1] ? 1 : 2; }

Index padded(Index rhs)
{
    const Offset width = widths[narrowest_for(rhs)];
    return static_cast<Index>((std::max<Offset>(rhs, 1) + width - 1) / width * width);
}

/// Of the widths that the workspace has room for, the one that takes `threads` threads the least time.
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

/// The first address in y from which 8 doubles are a whole cache line: an interleaved row must not straddle two.
double* aligned(std::vector<double>& y)
{
    const auto past = reinterpret_cast<std::uintptr_t>(y.data()) / sizeof(double) % line;
    return y.data() + (past == 0 ? 0 : line - past);
}

void require_suitable(const LuFactors<>& factors, std::span<const double> b, std::span<const double> x,
                      const LuWorkspace& ws)
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

LuWorkspace::LuWorkspace(Index n, Index rhs) : r(n), d(n), lost(n), rhs_(padded(rhs))
{
    y.resize(static_cast<std::size_t>(n) * rhs_ + (rhs_ > 1 ? line - 1 : 0));
}

void lu_solve(Cpu& be, const LuFactors<>& factors, std::span<const double> b, std::span<double> x, LuWorkspace& ws,
              Transpose transpose)
{
    require_suitable(factors, b, x, ws);
    const LuPattern& P = *factors.pattern;
    if (P.n == 0) return;
    const Offset n = P.n, rhs = b.size() / n;
    const bool   parallel = be.threads() > 1 && static_cast<double>(P.nnz() + P.nnz_F()) * rhs >= min_parallel;
    const Offset width = choose_width(rhs, ws.rhs(), parallel ? be.threads() : 1);
    const Offset at_once = ws.rhs() / width * width;
    double*      ys = ws.rhs() > 1 ? aligned(ws.y) : ws.y.data();

    const auto solve = [&](Offset c, Offset last, double* y) {
        const Offset count = std::min(width, last - c);
        solve_for(narrowest_for(count))(factors, transpose, {b.data() + c * n, x.data() + c * n, y, count});
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

}  // namespace ilux
