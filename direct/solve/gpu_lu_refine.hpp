#pragma once
// Refinement on a GPU: lu_refine (lu_solve.hpp) with the matrix, right-hand sides and solutions on the device.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/solve/refine_loop.hpp"

namespace ilux {

/// r ← b − op(A) x for any values of an analysed pattern, and the componentwise backward error of x; for one x, or
/// several in one launch, each with the bits it has alone. Serves one stream at a time.
template <Scalar S = double>
class GpuResidual {
public:
    /// Takes 4 bytes an entry, 8 where what is stored are the columns of op(A), and about 12 a row.
    /// @throws InvalidInput when 32 bits cannot count the values
    /// @param transpose  no or yes; Aᴴ is the conjugate of Aᵀ, with conjugated vectors
    GpuResidual(Gpu& gpu, const LuSymbolic& symbolic, Transpose transpose);
    ~GpuResidual();
    GpuResidual(GpuResidual&&) noexcept;
    GpuResidual& operator=(GpuResidual&&) noexcept;

    /// For runs of up to `count` systems, at most 65535; allocates only where there was less. What a run of one system
    /// works in stays where it is, since graphs may know it.
    void        make_room(Gpu& gpu, Index count);
    Index       room() const;
    std::size_t room_bytes() const;  ///< on the device, of each system

    /// Only enqueued, allocates nothing, may be captured in a graph. Every row is summed up in one fixed order, other
    /// than lu_refine's. Repeatable: bitwise. Rows whose |A||x| + |b| is below 2⁻⁹⁶⁰ or overflows are scaled.
    /// @param values   the caller's, on the device as all else
    /// @param x, b, r  count·n, vector after vector; r is neither x nor b
    /// @param stride   0: all systems are of one matrix; else the values of system k begin at values + k · stride
    /// @throws InvalidInput when there is no room for so many
    void run(Gpu& gpu, const S* values, const S* x, const S* b, S* r, Index count = 1, std::size_t stride = 0);

    /// max_i |r|_i / (|op(A)||x| + |b|)_i of each system of the last run, for which it waits [oettli_prager_64]. 0/0
    /// counts as 0, and rows near underflow as row_residual has it; Inf where x or r is not finite, and where a row is
    /// below 2⁻¹⁹⁶⁰, which lu_refine can measure. Valid until the next run.
    /// @param count  that of the last run, which may have been a graph's
    std::span<const double> backward_errors(Gpu& gpu, Index count = 1) const;

    std::size_t bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Systems whose x are refined together, vector after vector on the device.
template <Scalar S = double>
struct GpuRefineSystems {
    DeviceSpan<S> b, x;  ///< count·n; when a system ends, the last one takes its place
    DeviceSpan<S> r, d;  ///< count·n, scratch
    std::size_t   n;
    Index         count;
};
/// One of them. @see gpu_refine
struct GpuRefined {
    Index              number;
    detail::RefineLoop loop;
};

/// Takes systems that have ended out of `going`. @param finish  as for gpu_refine
template <Scalar S, class Finish>
void gpu_refine_retire(Gpu& gpu, const GpuRefineSystems<S>& all, std::vector<GpuRefined>& going, Finish&& finish)
{
    const auto vector = [&](DeviceSpan<S> of, std::size_t k) { return of.subspan(k * all.n, all.n); };
    for (std::size_t k = going.size(); k-- > 0;) {
        if (going[k].loop.goes_on()) continue;
        finish(going[k].number, DeviceSpan<const S>(vector(all.x, k)), going[k].loop.report());
        const std::size_t last = going.size() - 1;
        if (k < last) {
            for (const DeviceSpan<S>* of : {&all.b, &all.x, &all.r}) copy<S>(gpu, vector(*of, last), vector(*of, k));
            going[k] = going[last];
        }
        going.pop_back();
    }
}

/// Refines each x as lu_refine does, all of them together as long as they go on, each with the bits it has alone.
/// Allocates nothing once `going` has room for them; waits for the errors of every iterate.
/// @param residual  with room for all
/// @param values    of the matrix that was factored, or a nearby one, on the device
/// @param measured  residual.run was the last call for these x, with all.r
/// @param going     scratch
/// @param solve     (const S* r, S* d, Index count): enqueues d ← op(A)⁻¹ r for each of them
/// @param finish    (Index number, DeviceSpan<const S> x, const RefineReport&): enqueues what takes x away, once a
/// system
template <Scalar S, class Solve, class Finish>
void gpu_refine(Gpu& gpu, GpuResidual<S>& residual, const S* values, const GpuRefineSystems<S>& all, bool measured,
                const LuOptions& options, std::vector<GpuRefined>& going, Solve&& solve, Finish&& finish)
{
    const std::size_t n = all.n;
    if (!measured) residual.run(gpu, values, all.x.data(), all.b.data(), all.r.data(), all.count);
    going.clear();
    for (const double error : residual.backward_errors(gpu, all.count))
        going.push_back({static_cast<Index>(going.size()), detail::RefineLoop(options, error)});
    for (;;) {
        gpu_refine_retire(gpu, all, going, finish);
        if (going.empty()) return;
        const auto count = static_cast<Index>(going.size());
        const auto d = all.d.first(going.size() * n);
        solve(static_cast<const S*>(all.r.data()), d.data(), count);
        axpy<S>(gpu, 1, all.x.first(d.size()), d);
        residual.run(gpu, values, d.data(), all.b.data(), all.r.data(), count);
        const auto errors = residual.backward_errors(gpu, count);
        for (std::size_t k = 0; k < going.size(); ++k)
            if (going[k].loop.take(errors[k])) copy<S>(gpu, d.subspan(k * n, n), all.x.subspan(k * n, n));
    }
}

}  // namespace ilux
