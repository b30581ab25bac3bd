#pragma once
// One Krylov method on A x = b where B computes: A, M and vectors, in double or in mixed precision.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/matrix/single.hpp"
#include "ilux/krylov/null_space.hpp"
#include "ilux/krylov/refinement.hpp"

namespace ilux {

/// What krylov.precision=mixed has beside A in double: R A C and its M in single precision, and what corrects x.
/// @tparam S  of A, b and x
template <Backend B, Scalar S = double>
class MixedSystem {
    using Single = single_of<S>;

public:
    /// @param A  R A C  @param row, col  the diagonals R and C, or none: ones; `row_there` and `col_there` the same
    /// where B computes
    MixedSystem(Method method, std::unique_ptr<LinearOperator<B, Single>> A, std::vector<double> row,
                std::vector<double> col, Buffer<B, S> row_there, Buffer<B, S> col_there, const KrylovOptions& krylov);

    SingleScales scales() const { return {row_, col_}; }
    /// @param M  of R A C
    void        set_M(std::unique_ptr<Preconditioner<B, Single>> M) { M_ = std::move(M); }
    std::size_t bytes() const;  ///< of vectors

    /// Solves A x = b, or D A x = D b with A so scaled. @param D_inverse  n powers of two, or none
    IterationReport solve(B& be, const LinearOperator<B, S>& A, ConstSpan<B, S> D_inverse, ConstSpan<B, S> b,
                          Span<B, S> x, const KrylovOptions& krylov, const ProgressListener& on_progress,
                          const StopToken& stop);
    void            apply(B& be, ConstSpan<B, S> r, Span<B, S> z);  ///< z ← M⁻¹ r

private:
    SingleSystem<B, S> system(ConstSpan<B, S> row_scale) { return {*A_, *M_, row_scale, col_there_}; }

    std::vector<double>                        row_, col_;
    Buffer<B, S>                               row_there_, col_there_;
    std::unique_ptr<LinearOperator<B, Single>> A_;
    std::unique_ptr<Preconditioner<B, Single>> M_;
    RefinementWorkspace<B, S>                  workspace_;
};

/// How an x that an iteration found is corrected by further ones, and its error estimated.
template <Backend B, Scalar S = double>
class Correction {
public:
    virtual ~Correction() = default;
    virtual void apply(ConstSpan<B, S> r, Span<B, S> z) = 0;  ///< z ← M⁻¹ r
    /// Solves D A x = b, preconditioned by D M, for a diagonal D. @param inverse  of D  @param x  the guess, then the
    /// solution
    virtual IterationReport solve(ConstSpan<B, S> D, ConstSpan<B, S> inverse, ConstSpan<B, S> b, Span<B, S> x,
                                  const KrylovOptions& krylov, const StopToken& stop) = 0;
};

/// A, M and the vectors of one method. Nothing is allocated by a solve, but for rows that are scaled.
template <Backend B, Scalar S = double>
class KrylovSystem final : public Correction<B, S> {
public:
    /// @param A  must outlive this, as `be` must
    KrylovSystem(B& be, Method method, const LinearOperator<B, S>& A, const KrylovOptions& krylov)
        : be_(be), method_(method), A_(A), workspace_(std::in_place, method, A.size(), krylov)
    {}
    /// Makes a system that iterates in mixed precision.
    KrylovSystem(B& be, Method method, const LinearOperator<B, S>& A, MixedSystem<B, S> mixed)
        : be_(be), method_(method), A_(A), mixed_(std::move(mixed))
    {}

    Method             method() const { return method_; }
    MixedSystem<B, S>* mixed() { return mixed_ ? &*mixed_ : nullptr; }
    std::size_t        bytes() const { return mixed_ ? mixed_->bytes() : workspace_->bytes(); }  ///< of vectors

    /// M, in double; what is put later may refer to what was put before.
    void put(std::unique_ptr<Preconditioner<B, S>> M);
    void refer_to(Preconditioner<B, S>& M) { M_ = &M; }
    /// M is kept clear of vectors. @param columns  where B computes
    void project(const NullSpace<S>& null_space, Buffer<B, S> columns);
    /// The system is with Aᴴ, and M was put for A.
    void apply_adjoint_of_M() { put(std::make_unique<AdjointPreconditioner<B, S>>(*M_)); }
    void drop_M();

    IterationReport solve(ConstSpan<B, S> b, Span<B, S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress, const StopToken& stop);
    IterationReport solve(ConstSpan<B, S> D, ConstSpan<B, S> inverse, ConstSpan<B, S> b, Span<B, S> x,
                          const KrylovOptions& krylov, const StopToken& stop) override;
    void            apply(ConstSpan<B, S> r, Span<B, S> z) override;

private:
    B&                                                 be_;
    Method                                             method_;
    const LinearOperator<B, S>&                        A_;
    std::optional<KrylovWorkspace<B, S>>               workspace_;
    std::optional<MixedSystem<B, S>>                   mixed_;  // in place of M_ and workspace_
    std::vector<std::unique_ptr<Preconditioner<B, S>>> made_;
    Preconditioner<B, S>*                              M_ = nullptr;
};

}  // namespace ilux
