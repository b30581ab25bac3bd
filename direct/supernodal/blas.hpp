#pragma once
// The dense operations of fronts, by whichever BLAS this machine has: it is opened by the first use, so that programs
// without supernodes neither need one nor start its threads. Matrices are stored by columns.

#include <complex>
#include <string>

#include "ilux/base/types.hpp"

namespace ilux::blas {

/// op(A) of a triangular or general matrix.
enum class Op : char { none = 'N', transposed = 'T', adjoint = 'C' };
/// Which half of a triangular matrix is read.
enum class Triangle : char { lower = 'L', upper = 'U' };
/// Whether its diagonal is ones, or what is stored.
enum class Diagonal : char { unit = 'U', stored = 'N' };

/// Why there is none: no library of that kind, or no memory for it. "": there is one.
std::string why_none();

/// C ← C − op(A) B; op(A) is m × k, B k × n.
void multiply_subtract(Op op, Index m, Index n, Index k, const double* A, Index lda, const double* B, Index ldb,
                       double* C, Index ldc);
void multiply_subtract(Op op, Index m, Index n, Index k, const std::complex<double>* A, Index lda,
                       const std::complex<double>* B, Index ldb, std::complex<double>* C, Index ldc);

/// B ← op(A)⁻¹ B; A is m × m, B m × n.
void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const double* A, Index lda,
                    double* B, Index ldb);
void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const std::complex<double>* A,
                    Index lda, std::complex<double>* B, Index ldb);

/// While one exists, calls above are each on the thread that makes them, where the library can be told so (OpenBLAS,
/// MKL, BLIS): threads are shared out by the fronts' tasks. The former number of the library's threads, a setting of
/// the process, comes back with the last one.
class OneThread {
public:
    /// @param callers  threads that are going to call  @throws InvalidInput with why_none(); OutOfMemory where there is
    /// none for their buffers
    explicit OneThread(int callers);
    ~OneThread();
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;
};

}  // namespace ilux::blas
