// Any bytes at all: the reader refuses them with InvalidInput, or returns a matrix that keeps CsrMatrix's invariant and
// that survives being written and read again, bit for bit (as a triangle, but for the sign of zeros).
// Run: matrix_market_fuzz fuzz/corpus/matrix_market

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/fuzz/matrix_checks.hpp"

namespace {

using namespace ilux;
using fuzz::expect;
using fuzz::expect_invariant;
using fuzz::refuse_large;

template <Scalar T>
void expect_same_pattern(const CsrMatrix<T>& A, const CsrMatrix<T>& B)
{
    expect(A.rows() == B.rows() && A.cols() == B.cols() && std::ranges::equal(A.row_ptr(), B.row_ptr()));
    expect(std::ranges::equal(A.col(), B.col()));
}

template <Scalar T>
void expect_identical(const CsrMatrix<T>& A, const CsrMatrix<T>& B)
{
    using Bits = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
    const auto bits = [](T value) { return std::bit_cast<Bits>(value); };
    expect_same_pattern(A, B);
    expect(std::ranges::equal(A.val(), B.val(), {}, bits, bits));
}

/// But for the sign of zeros, by which the triangles of a symmetric matrix may differ.
template <Scalar T>
void expect_equal(const CsrMatrix<T>& A, const CsrMatrix<T>& B)
{
    expect_same_pattern(A, B);
    expect(std::ranges::equal(A.val(), B.val()));
}

template <Scalar T>
void check_as(std::string_view text)
{
    MatrixMarket<T> file;
    try {
        file = parse_matrix_market<T>(text, "fuzz", {.threads = 1, .accept = refuse_large});
    } catch (const InvalidInput& why) {
        expect(std::string_view(why.what()).starts_with("fuzz:"));
        return;
    }
    expect_invariant(file.A);
    expect(file.duplicates >= 0 && file.header.entries >= 0);
    expect_identical(parse_matrix<T>(matrix_text(file.A), "written", {.threads = 1}), file.A);
    const auto survives_as = [&](Symmetry symmetry) {
        const std::string triangle = matrix_text(file.A, {.symmetry = symmetry});
        expect_equal(parse_matrix<T>(triangle, "triangle", {.threads = 1}), file.A);
    };
    if (is_symmetric(file.A)) survives_as(Symmetry::symmetric);
    if (is_hermitian(file.A)) survives_as(Symmetry::hermitian);
    else expect(file.header.symmetry != Symmetry::hermitian);
}

void check(std::string_view text)
{
    check_as<double>(text);
    check_as<std::complex<double>>(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check(bytes);
    try {
        check(unpack_gzip(bytes, "fuzz"));
    } catch (const InvalidInput&) {  // not gzip data: most inputs
    }
    return 0;
}
