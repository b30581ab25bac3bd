// The factors of A as those of R A C in single precision: the outer scales alone see R and C.

#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/base/matrix/single.hpp"

namespace ilux {
namespace {

/// s_i / d_i, as floats are multiplied by it.
void divide(std::vector<double>& scale, std::span<const double> d)
{
    for (std::size_t i = 0; i < d.size(); ++i) scale[i] /= d[i];
    for (const double s : scale)
        require(std::isnormal(static_cast<float>(s)),
                [] { return std::string("single precision cannot hold a scale factor of the preconditioner"); });
}

template <Scalar T>
MlIluLevel<single_of<T>> level_in_single(const MlIluLevel<T>& level, const SingleScales& scales)
{
    MlIluLevel<single_of<T>> single;
    single.n = level.n;
    single.nB = level.nB;
    single.p = level.p;
    single.q = level.q;
    single.row_scale = level.row_scale;
    single.col_scale = level.col_scale;
    divide(single.row_scale, scales.row);
    divide(single.col_scale, scales.col);
    single.L_B = in_single<T>(level.L_B);
    single.U_B = in_single<T>(level.U_B);
    single.d_inv = in_single<T>(level.d_inv);
    single.keep = level.keep;
    single.half = level.half;
    single.lower = in_single<T>(level.lower);
    single.upper = in_single<T>(level.upper);
    return single;
}

}  // namespace

template <Scalar T>
MlIlu<single_of<T>> MlIlu<T>::in_single(const SingleScales& scales) const
{
    using Single = single_of<T>;
    const auto made = std::make_shared<MlIluFactors<Single>>();
    made->n = factors_->n;
    for (const auto& level : factors_->levels)
        made->levels.push_back(level_in_single<T>(level, made->levels.empty() ? scales : SingleScales{}));
    made->dense = DenseLevel<Single>(factors_->dense, made->levels.empty() ? scales : SingleScales{});
    std::vector<MlIluLevelPlans<Single>> plans;
    std::size_t                          bytes = made->dense.bytes();
    for (const auto& level : made->levels) {
        plans.push_back(plans_of<Single>(level, made));
        bytes += bytes_of<Single>(level, plans.back());
    }
    made->report = report();
    made->report.bytes = bytes;
    MlIlu<Single> mlilu;
    mlilu.factors_ = made;
    mlilu.host_plans_ = std::make_shared<const std::vector<MlIluLevelPlans<Single>>>(std::move(plans));
    return mlilu;
}

template MlIlu<float>               MlIlu<double>::in_single(const SingleScales&) const;
template MlIlu<std::complex<float>> MlIlu<std::complex<double>>::in_single(const SingleScales&) const;

}  // namespace ilux
