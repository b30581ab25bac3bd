// Matrices that the library makes or reads.

#include <memory>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/c_api/guard.hpp"
#include "ilux/c_api/ilux.h"
#include "ilux/gallery/gallery.hpp"

using namespace ilux;
using ilux::c_api::guarded;
using ilux::c_api::message_of_thread;

struct ilux_matrix {
    AnyMatrix A;
};

namespace {

template <class Make>
int made(const char* what, ilux_matrix** matrix, Make&& make) noexcept
{
    if (matrix) *matrix = nullptr;
    return guarded(message_of_thread(), [&] {
        require(what && matrix, [] { return "an argument is NULL"; });
        *matrix = std::make_unique<ilux_matrix>(make()).release();
        return ILUX_OK;
    });
}

}  // namespace

int ilux_gallery(const char* spec, ilux_matrix** matrix)
{
    return made(spec, matrix, [&] { return ilux_matrix{gallery::build_any(spec)}; });
}

int ilux_read(const char* path, ilux_matrix** matrix)
{
    return made(path, matrix, [&] { return ilux_matrix{read_any_matrix(path)}; });
}

void ilux_matrix_free(ilux_matrix* matrix) { delete matrix; }

int ilux_matrix_values(const ilux_matrix* matrix)
{
    return matrix && matrix->A.index() == 1 ? ILUX_COMPLEX : ILUX_REAL;
}

int ilux_matrix_csr(const ilux_matrix* matrix, ilux_csr* csr)
{
    return guarded(message_of_thread(), [&] {
        require(matrix && csr, [] { return "an argument is NULL"; });
        std::visit(
            [&](const auto& A) {
                require(A.rows() == A.cols(), [] { return "the matrix is not square"; });
                *csr = {.n = A.rows(),
                        .row_ptr = A.row_ptr().data(),
                        .row_ptr_bits = 64,
                        .memory = ILUX_HOST,
                        .col = A.col().data(),
                        .values = A.val().data()};
            },
            matrix->A);
        return ILUX_OK;
    });
}

const char* ilux_last_error(void) { return message_of_thread().text(); }
