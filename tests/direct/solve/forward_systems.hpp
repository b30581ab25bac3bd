#pragma once
// Factors of several blocks with much F between them, scaled and permuted, beside those of dataflow_systems.hpp.

#include <string>
#include <utility>
#include <vector>

#include "ilux/sptrsv/gpu/renewed_system.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"

namespace ilux::test {

template <class S>
struct FactoredSystemOf {
    std::string  name;
    CsrMatrix<S> A;
    LuFactors<S> F;

    MatrixView<S> view() const { return {A.rows(), A.row_ptr(), A.col(), A.val(), MatrixLayout::rows}; }
    /// In the order of LuPattern, those of F behind the others.
    std::vector<S> values() const
    {
        std::vector<S> all(F.val.begin(), F.val.end());
        all.insert(all.end(), F.f_val.begin(), F.f_val.end());
        return all;
    }
};
using FactoredSystem = FactoredSystemOf<double>;

inline std::vector<FactoredSystem> factored_systems()
{
    std::vector<FactoredSystem> all;
    for (DataflowSystem& system : dataflow_systems())
        all.push_back({system.name,
                       CsrMatrix<double>::from_arrays(system.A.n, system.A.n, system.A.ptr, system.A.col, system.A.val),
                       std::move(system.F)});
    const std::vector<std::vector<Index>> shapes{{1, 7},
                                                 {7, 1, 1, 9},
                                                 {64, 1, 35},
                                                 std::vector<Index>(40, 1),
                                                 {3, 3, 3, 33, 1, 1, 32}};
    for (const auto& shape : shapes)
        for (const double density : {0.05, 0.3, 1.0}) {
            auto made = random_factors(shape, density, 7 * shape.size() + 1);
            all.push_back({std::to_string(shape.size()) + " blocks", to_csr(made.A), std::move(made.factors)});
        }
    return all;
}

}  // namespace ilux::test
