// A large matrix transposed by threads.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {
namespace {

constexpr Offset worth_threads = 100'000;  // entries
constexpr int    most_chunks = 16;         // each counts every column

/// work(c) for every chunk, side by side.
template <class Work>
void for_chunks(Cpu& be, int chunks, Work&& work)
{
    RegionFailure failure;
#pragma omp parallel for schedule(static, 1) num_threads(be.team(chunks > 1))
    for (int c = 0; c < chunks; ++c) failure.run([&] { work(c); });
    failure.rethrow();
}

}  // namespace

/// Every chunk of rows counts its entries of each column, so that it knows where they go: behind those of the chunks before.
template <class T>
CsrMatrix<T> transpose(Cpu& be, const CsrView<T>& A)
{
    const int chunks = A.nnz() < worth_threads ? 1 : std::min(be.threads(), most_chunks);
    if (chunks == 1) return transpose(A);
    const auto rows_from = [&](int c) { return static_cast<Index>(Offset{A.rows()} * c / chunks); };
    const auto cols_from = [&](int c) { return static_cast<Index>(Offset{A.cols()} * c / chunks); };

    std::vector<std::vector<Index>> place(chunks);  // of the next entry of each column, within the column
    for_chunks(be, chunks, [&](int c) {
        place[c].assign(A.cols(), 0);
        for (Offset p = A.row_ptr()[rows_from(c)]; p < A.row_ptr()[rows_from(c + 1)]; ++p) ++place[c][A.col()[p]];
    });
    std::vector<Offset> row_ptr(static_cast<std::size_t>(A.cols()) + 1, 0);
    for_chunks(be, chunks, [&](int part) {
        for (Index j = cols_from(part); j < cols_from(part + 1); ++j) {
            Index before = 0;
            for (auto& of_chunk : place) before += std::exchange(of_chunk[j], before);
            row_ptr[j + 1] = before;
        }
    });
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Index> col(A.nnz());
    std::vector<T>     val(A.nnz());
    for_chunks(be, chunks, [&](int c) {
        for (Index i = rows_from(c); i < rows_from(c + 1); ++i)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                const Index  j = A.col()[p];
                const Offset q = row_ptr[j] + place[c][j]++;
                col[q] = i;
                val[q] = A.val()[p];
            }
    });
    return CsrMatrix<T>::from_sorted(A.cols(), A.rows(), std::move(row_ptr), std::move(col), std::move(val));
}

#define ILUX_INSTANTIATE(T) template CsrMatrix<T> transpose(Cpu&, const CsrView<T>&);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
