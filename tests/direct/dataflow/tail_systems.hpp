#pragma once
// Systems with dense ends of many sizes, and their programs.

#include <algorithm>
#include <vector>

#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"

namespace ilux::test {

inline std::vector<DataflowSystem> tail_systems()
{
    std::vector<DataflowSystem> all = dataflow_systems();
    all.push_back(dataflow_system_as_it_stands("larger than a tail", random_dominant(190, 190, 21)));
    all.push_back(
        dataflow_system_as_it_stands("tridiagonal", gallery::tridiagonal({.n = 200})));  // few entries are there
    return all;
}

/// At the end of the largest block, as far as it has so many columns; of large systems only the largest.
inline std::vector<TailColumns> forced_tails(const LuPattern& P)
{
    Index first = 0, last = 0;
    for (Index b = 0; b < P.blocks(); ++b)
        if (P.block_ptr[b + 1] - P.block_ptr[b] > last - first) first = P.block_ptr[b], last = P.block_ptr[b + 1];
    std::vector<TailColumns> tails;
    if (P.n <= 1000) tails.push_back({});
    for (const Index size : {1, 2, 31, 32, 33, 64, 160})
        if (size <= last - first && (P.n <= 1000 || size == 160)) tails.push_back({last - size, size});
    return tails;
}

/// The dataflow of a system, and the rest.
struct TailProgram {
    TailProgram(const LuPattern& pattern, TailColumns columns)
        : dataflow(factor_dataflow(pattern, columns)), tail(dense_tail(pattern, columns, dataflow.slot_of))
    {}
    std::vector<double> run(std::span<const double> values) const
    {
        std::vector<double> v(dataflow.slots());
        run_serial(dataflow, values, nullptr, v);
        run_tail_serial(tail, v);
        return v;
    }

    DataflowProgram dataflow;
    DenseTail       tail;
};

/// L + U in the order of the pattern.
inline std::vector<double> values_of(const LuPattern& P, const DataflowProgram& dataflow, std::span<const double> v)
{
    std::vector<double> val(static_cast<std::size_t>(P.nnz()));
    for (std::size_t p = 0; p < val.size(); ++p) val[p] = v[dataflow.slot_of[p]];
    return val;
}

}  // namespace ilux::test
