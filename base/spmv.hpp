#pragma once
// y ← A x and y ← Aᵀ x for a CSR matrix.

#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/operator.hpp"

namespace ilux {

/// y ← a A x + b y (b = 0 overwrites y, whatever it held). x: cols, y: rows. Threads share rows by nnz.
/// Bitwise the same for any number of threads. Cost: 2 nnz flops, 12 nnz + 8 (rows + cols) bytes at least.
template <class T>
void spmv(Cpu& be, double a, const CsrMatrix<T>& A, std::span<const double> x, double b, std::span<double> y);

/// y ← a Aᵀ x + b y, by scattering; serial and allocation-free. MatrixOperator keeps a transpose instead.
template <class T>
void spmv_transpose(Cpu& be, double a, const CsrMatrix<T>& A, std::span<const double> x, double b, std::span<double> y);

/// A CSR matrix as LinearOperator. Refers to A, which must outlive it. With `transposable` it keeps Aᵀ,
/// so apply_transpose is threaded too; otherwise apply_transpose scatters serially.
class MatrixOperator final : public LinearOperator<Cpu> {
public:
    explicit MatrixOperator(const CsrMatrix<double>& A, bool transposable = false);
    Index size() const override { return A_.rows(); }
    void  apply(Cpu& be, std::span<const double> x, std::span<double> y) const override;
    void  apply_transpose(Cpu& be, std::span<const double> x, std::span<double> y) const override;

private:
    const CsrMatrix<double>& A_;
    CsrMatrix<double>        At_;
    bool                     transposable_;
};

}  // namespace ilux
