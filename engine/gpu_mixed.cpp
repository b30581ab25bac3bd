#include "ilux/engine/gpu_mixed.hpp"

#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/engine/machine/single_matrix.hpp"

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

template <Scalar S>
MixedSystem<Gpu, S> mixed_on_gpu(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device, Method method,
                                 const KrylovOptions& krylov, std::size_t& bytes)
{
    using Single = single_of<S>;
    Cpu                                        cpu;
    std::vector<double>                        row, col;
    std::unique_ptr<GpuMatrixOperator<Single>> there;
    if (!needs_transpose(method) && fits_single(cpu, A)) {
        DeviceBuffer<Single> val(on_device.val().size());
        narrow<S>(gpu, 1, on_device.val(), val);
        there = std::make_unique<GpuMatrixOperator<Single>>(
            DeviceCsr<Single>(gpu, A.rows(), A.cols(), on_device.row_ptr(), on_device.col(), val, on_device.lanes()));
    } else {
        SingleMatrix<S> single = single_matrix(cpu, A);
        row = std::move(single.row_scale);
        col = std::move(single.col_scale);
        there = std::make_unique<GpuMatrixOperator<Single>>(gpu, single.A, needs_transpose(method));
    }
    bytes = there->bytes();
    auto row_there = scale_on_device<S>(gpu, row), col_there = scale_on_device<S>(gpu, col);
    return MixedSystem<Gpu, S>(method, std::move(there), std::move(row), std::move(col), std::move(row_there),
                               std::move(col_there), krylov);
}

template <Scalar S>
std::unique_ptr<Preconditioner<Gpu, single_of<S>>> between_rounded(Gpu& gpu, std::unique_ptr<Preconditioner<Gpu, S>> M,
                                                                   const SingleScales& scales, std::size_t& bytes)
{
    auto rounded = std::make_unique<BetweenRounded<S>>(gpu, std::move(M), scales);
    bytes = rounded->bytes();
    return rounded;
}

#define ILUX_INSTANTIATE(S)                                                                         \
    template MixedSystem<Gpu, S> mixed_on_gpu(Gpu&, const CsrView<S>&, const DeviceCsr<S>&, Method, \
                                              const KrylovOptions&, std::size_t&);                  \
    template std::unique_ptr<Preconditioner<Gpu, single_of<S>>>                                     \
    between_rounded(Gpu&, std::unique_ptr<Preconditioner<Gpu, S>>, const SingleScales&, std::size_t&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
