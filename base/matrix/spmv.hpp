#pragma once
// y ← A x, y ← Aᵀ x and y ← Aᴴ x for a CSR matrix.

#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/operator.hpp"

namespace ilux {

/// y ← a A x + b y (b = 0 overwrites y, whatever it held). x: cols, y: rows. Threads share rows by nnz.
/// Bitwise the same for any number of threads. Cost: 2 nnz flops, 12 nnz + 8 (rows + cols) bytes at least.
template <class T, class S = working_of<T>>
void spmv(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
          std::span<NotDeduced<S>> y);

/// y ← a Aᵀ x + b y, by scattering; serial and allocation-free. MatrixOperator keeps another matrix instead.
template <class T, class S = working_of<T>>
void spmv_transpose(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
                    std::span<NotDeduced<S>> y);
/// y ← a Aᴴ x + b y, likewise.
template <class T, class S = working_of<T>>
void spmv_adjoint(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
                  std::span<NotDeduced<S>> y);

/// A CSR matrix as LinearOperator. Looks at A's arrays, which must outlive it. With `adjoinable` it keeps Aᴴ,
/// so apply_adjoint is threaded too; otherwise apply_adjoint scatters serially.
template <class S = double>
class MatrixOperator final : public LinearOperator<Cpu, S> {
public:
    explicit MatrixOperator(const CsrView<S>& A, bool adjoinable = false);
    Index size() const override { return A_.rows(); }
    void  apply(Cpu& be, std::span<const S> x, std::span<S> y) const override;
    void  apply_adjoint(Cpu& be, std::span<const S> x, std::span<S> y) const override;

private:
    CsrView<S>   A_;
    CsrMatrix<S> Ah_;
    bool         adjoinable_;
};

}  // namespace ilux
