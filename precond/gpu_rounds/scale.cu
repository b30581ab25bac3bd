// Scaling of a level, as preprocess.cpp does it, and what its diagonal is like.

#include <bit>

#include "ilux/base/instances.hpp"
#include "ilux/base/power_of_two.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"

namespace ilux::rounds {
namespace {

/// r a c without an overflow on the way.
template <class V>
__device__ V scaled(double r, V a, double c)
{
    const double low = fmin(r, c), high = fmax(r, c);
    return modulus(a) >= 1 ? high * (low * a) : low * (high * a);
}

template <class V>
__global__ void begin(ActiveRows<V> level)
{
    const Index a = thread_in_grid(), k = level.row(a);
    if (k < 0) return;
    level.at.row_scale[k] = level.at.col_scale[k] = 1;
    level.at.w_L[k] = level.at.w_U[k] = FixedOf<V>{};
    level.at.in_level[k] = a;
    level.at.col_largest[k] = 0;
}

/// Largest magnitudes of each row and column of the scaled matrix, the diagonal included.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) find_maxima(ActiveRows<V> level)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    const double r = level.at.row_scale[k];
    double       largest = 0;
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        const double size = scaled(r, modulus(level.S.val[p]), level.at.col_scale[j]);
        largest = fmax(largest, size);
        raise(level.at.col_largest + j, bits_of(size));
    });
    largest = tile.max(largest);
    if (tile.lane() == 0) level.at.row_largest[k] = largest;
}

__device__ bool improve(double& factor, double largest)
{
    const double before = factor, next = factor / sqrt(largest);
    if (largest > 0 && next <= largest_scale && next >= 1 / largest_scale) factor = nearest_power_of_two(next);
    return factor != before;
}

template <class V>
__global__ void improve_scales(ActiveRows<V> level)
{
    const Index k = level.row(thread_in_grid());
    if (k < 0) return;
    const bool row = improve(level.at.row_scale[k], level.at.row_largest[k]);
    const bool col = improve(level.at.col_scale[k], magnitude_of(level.at.col_largest[k]));
    level.at.col_largest[k] = 0;
    if (row || col) level.counters->changed = 1;
}

/// Maxima are those of the scaled matrix.
template <class V>
__device__ void count_diagonal(const ActiveRows<V>& level, Index k, V d)
{
    if (modulus(d) < small_diagonal * fmax(level.at.row_largest[k], magnitude_of(level.at.col_largest[k])) ||
        cuda::is_zero(d))
        atomicAdd(&level.counters->small, 1);
    if (!(cuda::real_part(d) > 0)) atomicAdd(&level.counters->not_positive, 1);
    if (cuda::is_zero(d)) atomicAdd(&level.counters->zero, 1);
}

template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) find_diagonals(ActiveRows<V> level)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    V d{};
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        if (j == k) d = scaled(level.at.row_scale[k], level.S.val[p], level.at.col_scale[k]);
    });
    d = tile.sum(d);
    if (tile.lane() != 0) return;
    level.at.diagonal[k] = d;
    count_diagonal(level, k, d);
}

/// The twin of balance_saddle_point() in preprocess.cpp. Scales of neighbours with a diagonal stay as they are.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) balance(ActiveRows<V> level)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    if (tile.lane() == 0) level.at.col_largest[k] = 0;
    if (!cuda::is_zero(level.at.diagonal[k])) return;
    const double r = level.at.row_scale[k];
    double       sum = 0;
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        const double d = modulus(level.at.diagonal[j]);
        if (d == 0) return;
        const double a = scaled(r, modulus(level.S.val[p]), level.at.col_scale[j]);
        sum += a * (a / d);
    });
    sum = tile.sum(sum);
    const double next = r * sqrt(balanced_diagonal / sum);
    if (tile.lane() == 0 && next <= largest_scale && next >= 1 / largest_scale)
        level.at.row_scale[k] = level.at.col_scale[k] = nearest_power_of_two(next);
}

/// Scales the rows, and looks at diagonals.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) apply_scales(ActiveRows<V> level, V* val)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    const double r = level.at.row_scale[k];
    V            d{};
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        val[p] = scaled(r, val[p], level.at.col_scale[j]);
        if (j == k) d = val[p];
    });
    d = tile.sum(d);
    if (tile.lane() != 0) return;
    raise(&level.counters->largest, bits_of(level.at.row_largest[k]));
    count_diagonal(level, k, d);
}

/// The test vector and the scales of later levels go along.
template <class V>
__global__ void carry_on(ActiveRows<V> level, bool first)
{
    const Index k = level.row(thread_in_grid());
    if (k < 0) return;
    level.at.scale[k].t /= level.at.col_scale[k];
    for (Index c = 0; c < level.at.vector_count; ++c)
        level.at.vectors[static_cast<std::size_t>(k) * level.at.vector_count + c] /= level.at.col_scale[k];
    if (first) {
        level.at.row_first[k] *= level.at.row_scale[k];
        level.at.col_first[k] *= level.at.col_scale[k];
        return;
    }
    level.at.row_fold[k] *= level.at.row_scale[k];
    level.at.col_fold[k] *= level.at.col_scale[k];
}

/// Rows that are dominant in the test vector; rows that couple unknowns of like t alone.
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) count_rows(ActiveRows<V> level)
{
    const Tile<lanes> tile;
    const Index       k = level.row(tile.in_grid());
    if (k < 0) return;
    V      d{};
    double most = fabs(level.at.scale[k].t), least = most;
    for_entries(level.S, tile, k, [&](Index j, Offset p) {
        if (j == k) d = level.S.val[p];
        const double t = fabs(level.at.scale[j].t);
        most = fmax(most, t);
        least = fmin(least, t);
    });
    const bool dominant = share_of_others(level, tile, k, tile.sum(d)) <= 1 + dominance_slack;
    most = tile.max(most);
    least = tile.min(least);
    if (tile.lane() != 0) return;
    if (dominant) atomicAdd(&level.counters->dominant, 1);
    if (most <= rounds_like_size * least) atomicAdd(&level.counters->even, 1);
}

__device__ bool differ(double a, double b) { return a != b; }
__device__ bool differ(cuda::Complex<double> a, cuda::Complex<double> b) { return a.re != b.re || a.im != b.im; }

/// Entries on or above the diagonal without an equal or a conjugate partner below it. Rows are in ascending order of
/// columns.
template <class V>
__global__ void find_asymmetry(Index n, RowsView<V> A, Counters* counters)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    for (Offset p = A.start[i]; p < A.start[i] + A.length[i]; ++p) {
        const Index j = A.col[p];
        if (j < i) continue;  // those below without a partner above show in count_sides
        Offset low = A.start[j], high = low + A.length[j];
        while (low < high) {
            const Offset middle = (low + high) / 2;
            if (A.col[middle] < i) low = middle + 1;
            else high = middle;
        }
        const bool alone = low == A.start[j] + A.length[j] || A.col[low] != i;
        if (alone || differ(A.val[low], A.val[p])) counters->unsymmetric = 1;
        if constexpr (is_complex<V>)
            if (alone || differ(A.val[low], cuda::conjugate(A.val[p]))) counters->not_hermitian = 1;
    }
}

/// Entries above the diagonal minus those below it.
template <class V>
__global__ void count_sides(Index n, RowsView<V> A, Counters* counters)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    Offset difference = 0;
    for (Offset p = A.start[i]; p < A.start[i] + A.length[i]; ++p)
        difference += A.col[p] > i ? 1 : A.col[p] < i ? -1 : 0;
    if (difference != 0) atomicAdd(&counters->entries, static_cast<unsigned long long>(difference));
}

template <Scalar S>
void find_maxima(Gpu& gpu, RoundsState<S>& state)
{
    state.clear(gpu);
    with_lanes(state, [&](auto lanes) {
        launch_tiles<lanes()>(gpu, find_maxima<lanes(), cuda::Value<S>>, state.active_count, active_rows(state));
    });
}

/// Where there are zeros on the diagonal, balances them; maxima are found anew. @return whether there are
template <Scalar S>
bool balanced(Gpu& gpu, RoundsState<S>& state, bool scaling)
{
    using V = cuda::Value<S>;
    const ActiveRows<V> level = active_rows(state);
    const Index         rows = state.active_count;
    with_lanes(state, [&](auto lanes) { launch_tiles<lanes()>(gpu, find_diagonals<lanes(), V>, rows, level); });
    const Counters found = state.read(gpu);
    state.clear(gpu);
    if (found.zero == 0) return false;
    if (!scaling) return true;
    with_lanes(state, [&](auto lanes) { launch_tiles<lanes()>(gpu, balance<lanes(), V>, rows, level); });
    find_maxima(gpu, state);
    return true;
}

/// Scales the level by the factors that are there. Needs find_maxima() and no counts.
template <Scalar S>
DiagonalFacts finish_scaling(Gpu& gpu, RoundsState<S>& state)
{
    using V = cuda::Value<S>;
    const ActiveRows<V> level = active_rows(state);
    const Index         rows = state.active_count;
    launch(gpu, carry_on<V>, rows, level, state.first_level);
    with_lanes(state, [&](auto lanes) {
        launch_tiles<lanes()>(gpu, apply_scales<lanes(), V>, rows, level, state.entries[state.now].val.data());
        launch_tiles<lanes()>(gpu, count_rows<lanes(), V>, rows, level);
    });
    const Counters found = state.read(gpu);
    return {.small = found.small,
            .zero = found.zero,
            .not_positive = found.not_positive,
            .dominant = found.dominant,
            .even = found.even,
            .largest = std::bit_cast<double>(found.largest)};
}

}  // namespace

template <Scalar S>
Mirror find_mirror(Gpu& gpu, RoundsState<S>& state)
{
    using V = cuda::Value<S>;
    state.clear(gpu);
    launch(gpu, find_asymmetry<V>, state.n, state.n, state.rows(), state.count);
    launch(gpu, count_sides<V>, state.n, state.n, state.rows(), state.count);
    const Counters found = state.read(gpu);
    if (found.entries != 0) return Mirror::none;
    if ((is_complex<S> ? found.not_hermitian : found.unsymmetric) == 0) return Mirror::hermitian;
    return found.unsymmetric == 0 ? Mirror::symmetric : Mirror::none;
}

template <Scalar S>
DiagonalFacts begin_level(Gpu& gpu, RoundsState<S>& state, const MlIluOptions& options, Mirror mirror)
{
    using V = cuda::Value<S>;
    const ActiveRows<V> level = active_rows(state);
    const Index         rows = state.active_count;
    launch(gpu, begin<V>, rows, level);
    bool changed = options.scaling;
    for (int sweep = 0; sweep < equilibration_sweeps && changed; ++sweep) {
        find_maxima(gpu, state);
        launch(gpu, improve_scales<V>, rows, level);
        changed = state.read(gpu).changed != 0;
    }
    find_maxima(gpu, state);
    const bool saddle_point = may_wait(options, mirror) && balanced(gpu, state, options.scaling);
    state.inverse_L = state.inverse_U = 1;
    state.cut = 0;
    DiagonalFacts facts = finish_scaling(gpu, state);
    facts.saddle_point = saddle_point;
    return facts;
}

template <Scalar S>
DiagonalFacts scale_by_matching(Gpu& gpu, RoundsState<S>& state)
{
    find_maxima(gpu, state);
    return finish_scaling(gpu, state);
}

#define ILUX_INSTANTIATE(S)                                          \
    template Mirror        find_mirror(Gpu&, RoundsState<S>&);       \
    template DiagonalFacts scale_by_matching(Gpu&, RoundsState<S>&); \
    template DiagonalFacts begin_level(Gpu&, RoundsState<S>&, const MlIluOptions&, Mirror);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds
