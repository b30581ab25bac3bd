#pragma once
// Refinement on a GPU: lu_refine (lu_solve.hpp) with the matrix, right-hand side and solution on the device.

#include <memory>

#include "ilux/base/gpu.hpp"
#include "ilux/direct/lu_symbolic.hpp"
#include "ilux/direct/refine_loop.hpp"

namespace ilux {

/// r ← b − op(A) x for any values of an analysed pattern, and the componentwise backward error of x.
/// Serves one stream at a time.
class GpuResidual {
public:
    /// Takes 4 bytes an entry, 8 where what is stored are the columns of op(A), and about 12 a row.
    /// @throws InvalidInput when 32 bits cannot count the values
    GpuResidual(Gpu& gpu, const LuSymbolic& symbolic, Transpose transpose);
    ~GpuResidual();
    GpuResidual(GpuResidual&&) noexcept;
    GpuResidual& operator=(GpuResidual&&) noexcept;

    /// Only enqueued, allocates nothing, may be captured in a graph. Every row is summed up in one fixed order, other than
    /// lu_refine's. Repeatable: bitwise. Rows whose |A||x| + |b| is below 2⁻⁹⁶⁰ or overflows are scaled as lu_refine does.
    /// @param values  the caller's, on the device as all else  @param x, b, r  n; r is neither x nor b
    void run(Gpu& gpu, const double* values, const double* x, const double* b, double* r);

    /// max_i |r|_i / (|op(A)||x| + |b|)_i of the last run, for which it waits [oettli_prager_64]. 0/0 counts as 0; Inf where x
    /// or r is not finite.
    double backward_error(Gpu& gpu) const;

    std::size_t bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Refines x as lu_refine does. Allocates nothing; waits for the error of every iterate.
/// @param values    of the matrix that was factored, or a nearby one, on the device
/// @param b, x      n  @param r, d  n, scratch
/// @param measured  residual.run was the last call for this x, with r
/// @param solve     (const double* r, double* d): enqueues d ← op(A)⁻¹ r
template <class Solve>
RefineReport gpu_refine(Gpu& gpu, GpuResidual& residual, const double* values, DeviceSpan<const double> b,
                        DeviceSpan<double> x, DeviceSpan<double> r, DeviceSpan<double> d, bool measured,
                        const LuOptions& options, Solve&& solve)
{
    const auto measure = [&] {
        if (!measured) residual.run(gpu, values, x.data(), b.data(), r.data());
        return residual.backward_error(gpu);
    };
    const auto correct = [&] {
        solve(static_cast<const double*>(r.data()), d.data());
        axpy(gpu, 1, x, d);
        residual.run(gpu, values, d.data(), b.data(), r.data());
        return residual.backward_error(gpu);
    };
    return detail::refine(options, measure, correct, [&] { copy(gpu, d, x); });
}

}  // namespace ilux
