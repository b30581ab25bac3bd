#include "ilux/solver/machine/gpu_mixed.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"

namespace ilux {
namespace {

template <Scalar S>
DeviceBuffer<S> scale_on_device(Gpu& gpu, const std::vector<double>& values)
{
    const std::vector<S> of_S(values.begin(), values.end());
    DeviceBuffer<S>      buffer(of_S.size());
    upload<S>(gpu, of_S, buffer);
    return buffer;
}

/// M of R A C for an M of A that works in double: z ← C⁻¹ M⁻¹ R⁻¹ r, rounded.
template <Scalar S>
class BetweenRounded final : public Preconditioner<Gpu, single_of<S>> {
    using Single = single_of<S>;

public:
    BetweenRounded(Gpu& gpu, std::unique_ptr<Preconditioner<Gpu, S>> M, const SingleScales& scales)
        : M_(std::move(M)), r_(M_->size()), z_(M_->size())
    {
        if (scales.row.empty()) return;
        inverse_row_ = scale_on_device<S>(gpu, inverses_of(scales.row));
        inverse_column_ = scale_on_device<S>(gpu, inverses_of(scales.col));
    }
    Index       size() const override { return M_->size(); }
    std::size_t bytes() const
    {
        return (r_.size() + z_.size() + inverse_row_.size() + inverse_column_.size()) * sizeof(S);
    }
    void apply(Gpu& be, DeviceSpan<const Single> r, DeviceSpan<Single> z) override
    {
        begin(be, r, inverse_row_);
        M_->apply(be, r_, z_);
        end(be, inverse_column_, z);
    }
    void apply_adjoint(Gpu& be, DeviceSpan<const Single> r, DeviceSpan<Single> z) override
    {
        begin(be, r, inverse_column_);
        M_->apply_adjoint(be, r_, z_);
        end(be, inverse_row_, z);
    }

private:
    void begin(Gpu& be, DeviceSpan<const Single> r, const DeviceBuffer<S>& scale)
    {
        widen<S>(be, r, r_);
        if (!scale.empty()) multiply<S>(be, scale, DeviceSpan<const S>(r_), r_);
    }
    void end(Gpu& be, const DeviceBuffer<S>& scale, DeviceSpan<Single> z)
    {
        if (!scale.empty()) multiply<S>(be, scale, DeviceSpan<const S>(z_), z_);
        narrow<S>(be, 1, DeviceSpan<const S>(z_), z);
    }

    std::unique_ptr<Preconditioner<Gpu, S>> M_;
    DeviceBuffer<S>                         r_, z_, inverse_row_, inverse_column_;
};

}  // namespace

/// Sets host_row_ and host_column_, too.
template <Scalar S>
auto GpuMixed<S>::in_single(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device) -> GpuMatrixOperator<Single>
{
    Cpu cpu;
    if (!needs_transpose(method_) && fits_single(cpu, A)) {
        DeviceBuffer<Single> val(on_device.val().size());
        narrow<S>(gpu, 1, on_device.val(), val);
        return GpuMatrixOperator<Single>(
            DeviceCsr<Single>(gpu, A.rows(), A.cols(), on_device.row_ptr(), on_device.col(), val, on_device.lanes()));
    }
    SingleMatrix<S> single = single_matrix(cpu, A);
    host_row_ = std::move(single.row_scale);
    host_column_ = std::move(single.col_scale);
    return GpuMatrixOperator<Single>(gpu, single.A, needs_transpose(method_));
}

template <Scalar S>
GpuMixed<S>::GpuMixed(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device, Method method,
                      const KrylovOptions& krylov)
    : method_(method), A_(in_single(gpu, A, on_device)), workspace_(method, A.rows(), krylov)
{
    row_ = scale_on_device<S>(gpu, host_row_);
    column_ = scale_on_device<S>(gpu, host_column_);
}

template <Scalar S>
std::size_t GpuMixed<S>::workspace_bytes() const
{
    return workspace_.bytes() + scratch_bytes_ + (row_.size() + column_.size()) * sizeof(S);
}

template <Scalar S>
void GpuMixed<S>::put(Gpu& gpu, const GpuRounds<S>& rounds)
{
    const bool adjoinable = needs_transpose(method_);
    if (!rounds.in_single()) return put(gpu, rounds.preconditioner(gpu, adjoinable));
    M_ = rounds.preconditioner_in_single(gpu, {host_row_, host_column_}, adjoinable);
}

template <Scalar S>
void GpuMixed<S>::put(Gpu& gpu, const Jacobi<S>* jacobi)
{
    if (!jacobi) M_ = std::make_unique<Identity<Gpu, Single>>(A_.size());
    else M_ = std::make_unique<GpuJacobi<Single>>(gpu, Jacobi<Single>(*jacobi, SingleScales{host_row_, host_column_}));
}

template <Scalar S>
void GpuMixed<S>::put(Gpu& gpu, std::unique_ptr<Preconditioner<Gpu, S>> made)
{
    auto M = std::make_unique<BetweenRounded<S>>(gpu, std::move(made), SingleScales{host_row_, host_column_});
    scratch_bytes_ = M->bytes();
    M_ = std::move(M);
}

template <Scalar S>
IterationReport GpuMixed<S>::solve(Gpu& gpu, const LinearOperator<Gpu, S>& A, DeviceSpan<const S> D_inverse,
                                   DeviceSpan<const S> b, DeviceSpan<S> x, const KrylovOptions& krylov,
                                   const ProgressListener& on_progress, const StopToken& stop)
{
    DeviceSpan<const S> scale = D_inverse.empty() ? DeviceSpan<const S>(row_) : D_inverse;
    DeviceBuffer<S>     both;  // R D⁻¹: the inner systems are those of A
    if (!D_inverse.empty() && !row_.empty()) {
        both = DeviceBuffer<S>(row_.size());
        multiply<S>(gpu, row_, D_inverse, both);
        scale = both;
    }
    return refine<Gpu, S>(gpu, A, system(scale), b, x, workspace_, krylov, on_progress, stop);
}

template <Scalar S>
void GpuMixed<S>::precondition(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    ilux::precondition<Gpu, S>(gpu, system(row_), r, z, workspace_);
}

template <Scalar S>
std::size_t mixed_bytes(Index n, Offset nnz, Method method, const KrylovOptions& krylov)
{
    const auto rows = static_cast<std::size_t>(n);
    const auto matrix =
        (rows + 1) * sizeof(Offset) + static_cast<std::size_t>(nnz) * (sizeof(Index) + sizeof(single_of<S>));
    constexpr std::size_t vectors = 6;  // scales, their inverses, and two for an M in double
    return (needs_transpose(method) ? 2 : 1) * matrix + refinement_bytes<S>(method, n, krylov) +
           vectors * rows * sizeof(S);
}

#define ILUX_INSTANTIATE(S)     \
    template class GpuMixed<S>; \
    template std::size_t mixed_bytes<S>(Index, Offset, Method, const KrylovOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
