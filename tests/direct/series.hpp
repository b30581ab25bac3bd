#pragma once
// Systems of one pattern whose values change, random and real, and what to measure an answer by.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

/// max_i |b − A x|_i / (|A||x| + |b|)_i in long double; 0/0 is 0; Inf where anything is not finite. 0, too, near
/// underflow, where no neighbour of any one x_j would do better.
template <class S = double>
double componentwise_error(const MatrixView<S>& A, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b,
                           bool transpose = false)
{
    using Wide = std::conditional_t<is_complex<S>, std::complex<long double>, long double>;
    std::vector<Wide>        r(b.begin(), b.end());
    std::vector<long double> scale(b.size()), slack(b.size(), std::numeric_limits<long double>::infinity());
    for (std::size_t i = 0; i < b.size(); ++i) scale[i] = std::abs(r[i]);
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p) {
            const bool  by_rows = (A.layout == MatrixLayout::rows) != transpose;
            const Index i = by_rows ? k : A.idx[p], j = by_rows ? A.idx[p] : k;
            const Wide  product = Wide(A.val[p]) * Wide(x[j]);
            r[i] -= product;
            scale[i] += std::abs(product);
            const long double step = std::nextafter(std::abs(x[j]), std::numeric_limits<double>::infinity()) -
                                     static_cast<long double>(std::abs(x[j]));
            if (A.val[p] != S(0)) slack[i] = std::min(slack[i], std::abs(Wide(A.val[p])) * step / 2);
        }
    double worst = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        const long double size = std::abs(r[i]);
        if (!std::isfinite(size) || !std::isfinite(scale[i])) return std::numeric_limits<double>::infinity();
        const bool explained = scale[i] < 0x1p-960 && std::isfinite(slack[i]) && size <= slack[i];
        if (!explained && size != 0) worst = std::max(worst, static_cast<double>(size / scale[i]));
    }
    return worst;
}

/// A matrix whose values can be moved; by rows.
struct Series {
    Series(const CsrMatrix<double>& A, std::uint64_t seed)
        : n(A.rows()),
          ptr(A.row_ptr().begin(), A.row_ptr().end()),
          idx(A.col().begin(), A.col().end()),
          val(A.val().begin(), A.val().end()),
          start(val),
          random(seed)
    {}
    MatrixView<> view() const { return {n, ptr, idx, val, MatrixLayout::rows}; }

    /// Every value moves by a factor between e^−spread and e^spread.
    void drift(double spread)
    {
        for (double& value : val) value *= std::exp(random.uniform(-spread, spread));
    }
    /// One value in eight is the first one times `factor`, the others are as they were at first.
    void toggle(double factor)
    {
        for (std::size_t p = 0; p < val.size(); ++p) val[p] = start[p] * (random.below(8) == 0 ? factor : 1);
    }

    Index               n;
    std::vector<Offset> ptr;
    std::vector<Index>  idx;
    std::vector<double> val, start;
    Random              random;
};

/// The folder `sequences` beside that of the real matrices.
inline std::filesystem::path sequence_folder() { return matrix_folder().parent_path() / "sequences"; }

/// Empty when real sequences can be read, otherwise why not.
inline std::string why_no_sequences()
{
    const std::string why = why_no_matrices();
    if (!why.empty() || std::filesystem::is_directory(sequence_folder())) return why;
    return "needs real sequences: there is no folder " + sequence_folder().string();
}

/// A sequence of real systems.
class RealSeries {
public:
    explicit RealSeries(const std::string& name)
    {
        const auto file = [&](const std::string& part) {
            const auto plain = sequence_folder() / name / part;
            if (std::filesystem::exists(plain)) return plain.string();
            const auto unpacked = folder_.file(part);
            const auto command = "zstd -dqf '" + plain.string() + ".zst' -o '" + unpacked + "'";
            require(std::system(command.c_str()) == 0, [&] { return "failed: " + command; });
            return unpacked;
        };
        const auto numbers = [&](const std::string& part) {
            const std::string   bytes = read_bytes(file(part));
            std::vector<double> all(bytes.size() / sizeof(double));
            std::copy_n(bytes.data(), all.size() * sizeof(double), reinterpret_cast<char*>(all.data()));
            return all;
        };
        pattern_ = read_matrix(file("pattern.mtx"));
        n = pattern_.rows();
        values_ = numbers("values.f64");
        rhs_ = numbers("rhs.f64");
        systems = static_cast<Index>(values_.size() / pattern_.nnz());
    }
    MatrixView<> view(Index k) const
    {
        const auto nnz = static_cast<std::size_t>(pattern_.nnz());
        return {n, pattern_.row_ptr(), pattern_.col(), std::span(values_).subspan(k * nnz, nnz), MatrixLayout::rows};
    }
    std::span<const double> rhs(Index k) const { return std::span(rhs_).subspan(static_cast<std::size_t>(k) * n, n); }

    Index n = 0, systems = 0;

private:
    TempFolder          folder_;
    CsrMatrix<double>   pattern_;
    std::vector<double> values_, rhs_;
};

}  // namespace ilux::test
