#pragma once
// A matrix by columns, which is what most rivals take.

#include <fmt/core.h>

#include <limits>
#include <numeric>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"

namespace ilux::app {

/// @throws InvalidInput
template <class S>
void require_32_bits(const char* rival, const CsrView<S>& A)
{
    require(A.nnz() <= std::numeric_limits<int>::max(),
            [&] { return fmt::format("{}: {} entries are more than 32 bits count", rival, A.nnz()); });
}

/// Real and complex values are arrays of double to libraries in C.
template <class S>
double* doubles(S* values)
{
    return reinterpret_cast<double*>(values);
}

template <Scalar S, class Int>
struct RivalColumns {
    std::vector<Int>    ptr, row;
    std::vector<Offset> source;  ///< of an entry by columns, its place by rows
    std::vector<S>      val;

    explicit RivalColumns(const CsrView<S>& A)
    {
        std::vector<double> place(A.nnz());  // exact up to 2⁵³
        std::iota(place.begin(), place.end(), 0.0);
        const auto columns =
            transpose(CsrMatrix<double>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                     {A.col().begin(), A.col().end()}, std::move(place)));
        ptr.assign(columns.row_ptr().begin(), columns.row_ptr().end());
        row.assign(columns.col().begin(), columns.col().end());
        source.assign(columns.val().begin(), columns.val().end());
        val.resize(source.size());
        set(A.val());
    }
    void set(std::span<const S> values)
    {
        for (std::size_t p = 0; p < val.size(); ++p) val[p] = values[source[p]];
    }
    Int n() const { return static_cast<Int>(ptr.size()) - 1; }
};

}  // namespace ilux::app
