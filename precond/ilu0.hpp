#pragma once
// ILU(0): L U = A on the pattern of A.

#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/operator.hpp"

namespace ilux {

/// Zero fill-in, no pivoting. When it meets a zero or missing pivot it stops: `zero_pivot` is that row, otherwise −1.
class Ilu0 final : public Preconditioner<Cpu> {
public:
    explicit Ilu0(const CsrMatrix<double>& A);
    Index zero_pivot() const { return zero_pivot_; }
    Index size() const override { return LU_.rows(); }
    std::size_t bytes() const { return LU_.bytes(); }
    void  apply(Cpu& be, std::span<const double> r, std::span<double> z) override;
    void  apply_transpose(Cpu& be, std::span<const double> r, std::span<double> z) override;

private:
    CsrMatrix<double>   LU_;        // unit L strictly below, U on and above the diagonal
    std::vector<Offset> diagonal_;  // n; position of the diagonal in each row
    Index               zero_pivot_ = -1;
};

}  // namespace ilux
