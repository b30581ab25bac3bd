// Any bytes at all, as a file of any kind: the reader refuses them with InvalidInput, or returns a matrix that keeps CsrMatrix's
// invariant. MATLAB's files are left out: what reads them is matio.
// Run: matrix_file_fuzz fuzz/corpus/matrix_file

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string_view>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/fuzz/expect.hpp"

namespace {

using namespace ilux;
using fuzz::expect;

/// A short text can name some 10⁷ empty rows, which take this build 10 s and more.
void refuse_large(const MatrixMarketHeader& header)
{
    if (std::max(header.rows, header.cols) > 1'000'000) throw InvalidInput("fuzz: too large");
}

template <Scalar T>
void expect_invariant(const CsrMatrix<T>& A)
{
    const auto row_ptr = A.row_ptr();
    expect(std::ssize(row_ptr) == Offset{A.rows()} + 1 && row_ptr.front() == 0, "row pointers");
    expect(row_ptr.back() == std::ssize(A.col()) && A.col().size() == A.val().size(), "lengths");
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            expect(A.col()[p] >= 0 && A.col()[p] < A.cols() && is_finite(A.val()[p]), "an entry");
            expect(p == row_ptr[i] || A.col()[p - 1] < A.col()[p], "order of a row");
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with("MATLAB")) return 0;
    for (const FilePart part : {FilePart::matrix, FilePart::right_sides}) try {
            const AnyMatrix any = parse_any_matrix(bytes, "fuzz", {.threads = 1, .part = part, .accept = refuse_large});
            std::visit([](const auto& A) { expect_invariant(A); }, any);
        } catch (const InvalidInput& why) {
            expect(std::string_view(why.what()).starts_with("fuzz:"), why.what());
        }
    return 0;
}
