#pragma once
// Factors whose programs of dot products are of every kind: none, short and long sums, groups, blocks, duplicates.

#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/gallery/special.hpp"
#include "ilux/tests/direct/hand_analysis.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

template <class S>
struct SystemOf {
    std::string   name;
    EntriesOf<S>  A;
    LuFactors<S>  F;
    MatrixView<S> view() const { return {A.n, A.ptr, A.col, A.val, MatrixLayout::rows}; }
};
using DataflowSystem = SystemOf<double>;

inline DataflowSystem dataflow_system(std::string name, const CsrMatrix<double>& A)
{
    return {std::move(name), entries_of(A), gilbert_peierls(analyse(view(A)), A.val())};
}
/// In the order given, as one block.
inline DataflowSystem dataflow_system_as_it_stands(std::string name, const CsrMatrix<double>& A)
{
    return {std::move(name), entries_of(A), gilbert_peierls(analysed(A), A.val())};
}

/// The first row and column full: with diagonal pivots in that order everything fills.
inline CsrMatrix<double> arrow_down(Index n, std::uint64_t seed)
{
    Random              random(seed);
    std::vector<Index>  row, col;
    std::vector<double> val;
    const auto          add = [&](Index i, Index j, double v) { row.push_back(i), col.push_back(j), val.push_back(v); };
    for (Index i = 0; i + 1 < n; ++i) {
        add(i, i, 2 + random.uniform(0, 1));
        add(i, n - 1, random.uniform());
        add(n - 1, i, random.uniform());
    }
    if (n > 0) add(n - 1, n - 1, n);
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

/// Every value of `A` as two entries side by side.
inline DataflowSystem with_duplicates(const CsrMatrix<double>& A)
{
    Entries twice;
    twice.n = A.rows();
    twice.ptr = {0};
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            for (const double part : {0.25, 0.75}) {
                twice.col.push_back(A.col()[p]);
                twice.val.push_back(part * A.val()[p]);
            }
        twice.ptr.push_back(static_cast<Offset>(twice.col.size()));
    }
    auto F = gilbert_peierls(analyse({twice.n, twice.ptr, twice.col, twice.val, MatrixLayout::rows}), twice.val);
    return {"duplicates", std::move(twice), std::move(F)};
}

/// Of more than 1000 unknowns, whose last block has a dense end.
inline DataflowSystem grid_system() { return dataflow_system("grid", gallery::power_grid({.n = sanitized ? 36 : 64})); }

inline std::vector<DataflowSystem> dataflow_systems()
{
    const Index                 full = sanitized ? 70 : 150;
    std::vector<DataflowSystem> all;
    for (const Index n : {0, 1, 2, 31, 32, 33})
        all.push_back(dataflow_system("random " + std::to_string(n), random_dominant(n, 4, 7 + n)));
    all.push_back(dataflow_system_as_it_stands("full", random_dominant(full, full, 5)));
    all.push_back(dataflow_system_as_it_stands("arrow", arrow_down(9000, 3)));  // sums of sums
    all.push_back(dataflow_system_as_it_stands("short arrow", arrow_down(135, 3)));
    all.push_back(dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 6})));
    all.push_back(grid_system());
    all.push_back(dataflow_system("mesh", gallery::poisson2d(24, 19)));
    all.push_back(with_duplicates(random_dominant(60, 3, 9)));
    all.push_back(dataflow_system("blocks", CsrMatrix<double>::identity(70)));
    return all;
}

}  // namespace ilux::test
