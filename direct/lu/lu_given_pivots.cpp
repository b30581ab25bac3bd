// Pivots that come from elsewhere.

#include <fmt/format.h>

#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/lu.hpp"

namespace ilux {

template <Scalar S>
void Lu<S>::take_pivots(std::shared_ptr<const LuPattern> pattern, double growth)
{
    const LuPattern& P = *pattern;
    require(P.n == symbolic_->n && static_cast<Offset>(P.in_source.size()) == symbolic_->input_nnz, [&] {
        return fmt::format("pivots of order {} for {} entries where {} and {} were analysed", P.n, P.in_source.size(),
                           symbolic_->n, symbolic_->input_nnz);
    });
    const auto   nnz = static_cast<std::size_t>(P.nnz()), nnz_F = static_cast<std::size_t>(P.nnz_F());
    LuFactors<S> none{symbolic_, std::move(pattern), LuValues<S>(nnz), std::vector<S>(nnz_F), {}};
    keep({typename LuNumbers<S>::Factors(std::move(none)), growth});
    outcome_.reset();
}

#define ILUX_INSTANTIATE(S) template void Lu<S>::take_pivots(std::shared_ptr<const LuPattern>, double);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
