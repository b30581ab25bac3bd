#include "ilux/lab/suites/truth.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ilux/base/cpu.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/engine/report/accuracy.hpp"

namespace ilux::app {
namespace {

/// [A A]: its product with (x, d) is A (x + d), although x + d is no double.
CsrMatrix<double> doubled(const CsrView<double>& A)
{
    std::vector<Offset> row_ptr(A.row_ptr().size());
    std::vector<Index>  col;
    std::vector<double> val;
    col.reserve(static_cast<std::size_t>(2 * A.nnz()));
    val.reserve(static_cast<std::size_t>(2 * A.nnz()));
    for (Index i = 0; i < A.rows(); ++i) {
        for (const Index shift : {0, A.cols()})
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                col.push_back(A.col()[p] + shift);
                val.push_back(A.val()[p]);
            }
        row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(col.size());
    }
    return CsrMatrix<double>::from_sorted(A.rows(), 2 * A.cols(), std::move(row_ptr), std::move(col), std::move(val));
}

double largest_of(std::span<const double> v)
{
    double largest = 0;
    for (const double value : v) largest = std::isnan(value) ? value : std::max(largest, std::abs(value));
    return largest;
}

/// An LU and the refinement by it.
class Search {
public:
    Search(const CsrView<double>& A, std::span<const double> b)
        : A_(A), AA_(doubled(A)), b_(b), ws_(A.rows()), xd_(2 * b.size()), correction_(b.size())
    {}

    Truth run(const StopToken& stop)
    {
        factors_ = gilbert_peierls(analyse(view(A_)), A_.val(), stop);
        if (factors_.monitor.stopped != StopReason::none) return without("LU took longer than the time limit");
        if (factors_.monitor.bad_column >= 0) return without("A is singular: LU found no pivots");
        if (!refine()) return without("x overflows");
        const std::size_t n = b_.size();
        truth_.x.assign(xd_.begin(), xd_.begin() + n);
        truth_.rest.assign(xd_.begin() + n, xd_.end());
        truth_.largest = largest_of(truth_.x);
        if (!std::isfinite(truth_.largest)) return without("x overflows");
        if (truth_.largest == 0 && largest_of(b_) > 0) return without("x underflows");
        note_correction();
        sample_movement();
        return std::move(truth_);
    }

private:
    Truth without(const char* why)
    {
        Truth none;
        none.why_not = why;
        return none;
    }

    /// correction_ ← A⁻¹(b − A(x + d)). @return false where that is not finite
    bool correct()
    {
        const bool finite = measure(be_, AA_, xd_, b_, residual_).finite;
        if (!finite) return false;
        lu_solve(be_, factors_, residual_.r, correction_, ws_);
        for (double& c : correction_) c = std::ldexp(c, residual_.exponent);
        return std::isfinite(largest_of(correction_));
    }

    /// x + d ← x + d + correction_, each pair the nearest double and what is left
    void add()
    {
        const std::size_t n = b_.size();
        for (std::size_t i = 0; i < n; ++i) {
            const double x = xd_[i], d = xd_[n + i] + correction_[i];
            xd_[i] = x + d;
            const double taken = xd_[i] - x;
            xd_[n + i] = (x - (xd_[i] - taken)) + (d - taken);
        }
    }

    /// Size of the correction: as a share of the largest component, and the largest share of one that counts.
    std::pair<double, double> size() const
    {
        const double largest = largest_of(std::span(xd_).first(b_.size()));
        double       worst = 0;
        for (std::size_t i = 0; i < b_.size(); ++i)
            if (std::abs(xd_[i]) > least_unknown * largest) worst = std::max(worst, std::abs(correction_[i] / xd_[i]));
        return {largest > 0 ? largest_of(correction_) / largest : 0, worst};
    }

    /// @return false where there is no x
    bool refine()
    {
        constexpr Index  most = 40;
        constexpr double enough = 0x1p-80;  // far beyond what a double can be off by
        if (!correct()) return false;
        add();
        std::pair<double, double> before{INFINITY, INFINITY};
        for (; truth_.steps < most && correct(); ++truth_.steps) {
            const auto now = size();
            const bool shrinks = now.first <= before.first / 2 || now.second <= before.second / 2;
            if (!shrinks) break;
            add();
            if (now.second <= enough && now.first <= enough) break;
            before = now;
        }
        return true;
    }

    void note_correction()
    {
        truth_.correction.assign(correction_.begin(), correction_.end());
        for (double& c : truth_.correction) c = std::abs(c);
    }

    /// e ← A⁻¹(w ∘ z), w = ε (|A||x| + |b|), z random: what rounding errors of A and b do to x.
    void sample_movement()
    {
        constexpr int                    samples = 4;
        std::mt19937_64                  random(1);
        std::normal_distribution<double> normal;
        std::vector<double>              w(b_.size()), e(b_.size());
        truth_.movement.assign(b_.size(), 0);
        for (int s = 0; s < samples; ++s) {
            for (std::size_t i = 0; i < w.size(); ++i)
                w[i] = std::numeric_limits<double>::epsilon() * residual_.size[i] * normal(random);
            lu_solve(be_, factors_, w, e, ws_);
            for (std::size_t i = 0; i < e.size(); ++i) truth_.movement[i] = std::hypot(truth_.movement[i], e[i]);
        }
        for (double& m : truth_.movement) m = std::ldexp(m / std::sqrt(double(samples)), residual_.exponent);
    }

    Cpu                     be_{1};
    const CsrView<double>&  A_;
    const CsrMatrix<double> AA_;
    std::span<const double> b_;
    LuFactors<>             factors_;
    LuWorkspace<>           ws_;
    std::vector<double>     xd_, correction_;  // (x, d): 2n; n
    Residual<>              residual_;
    Truth                   truth_;
};

}  // namespace

bool Truth::counts(Index i) const { return std::abs(x[i]) > least_unknown * largest; }

bool Truth::knows(Index i) const
{
    const double size = std::abs(x[i]);
    return correction[i] <= least_correction * size && movement[i] <= least_movement * size;
}

bool Truth::knows_norm() const
{
    return why_not.empty() && largest > 0 && largest_of(correction) <= least_correction * largest &&
           largest_of(movement) <= least_movement * largest;
}

Index Truth::counting() const
{
    Index count = 0;
    for (Index i = 0; i < std::ssize(x); ++i) count += counts(i);
    return count;
}

Index Truth::known() const
{
    Index count = 0;
    for (Index i = 0; i < std::ssize(x); ++i) count += counts(i) && knows(i);
    return count;
}

Truth find_truth(const CsrView<double>& A, std::span<const double> b, double seconds)
{
    Truth      found;
    const auto search = [&] { found = Search(A, b).run(StopToken().within(seconds > 0 ? seconds : INFINITY)); };
    if (const auto lack = lack_of_memory(search)) found.why_not = *lack;
    return found;
}

TrueError true_error(const Truth& truth, std::span<const double> x)
{
    TrueError found;
    for (Index i = 0; i < std::ssize(truth.x); ++i) {
        const double off = std::abs((x[i] - truth.x[i]) - truth.rest[i]);
        const double wrong = std::isfinite(off) ? off : INFINITY;
        found.error = std::max(found.error, wrong == 0 ? 0 : wrong / truth.largest);
        if (!truth.counts(i) || !truth.knows(i)) continue;
        const double share = wrong / std::abs(truth.x[i]);
        for (std::size_t k = 0; k < TrueError::bounds.size(); ++k) found.off[k] += share > TrueError::bounds[k];
        if (share <= found.worst_error) continue;
        found.worst_error = share;
        found.worst = i;
    }
    return found;
}

}  // namespace ilux::app
