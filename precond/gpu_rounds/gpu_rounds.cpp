#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/assemble.hpp"
#include "ilux/precond/gpu_rounds/rounds_builder.hpp"
#include "ilux/base/matrix/single.hpp"

namespace ilux {
namespace {

/// One of M⁻¹ and M⁻ᴴ with the workspace of one stream.
template <class T>
struct Applied {
    Applied(Gpu& gpu, std::shared_ptr<const RoundsFactors<T>> f, int columns = 1)
        : factors(std::move(f)), workspace(gpu, *factors, columns)
    {}
    std::shared_ptr<const RoundsFactors<T>> factors;
    RoundsWorkspace<T>                      workspace;
};

template <class T>
class RoundsPreconditioner final : public Preconditioner<Gpu, working_of<T>> {
public:
    using S = working_of<T>;

    RoundsPreconditioner(Gpu& gpu, const std::shared_ptr<const RoundsFactors<T>>& factors, bool adjoinable)
        : M_(gpu, factors)
    {
        if (adjoinable) Mh_.emplace(gpu, std::make_shared<const RoundsFactors<T>>(rounds::adjoint(gpu, *factors)));
    }
    Index size() const override { return M_.factors->n; }
    void  apply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override { apply(be, M_, r, z); }
    void  apply_adjoint(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override
    {
        require(Mh_.has_value(), [] { return std::string("this preconditioner was made without its adjoint"); });
        apply(be, *Mh_, r, z);
    }
    void apply_columns(Gpu& be, DeviceSpan<const S> R, DeviceSpan<S> Z) override
    {
        const std::size_t together = static_cast<std::size_t>(size()) * rounds_columns;
        (void)this->columns_of(R.size(), Z.size());
        if (together == 0) return;
        if (!of_columns_ && R.size() >= together) of_columns_.emplace(be, M_.factors, rounds_columns);
        std::size_t begin = 0;
        for (; R.size() - begin >= together; begin += together)
            of_columns_->workspace.apply(be, R.subspan(begin, together), Z.subspan(begin, together));
        const std::size_t left = R.size() - begin;
        Preconditioner<Gpu, S>::apply_columns(be, R.subspan(begin, left), Z.subspan(begin, left));
    }

private:
    void apply(Gpu& be, Applied<T>& applied, DeviceSpan<const S> r, DeviceSpan<S> z)
    {
        require(r.size() == static_cast<std::size_t>(size()) && z.size() == r.size(), [&] {
            return fmt::format("r has {} values and z {}; the preconditioner is of order {}", r.size(), z.size(),
                               size());
        });
        applied.workspace.apply(be, r, z);
    }

    Applied<T>                M_;
    std::optional<Applied<T>> Mh_;
    std::optional<Applied<T>> of_columns_;  // rounds_columns at a time
};

/// The factors' scales divided by those of SingleScales, which are in the order of r and z.
template <class T>
std::shared_ptr<const RoundsScales> divided_scales(Gpu& gpu, const RoundsFactors<T>& f, const SingleScales& scales)
{
    if (scales.row.empty()) return nullptr;
    const auto n = static_cast<std::size_t>(f.n);
    const auto divide = [&](const DeviceBuffer<double>& scale, const DeviceBuffer<Index>& places,
                            std::span<const double> by) {
        std::vector<Index> number(n);
        download<Index>(gpu, places, std::span(number));
        std::vector<double> on_host(n);
        download<double>(gpu, scale, std::span(on_host));
        for (std::size_t i = 0; i < n; ++i) on_host[i] /= by[number[i]];
        DeviceBuffer<double> result(n);
        upload<double>(gpu, on_host, result);
        return result;
    };
    return std::make_shared<const RoundsScales>(
        RoundsScales{divide(f.row_scale, *f.number, scales.row), divide(f.col_scale, *f.column, scales.col)});
}

/// One of M⁻¹ and M⁻ᴴ of R A C, in single precision throughout.
template <class T>
struct AppliedInSingle {
    AppliedInSingle(Gpu& gpu, std::shared_ptr<const RoundsFactors<T>> f, const SingleScales& by)
        : factors(std::move(f)), scales(divided_scales(gpu, *factors, by)), workspace(gpu, *factors, 1, scales.get())
    {}
    std::shared_ptr<const RoundsFactors<T>> factors;
    std::shared_ptr<const RoundsScales>     scales;  // null: those of the factors
    RoundsWorkspace<T, T>                   workspace;
};

template <class T>
class SingleRoundsPreconditioner final : public Preconditioner<Gpu, T> {
public:
    SingleRoundsPreconditioner(Gpu& gpu, const std::shared_ptr<const RoundsFactors<T>>& factors,
                               const SingleScales& scales, bool adjoinable)
        : M_(gpu, factors, scales)
    {
        if (adjoinable)
            Mh_.emplace(gpu, std::make_shared<const RoundsFactors<T>>(rounds::adjoint(gpu, *factors)),
                        SingleScales{scales.col, scales.row});
    }
    Index size() const override { return M_.factors->n; }
    void  apply(Gpu& be, DeviceSpan<const T> r, DeviceSpan<T> z) override { M_.workspace.apply(be, r, z); }
    void  apply_adjoint(Gpu& be, DeviceSpan<const T> r, DeviceSpan<T> z) override
    {
        require(Mh_.has_value(), [] { return std::string("this preconditioner was made without its adjoint"); });
        Mh_->workspace.apply(be, r, z);
    }

private:
    AppliedInSingle<T>                M_;
    std::optional<AppliedInSingle<T>> Mh_;
};

template <Scalar S>
void require_buildable(const DeviceCsr<S>& A, const MlIluOptions& options)
{
    require(A.rows() == A.cols(), [&] {
        return fmt::format("a preconditioner needs a square matrix; this one is {} x {}", A.rows(), A.cols());
    });
    validate(options);
}

}  // namespace

template <Scalar S>
GpuRounds<S> GpuRounds<S>::build(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options, bool in_single,
                                 const ProgressListener& on_progress, const StopToken& stop)
{
    require_buildable(A, options);
    return GpuRoundsBuilder<S>(cpu, gpu, A, options, on_progress, stop).run(in_single);
}

template <Scalar S>
GpuRounds<S> GpuRounds<S>::rebuild(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options,
                                   bool in_single, const GpuRoundsPlan& plan, const ProgressListener& on_progress,
                                   const StopToken& stop)
{
    require_buildable(A, options);
    require(plan.order != nullptr, [] { return std::string("a plan without an order"); });
    const auto n = static_cast<Index>(plan.order->size());
    require(n == A.rows(),
            [&] { return fmt::format("rounds of a matrix with {} rows do not serve one with {}", n, A.rows()); });
    if (plan.levels.empty()) return build(cpu, gpu, A, options, in_single, on_progress, stop);  // a dense end alone
    std::string why_not = plan.matched ? "they are behind a matching, which is found anew" : "";
    MlIluReport given_up;
    if (why_not.empty()) try {
            GpuRounds replayed = GpuRoundsBuilder<S>(cpu, gpu, A, options, on_progress, stop, &plan).run(in_single);
            if (replayed.made()) return replayed;
            why_not = replayed.why_not();
            given_up = replayed.report();
        } catch (const InvalidInput& error) {  // such as factors by which new numbers overflow
            why_not = error.what();
        }
    GpuRoundsBuilder<S> anew(cpu, gpu, A, options, on_progress, stop);
    anew.note(fmt::format("rounds of an earlier matrix do not serve again: {}", why_not), given_up);
    return anew.run(in_single);
}

template <Scalar S>
std::size_t GpuRounds<S>::bytes() const
{
    return in_double_ ? in_double_->bytes() : in_single_ ? in_single_->bytes() : 0;
}

template <Scalar S>
std::size_t GpuRounds<S>::most_bytes(bool adjoinable) const
{
    if (!adjoinable) return bytes();
    constexpr std::size_t scratch = 32;  // of an entry, while L or U is sorted
    Offset                entries = 0;
    for (const auto& level : report_.levels)
        if (level.rounds > 0) entries += std::max(level.nnz_L, level.nnz_U);
    return 2 * bytes() + scratch * static_cast<std::size_t>(entries);
}

template <Scalar S>
Index GpuRounds<S>::rounds() const
{
    Index sum = 0;
    for (const auto& level : report_.levels) sum += level.rounds;
    return sum;
}

template <Scalar S>
Index GpuRounds<S>::dense_order() const
{
    return report_.dense ? report_.levels.back().n : 0;
}

template <Scalar S>
std::size_t GpuRounds<S>::workspace_bytes() const
{
    return (static_cast<std::size_t>(n_) + static_cast<std::size_t>(dense_order())) * sizeof(S);
}

template <Scalar S>
std::vector<GpuFactorReport::System> GpuRounds<S>::systems(bool adjoinable) const
{
    Offset nnz_L = 0, nnz_U = 0;
    for (const auto& level : report_.levels)
        if (level.rounds > 0) nnz_L += level.nnz_L, nnz_U += level.nnz_U;
    const auto system = [&](Offset nnz) {
        return GpuFactorReport::System{{.n = n_, .depth = rounds() + (dense_order() > 0), .nnz = nnz},
                                       GpuSpTrsvEngine::level_graph};
    };
    std::vector systems{system(nnz_L), system(nnz_U)};
    if (adjoinable) systems.insert(systems.end(), {system(nnz_U), system(nnz_L)});
    return systems;
}

template <Scalar S>
std::unique_ptr<Preconditioner<Gpu, S>> GpuRounds<S>::preconditioner(Gpu& gpu, bool adjoinable) const
{
    ILUX_ASSERT(made());
    if (in_double_) return std::make_unique<RoundsPreconditioner<S>>(gpu, in_double_, adjoinable);
    return std::make_unique<RoundsPreconditioner<Single>>(gpu, in_single_, adjoinable);
}

template <Scalar S>
auto GpuRounds<S>::preconditioner_in_single(Gpu& gpu, const SingleScales& scales, bool adjoinable) const
    -> std::unique_ptr<Preconditioner<Gpu, Single>>
{
    ILUX_ASSERT(made() && in_single());
    return std::make_unique<SingleRoundsPreconditioner<Single>>(gpu, in_single_, scales, adjoinable);
}

#define ILUX_INSTANTIATE(S) template class GpuRounds<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
