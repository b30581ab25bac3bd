#pragma once
// ILU(0): L U = A on the pattern of A.

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/matrix/single.hpp"
#include "ilux/sptrsv/sptrsv.hpp"

namespace ilux {

/// Zero fill-in, no pivoting, rows in the order given [meijerink_vorst_77]. When it meets a zero or missing pivot it
/// stops: zero_pivot() is that row, and apply() must not be called; otherwise −1. Cost: Σ_i Σ_{k<i} nnz(u_k).
template <Scalar T = double>
class Ilu0 final : public Preconditioner<Cpu, T> {
public:
    explicit Ilu0(const CsrView<T>& A);
    /// That of R A C in single precision. Needs one without a zero pivot. @throws InvalidInput where a value is out of
    /// the range of float
    template <class Wide>
    Ilu0(const Ilu0<Wide>& wide, const SingleScales& scales);
    Index             zero_pivot() const { return zero_pivot_; }
    Index             size() const override { return n_; }
    Offset            nnz() const { return L_.matrix().nnz() + U_.matrix().nnz(); }
    std::size_t       bytes() const { return L_.bytes() + U_.bytes(); }
    const CsrView<T>& L() const { return L_.matrix(); }  ///< without its diagonal of ones
    const CsrView<T>& U() const { return U_.matrix(); }  ///< with its diagonal
    void              apply(Cpu& be, std::span<const T> r, std::span<T> z) override;
    void              apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z) override;

private:
    Index            n_ = 0;
    Index            zero_pivot_ = -1;
    SpTrsvPlan<T, T> L_, U_;  // unit, and with its diagonal
};

}  // namespace ilux
