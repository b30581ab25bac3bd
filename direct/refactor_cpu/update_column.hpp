#pragma once
// One column of a refactorization, for each kind of processor; and what it tells the monitor.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ilux/base/barrier.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/refactor_cpu/refactor_program.hpp"

namespace ilux::detail {

/// |x| as an integer: ordered as |x| is, Inf above all numbers and NaN above Inf.
template <class S>
[[gnu::always_inline]] inline std::uint64_t magnitude(S x)
{
    constexpr std::uint64_t no_sign = 0x7fff'ffff'ffff'ffff;
    if constexpr (is_complex<S>) return std::bit_cast<std::uint64_t>(modulus(x)) & no_sign;
    else return std::bit_cast<std::uint64_t>(x) & no_sign;
}
constexpr std::uint64_t infinite = 0x7ff0'0000'0000'0000;

/// One refactorization, as its threads share it.
template <class S>
struct RefactorJob {
    const LuPattern&       P;
    const RefactorProgram& program;
    const S*               values;
    S*                     val;
    S*                     f_val;
    std::uint32_t*
                  done;  ///< by column and, from n on, by hub piece: finished in which epoch; all ones: no need to wait
    std::uint32_t epoch;

    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    /// 2k + 1 when column k is the first found not finite, 2k when its pivot is zero.
    std::atomic<std::int64_t> bad{none};

    void note_bad(Index k, bool not_finite)
    {
        const std::int64_t code = 2 * std::int64_t{k} + not_finite;
        for (auto seen = bad.load(std::memory_order_relaxed);
             code < seen && !bad.compare_exchange_weak(seen, code, std::memory_order_relaxed);) {
        }
    }
    /// Columns behind the first bad one are not computed, all before it are: so the first does not depend on timing.
    bool needs(Index k) const { return 2 * std::int64_t{k} <= bad.load(std::memory_order_relaxed); }

    bool ready(Offset item) const { return std::atomic_ref(done[item]).load(std::memory_order_acquire) >= epoch; }
    static constexpr int patience = 1000;  // some 50 µs, more than most columns take
    void                 wait_for(Offset item) const
    {
        if (!ready(item)) spin_until([&] { return ready(item); }, patience);
    }
    void publish(Offset item) const { std::atomic_ref(done[item]).store(epoch, std::memory_order_release); }
};

/// No column has been seen, and growth below 1 would not be recorded.
constexpr PivotMonitor no_growth{.rgrowth = 1};

/// What one thread writes besides the factors.
template <class S>
struct RefactorThread {
    S*           x;      ///< n and up to 8 more, on a cache line; zeros between columns
    S*           input;  ///< B of a window's short columns
    S*           pivot;  ///< u_kk of a window's short columns
    PivotMonitor seen;   ///< starts from no_growth
    /// Extremes of each hub in the rows that this thread computed: max |b_r|, and the magnitudes of U(:,k) and L(:,k).
    struct HubExtremes {
        double        b = 0;
        std::uint64_t u = 0, l = 0;
    };
    std::vector<HubExtremes> hub = {};
};

/// Takes a finished column into the monitor, or notes that it is bad. @param b  max |B(:,k)|
/// @param u, l  magnitudes of U(:,k), u_kk included, and of L(:,k)
template <class S>
void record(RefactorJob<S>& job, PivotMonitor& seen, Index k, double b, std::uint64_t u, S pivot, std::uint64_t l);

/// Whether record() would change anything. b / u < g ≤ 1 implies b ≤ fl(g u); where g = 1, b = u is no growth.
template <class S>
inline bool is_record(const PivotMonitor& seen, Index k, double b, std::uint64_t u, S pivot, std::uint64_t l)
{
    const double        size = std::bit_cast<double>(magnitude(pivot)), largest = std::bit_cast<double>(u);
    const double        bound = seen.rgrowth * largest;
    const std::uint64_t multiplier = magnitude(seen.max_multiplier);
    return u >= infinite || !(size >= seen.min_pivot && size <= seen.max_pivot && size > 0) || l > multiplier ||
           (l == multiplier && k < seen.multiplier_column) || b < bound || (b == bound && b != largest);
}
/// Records a stored column, whose inputs are all to different entries.
template <class S>
void inspect(RefactorJob<S>& job, PivotMonitor& seen, Index k);
/// Records any stored column, with x = 0 before and after.
template <class S>
void inspect_sums(RefactorJob<S>& job, RefactorThread<S>& thread, Index k);
/// The extremes of both; of equal ones that of the smaller column.
inline void merge(PivotMonitor& into, const PivotMonitor& other)
{
    into.min_pivot = std::min(into.min_pivot, other.min_pivot);
    into.max_pivot = std::max(into.max_pivot, other.max_pivot);
    if (other.growth_column >= 0 &&
        (other.rgrowth < into.rgrowth || (other.rgrowth == into.rgrowth && other.growth_column < into.growth_column))) {
        into.rgrowth = other.rgrowth;
        into.growth_column = other.growth_column;
    }
    if (other.multiplier_column >= 0 &&
        (other.max_multiplier > into.max_multiplier ||
         (other.max_multiplier == into.max_multiplier && other.multiplier_column < into.multiplier_column))) {
        into.max_multiplier = other.max_multiplier;
        into.multiplier_column = other.multiplier_column;
    }
}

/// x ← B(:,k), to zeros. @return max |x|
template <class S>
inline __attribute__((always_inline)) double load_column(const RefactorJob<S>& job, S* x, Index k)
{
    const LuPattern& P = job.P;
    const Offset     begin = P.in_ptr[k], end = P.in_split[k];
    std::uint64_t    b = 0;
    for (Offset e = begin; e < end; ++e) {
        const S sum = x[P.in_row[e]] += job.values[P.in_source[e]] * P.in_scale[e];
        b = magnitude(sum) > b ? magnitude(sum) : b;
    }
    if (job.program.duplicates) b = 0;  // those were of partial sums
    for (Offset e = begin; job.program.duplicates && e < end; ++e)
        b = magnitude(x[P.in_row[e]]) > b ? magnitude(x[P.in_row[e]]) : b;
    return std::bit_cast<double>(b);
}

/// Where a kernel stands in the arrays of its window, and what would make a column a record.
template <class S>
struct ShortCursor {
    RefactorJob<S>&      job;
    RefactorThread<S>&   thread;
    const ShortColumn*   column;
    const S*             input;
    const std::uint64_t* update;
    S*                   pivot;
    Index                first;             ///< smallest column of the window
    std::uint64_t        largest_input;     ///< magnitude
    double               growth_limit = 0;  ///< with max|U(:,k)| ≤ growth_limit · |b| for one b of B(:,k) it is none
    std::uint64_t        multiplier_limit = 0;  ///< nor with magnitudes in L(:,k) up to this

    void set_limits();
    void look_at(Index k);
};

template <class S>
struct ColumnKernels {
    bool vectors;  ///< short columns are taken, too
    void (*column)(RefactorJob<S>&, RefactorThread<S>&, Index k);
    void (*waiting_column)(RefactorJob<S>&, RefactorThread<S>&, Index k);  ///< waits for each column of U(:,k)
    /// to ← 0 + values[source] · scale. @return the largest magnitude of a number, of a complex one that of a part
    std::uint64_t (*load)(const S* values, const std::uint32_t* source, const std::uint16_t* scale, Offset count,
                          S* to);
    /// The least and the largest of the magnitudes given and those of the pivots.
    void (*extremes)(const S* pivot, Offset count, std::uint64_t& least, std::uint64_t& largest);
    /// x − Σ l u, one after the other; both by their positions in val
    S (*subtract)(S x, const S* val, const std::uint32_t* l, const std::uint32_t* u, Offset count);
    void (*shorts[static_cast<int>(Shape::wide)])(ShortCursor<S>&, std::uint32_t count);
};

/// The kernels asked for. @throws InvalidOption when this processor, or this Scalar, lacks them
template <class S>
const ColumnKernels<S>& column_kernels(Arithmetic arithmetic);
/// `rest` with kernels that hold a complex number in a register, for processors with FMA; `rest` where they are not
/// built.
ColumnKernels<std::complex<double>> complex_fma_kernels(ColumnKernels<std::complex<double>> rest);
/// Kernels of real numbers only. Null where they are not built, or not for this processor.
const ColumnKernels<double>* avx512_kernels();

}  // namespace ilux::detail
