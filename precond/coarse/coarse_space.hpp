#pragma once
// A coarse space P (Pᴴ A P)⁻¹ Pᴴ: it solves for what M leaves, which is smooth and near the null space of A.

#include <memory>
#include <string>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace ilux {

/// What a coarse space is made by.
struct CoarseOptions {
    Index        unknowns = 0;       ///< of an aggregate; 0: those around one root
    Index        most_found = 4;     ///< vectors, beside those given
    Index        most_exact = 1500;  ///< coarse unknowns that are solved for exactly
    MlIluOptions M = {};             ///< of A's M, and near_null; the coarse matrices get an M like it
};

/// One matrix of a hierarchy: what restricts to it, and what solves with it.
template <class T>
struct CoarseLevel {
    CsrMatrix<T>                       P, Ph;  ///< from here to the finer matrix, and its adjoint
    CsrMatrix<T>                       A;      ///< Pᴴ A P
    MlIlu<T>                           M;      ///< of A; exact where there is no `next`
    std::shared_ptr<const CoarseLevel> next = {};

    Offset      stored() const;  ///< values of P, A and M, here and below
    std::size_t bytes() const;
    Index       levels() const { return next ? 1 + next->levels() : 1; }
};

/// Pᴴ A P for P of aggregates and vectors, solved by an exact multilevel ILU up to options.most_exact unknowns, and
/// above by an M and a coarse space of its own. By threads; bits do not depend on their number.
/// @return null where no unknown is in an aggregate
/// @throws as MlIlu::build()
template <class T>
std::shared_ptr<const CoarseLevel<T>> coarse_level(Cpu& be, const CsrView<T>& A, const Nodes& nodes,
                                                   const NearNull<T>& vectors, const CoarseOptions& options,
                                                   const StopToken& stop);

/// One correction after another: z ← z + M⁻¹ (r − A z), or with the adjoints of both.
template <class T>
class Corrector {
public:
    /// @param A  must outlive this
    explicit Corrector(const LinearOperator<Cpu, T>& A) : A_(A), left_(A.size()), part_(A.size()) {}
    /// z ← M⁻¹ r
    void begin(Cpu& be, Preconditioner<Cpu, T>& M, std::span<const T> r, std::span<T> z, bool adjoint) const;
    void go_on(Cpu& be, Preconditioner<Cpu, T>& M, std::span<const T> r, std::span<T> z, bool adjoint);

private:
    const LinearOperator<Cpu, T>& A_;
    std::vector<T>                left_, part_;
};

/// z ← P A_c⁻¹ Pᴴ r. What it holds is shared; its vectors are its own.
template <class T>
class CoarseCorrection final : public Preconditioner<Cpu, T> {
public:
    explicit CoarseCorrection(std::shared_ptr<const CoarseLevel<T>> level);
    CoarseCorrection(const CoarseCorrection&) = delete;
    Index size() const override { return level_->P.rows(); }
    void  apply(Cpu& be, std::span<const T> r, std::span<T> z) override { correct(be, r, z, false); }
    void  apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z) override { correct(be, r, z, true); }

private:
    void correct(Cpu& be, std::span<const T> r, std::span<T> z, bool adjoint);

    std::shared_ptr<const CoarseLevel<T>> level_;
    MlIluPreconditioner<T>                M_;
    std::unique_ptr<CoarseCorrection>     next_;
    MatrixOperator<T>                     A_;
    Corrector<T>                          corrector_;
    std::vector<T>                        g_, y_;
};

}  // namespace ilux
