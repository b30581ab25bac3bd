#include "ilux/solver/system_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/analysis/lu_input.hpp"

namespace ilux {
namespace {

double usable_norm(double norm)
{
    using Limits = std::numeric_limits<double>;
    return std::clamp(norm, Limits::denorm_min(), Limits::max());
}

/// ‖A‖_F. @throws InvalidInput where an entry is not finite
template <Scalar S>
double norm_of_finite(Cpu be, const CsrView<S>& A)
{
    const double norm = norm2<S>(be, A.val());
    if (!std::isfinite(norm)) require_finite_values<S>(view(A));  // else it overflowed
    return usable_norm(norm);
}

}  // namespace

template <Scalar S>
void SystemMatrix<S>::begin(const Cpu& cpu, const CsrView<S>& A)
{
    require(A.rows() == A.cols(),
            [&] { return fmt::format("a {} x {} matrix: a system needs a square one", A.rows(), A.cols()); });
    norm_ = norm_of_finite(cpu, A);
    A_ = A;
    values_ = std::make_shared<SystemValues<S>>(A.val().size());
    adjoint_.reset();
}

template <Scalar S>
void SystemMatrix<S>::now(double norm)
{
    A_ = A_.with_values(values_->host());
    norm_ = norm;
    adjoint_.reset();
}

template <Scalar S>
void SystemMatrix<S>::take(const Cpu& cpu, const Array<const S>& values)
{
    require(values.size() == A_.val().size(), [&] {
        return fmt::format("{} values for an analysed pattern of {} entries", values.size(), A_.val().size());
    });
    const std::span<const S> host = values.gpu() ? values_->bring_next(values) : values.host();
    const double             norm = norm_of_finite(cpu, A_.with_values(host));
    values_->take(host);
    now(norm);
}

template <Scalar S>
bool SystemMatrix<S>::take_there(IterativeSolver<S>& iteration, const Array<const S>& values)
{
    if (values.size() != A_.val().size() || !is_finite(values)) return false;
    const std::span<S> next = values_->next();  // may lack memory, before anything has changed
    const auto         norm = iteration.take_values(*values.gpu(), values.there(), next);
    if (!norm) return false;
    values_->take(next);
    now(usable_norm(*norm));
    return true;
}

template <Scalar S>
MatrixOrAdjoint<S> SystemMatrix<S>::matrix_for(Transpose transpose)
{
    if (transpose == Transpose::no) return A_;
    if (!adjoint_) adjoint_ = adjoint(A_);
    return {A_, *adjoint_};
}

#define ILUX_INSTANTIATE(S) template class SystemMatrix<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
