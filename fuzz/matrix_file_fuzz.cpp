// Any bytes at all, as a file of any kind: the reader refuses them with InvalidInput, or returns a matrix that keeps
// CsrMatrix's invariant. MATLAB's files of version 7.3 are left out: what reads them is HDF5. Run: matrix_file_fuzz
// fuzz/corpus/matrix_file

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string_view>

#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_file.hpp"
#include "ilux/fuzz/matrix_checks.hpp"

namespace {

using namespace ilux;
using fuzz::expect;
using fuzz::expect_invariant;
using fuzz::refuse_large;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with("MATLAB 7.3")) return 0;
    for (const FilePart part : {FilePart::matrix, FilePart::right_sides}) try {
            const AnyMatrix any = parse_any_matrix(bytes, "fuzz", {.threads = 1, .part = part, .accept = refuse_large});
            std::visit([](const auto& A) { expect_invariant(A); }, any);
        } catch (const InvalidInput& why) {
            expect(std::string_view(why.what()).starts_with("fuzz:"), why.what());
        }
    return 0;
}
