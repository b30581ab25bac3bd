#include "ilux/sptrsv/gpu/forward_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/renewed_system.hpp"

namespace ilux {
namespace {

template <class V>
void check_frame(const V& values, Index n, const char* name)
{
    require(values.empty() || values.size() == static_cast<std::size_t>(n),
            [&] { return fmt::format("{} has {} entries for a system of order {}", name, values.size(), n); });
}

/// Rows first..end−1 of A without its diagonal, appended to L as row `i` with columns j → renumber(j).
template <class T>
class Rows {
public:
    using S = working_of<T>;
    explicit Rows(const CsrView<S>& A) : A_(A), n_(A.rows())
    {
        row_ptr_.reserve(n_ + std::size_t{1});
        row_ptr_.push_back(0);
        col_.reserve(A.nnz());
        val_.reserve(A.nnz());
    }

    /// Appends row i of A; returns its diagonal entry, 0 when absent.
    S append(Index i, bool backwards)
    {
        const Offset first = A_.row_ptr()[i], count = A_.row_ptr()[i + 1] - first;
        S            diagonal = 0;
        for (Offset s = 0; s < count; ++s) {
            const Offset p = backwards ? first + count - 1 - s : first + s;
            const Index  j = A_.col()[p];
            if (j == i) {
                diagonal = A_.val()[p];
                continue;
            }
            col_.push_back(backwards ? n_ - 1 - j : j);
            val_.push_back(static_cast<T>(A_.val()[p]));
        }
        row_ptr_.push_back(static_cast<Offset>(col_.size()));
        return diagonal;
    }
    CsrMatrix<T> finish()
    {
        return CsrMatrix<T>::from_sorted(n_, n_, std::move(row_ptr_), std::move(col_), std::move(val_));
    }

private:
    const CsrView<S>&   A_;
    Index               n_;
    std::vector<Offset> row_ptr_;
    std::vector<Index>  col_;
    std::vector<T>      val_;
};

}  // namespace

template <class T>
ForwardSystem<T> forward_system(const CsrView<working_of<T>>& A, Triangle triangle, Diagonal diagonal,
                                SolveFrame<working_of<T>> frame)
{
    const Index n = A.rows();
    check_triangle(A, triangle, diagonal);
    check_frame(frame.in_index, n, "in_index");
    check_frame(frame.in_scale, n, "in_scale");
    check_frame(frame.out_index, n, "out_index");
    check_frame(frame.out_scale, n, "out_scale");
    ForwardSystem<T> system;
    const bool       backwards = triangle == Triangle::upper;
    Rows<T>          rows(A);
    for (Index k = 0; k < n; ++k) {
        const working_of<T> d = rows.append(backwards ? n - 1 - k : k, backwards);
        if (diagonal == Diagonal::stored) system.inv_diag.push_back(1. / d);
    }
    system.L = rows.finish();
    if (backwards) {
        const auto identity = [n](std::vector<Index>& index) {
            index.resize(n);
            for (Index i = 0; i < n; ++i) index[i] = i;
        };
        if (frame.in_index.empty()) identity(frame.in_index);  // else reversal would lose it
        if (frame.out_index.empty()) identity(frame.out_index);
        std::reverse(frame.in_index.begin(), frame.in_index.end());
        std::reverse(frame.in_scale.begin(), frame.in_scale.end());
        std::reverse(frame.out_index.begin(), frame.out_index.end());
        std::reverse(frame.out_scale.begin(), frame.out_scale.end());
    }
    system.frame = std::move(frame);
    return system;
}

template <class T>
std::vector<Index> levels(const CsrView<T>& L)
{
    std::vector<Index> level(L.rows(), 0);
    for (Index i = 0; i < L.rows(); ++i)
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p)
            level[i] = std::max(level[i], level[L.col()[p]] + 1);
    return level;
}

template <class T>
void solve_serial(const ForwardSystem<T>& system, std::span<const working_of<T>> b, std::span<working_of<T>> out)
{
    using S = working_of<T>;
    const auto& [L, inv_diag, frame] = system;
    std::vector<S> x(L.rows());
    for (Index i = 0; i < L.rows(); ++i) {
        const Index g = frame.in_index.empty() ? i : frame.in_index[i];
        S           sum = g < 0 ? S(0) : b[g];
        if (!frame.in_scale.empty()) sum *= frame.in_scale[i];
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) sum -= static_cast<S>(L.val()[p]) * x[L.col()[p]];
        x[i] = inv_diag.empty() ? sum : sum * inv_diag[i];
    }
    for (Index i = 0; i < L.rows(); ++i) {
        const Index o = frame.out_index.empty() ? i : frame.out_index[i];
        if (o >= 0) out[o] = frame.out_scale.empty() ? x[i] : frame.out_scale[i] * x[i];
    }
}

float renewed_in_float(double value)
{
    constexpr auto one = std::bit_cast<std::uint32_t>(1.0F), minus_one = std::bit_cast<std::uint32_t>(-1.0F);
    const Offset   position = renewed_position(value);
    if (position < 0) {
        require(value == 0 || value == 1 || value == -1, [&] {
            return fmt::format("the constant {} beside renewed values in float; 0, 1 and -1 may be", value);
        });
        return static_cast<float>(value);
    }
    auto bits = static_cast<std::uint64_t>(position) + 1;
    if (bits >= one) ++bits;
    if (bits >= minus_one) ++bits;
    require(bits <= std::numeric_limits<std::uint32_t>::max(),
            [&] { return fmt::format("position {} of renewed values in float, 32 bits cannot count it", position); });
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

template <Scalar S>
ForwardSystem<S> with_values(const RenewedSystem& renewed, std::span<const NotDeduced<S>> values)
{
    const auto number = [&](double held) {
        const Offset p = renewed_position(held);
        return p < 0 ? S(held) : values[p];
    };
    const auto inverse = [&](double held) { return renewed_position(held) < 0 ? S(held) : 1. / number(held); };
    return with_numbers<S>(renewed.system, number, inverse);
}

#define ILUX_INSTANTIATE(T)                                                                       \
    template struct ForwardSystem<T>;                                                             \
    template ForwardSystem<T>   forward_system(const CsrView<working_of<T>>&, Triangle, Diagonal, \
                                               SolveFrame<working_of<T>>);                        \
    template std::vector<Index> levels(const CsrView<T>&);                                        \
    template void solve_serial(const ForwardSystem<T>&, std::span<const working_of<T>>, std::span<working_of<T>>);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

#define ILUX_INSTANTIATE(S) \
    template ForwardSystem<S> with_values<S>(const RenewedSystem&, std::span<const NotDeduced<S>>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
