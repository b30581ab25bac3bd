#include "ilux/solver/policy/setup_sample.hpp"

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/analysis/matrix_part.hpp"
#include "ilux/solver/policy/retry.hpp"

namespace ilux {

template <Scalar S>
std::optional<double> sampled_fill(const CsrView<S>& A, const MlIluOptions& options)
{
    constexpr double entries = 40'000;
    const double     a_row = std::max(1.0, double(A.nnz()) / std::max(1, A.rows()));
    const MatrixPart part({A.rows(), A.row_ptr(), A.col()}, A.rows() / 2, static_cast<Index>(entries / a_row) + 1);
    PartPattern      of_part = part.pattern(part.size());
    std::vector<S>   values;
    for (const Offset p : of_part.source) values.push_back(A.val()[p]);
    const auto n = static_cast<Index>(of_part.unknown.size());
    const auto sample =
        CsrMatrix<S>::from_sorted(n, n, std::move(of_part.row_ptr), std::move(of_part.col), std::move(values));
    MlIluOptions crout = options;
    crout.setup = MlIluSetup::crout;
    crout.near_null.reset();  // of all unknowns
    try {
        Cpu                serial(1);
        const MlIlu<S>     M = MlIlu<S>::build(serial, sample, crout);
        const MlIluReport& report = M.report();
        if (!why_hopeless(report).empty()) return std::nullopt;
        return report.fill;
    } catch (const OutOfMemory&) {
        return std::nullopt;
    }
}

#define ILUX_INSTANTIATE(S) template std::optional<double> sampled_fill(const CsrView<S>&, const MlIluOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
