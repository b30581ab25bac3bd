#pragma once
// A coarse space P (Pᴴ A P)⁻¹ Pᴴ: it solves for what M leaves, which is smooth and near the null space of A.

#include <functional>
#include <memory>
#include <optional>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/precond/coarse_steps/basis.hpp"
#include "ilux/precond/mlilu/mlilu_options.hpp"

namespace ilux {

/// What a coarse space is made by.
struct CoarseOptions {
    Index unknowns = 0;    ///< of an aggregate; 0: those around one root
    Index most_found = 4;  ///< vectors, beside those given
    /// Coarse unknowns that are solved for exactly; usually 1500, on a GPU 3000.
    std::optional<Index> most_exact = {};
    MlIluOptions         M = {};  ///< of A's M, and near_null; the coarse matrices get an M like it
    bool positive = false;        ///< A is Hermitian with a positive diagonal, and so are the coarse matrices to be
    bool lumped = false;          ///< is_lumped() of A's M
};

/// Where the time of a coarse space goes.
struct CoarseSeconds {
    double aggregates = 0;  ///< and nodes, kinds of unknowns
    double P = 0;           ///< and its adjoint
    double A = 0;           ///< Pᴴ A P
    double M = 0;           ///< of coarse matrices
    double steps = 0;       ///< that tell how good it is
};

/// Where a coarse space is made, and who may end that.
template <Backend B>
struct CoarsePlace {
    Cpu&             host;
    B&               be;  ///< host, or a Gpu
    const StopToken& stop;
    CoarseSeconds*   seconds = nullptr;  ///< to which its own are added; or null
};

/// Makes preconditioners of one matrix, each with a workspace of its own.
template <Backend B, Scalar T>
struct MakerOfM {
    std::function<std::unique_ptr<Preconditioner<B, T>>(B& be, bool adjoinable)> make;
    std::string                                                                  by_host = {};  ///< why not by the GPU
    bool                                                                         lumped = false;  ///< is_lumped() of M
    Offset                                                                       stored = 0;      ///< values
    std::size_t                                                                  bytes = 0;
};

/// One matrix of a hierarchy: what restricts to it, and what solves with it.
template <Backend B, Scalar T>
struct CoarseLevel {
    Sparse<B, T>                       P, Ph;  ///< from here to the finer matrix, and its adjoint
    Sparse<B, T>                       A;      ///< Pᴴ A P
    MakerOfM<B, T>                     M;      ///< of A; exact up to CoarseOptions::most_exact unknowns
    std::shared_ptr<const CoarseLevel> next = {};
    bool                               positive = false;  ///< as CoarseOptions has it
    bool                               lumped = false;    ///< is_lumped() of M beside the whole space

    Offset      stored() const;  ///< values of P, A and M, here and below
    std::size_t bytes() const;
    Index       levels() const { return next ? 1 + next->levels() : 1; }
};

/// Pᴴ A P for P of aggregates and vectors, solved by an exact multilevel ILU up to options.most_exact unknowns, and
/// above by an M and a coarse space of its own. Bits do not depend on the number of threads.
/// @param parts  aggregates of the unknowns of A
/// @return null where there is none
/// @throws as MlIlu::build()
template <Backend B, Scalar T>
std::shared_ptr<const CoarseLevel<B, T>> coarse_level(const CoarsePlace<B>& at, const SparseView<B, T>& A,
                                                      const Groups<B>& parts, const NearNull<B, T>& vectors,
                                                      const CoarseOptions& options);

/// Products with a sparse matrix.
template <Backend B, Scalar T>
class SparseOperator final : public LinearOperator<B, T> {
public:
    /// @param A  must outlive this
    SparseOperator(B& be, const Sparse<B, T>& A, bool adjoinable);
    Index size() const override { return A_.rows(); }
    void  apply(B& be, ConstSpan<B, T> x, Span<B, T> y) const override;
    /// Needs an adjoinable one.
    void apply_adjoint(B& be, ConstSpan<B, T> x, Span<B, T> y) const override;

private:
    const Sparse<B, T>& A_;
    Sparse<B, T>        Ah_;
};

/// How far a correction by M goes, on both sides of a coarse space. Where M is lumped, the eigenvalues of M⁻¹A are in
/// (0, 1], most of them far below 1: 1.6 times the correction leaves less, and enlarges no error.
constexpr double step_beside_coarse(bool lumped) { return lumped ? 1.6 : 1; }

/// A correction by `step` times M⁻¹.
template <Backend B, Scalar T>
struct WeightedStep {
    Preconditioner<B, T>& M;
    double                step = 1;
};

/// One correction after another: z ← z + step M⁻¹ (r − A z), or with the adjoints of both.
template <Backend B, Scalar T>
class Corrector {
public:
    /// @param A  must outlive this  @param of_adjoint  it is the adjoint of the matrix that M is of
    explicit Corrector(const LinearOperator<B, T>& A, bool of_adjoint = false)
        : A_(A), of_adjoint_(of_adjoint), left_(A.size()), part_(A.size())
    {}
    /// z ← step M⁻¹ r
    void begin(B& be, const WeightedStep<B, T>& part, ConstSpan<B, T> r, Span<B, T> z, bool adjoint) const;
    void go_on(B& be, const WeightedStep<B, T>& part, ConstSpan<B, T> r, Span<B, T> z, bool adjoint);
    /// All three: outer, inner, outer.
    void around(B& be, const WeightedStep<B, T>& outer, const WeightedStep<B, T>& inner, ConstSpan<B, T> r,
                Span<B, T> z, bool adjoint);

private:
    const LinearOperator<B, T>& A_;
    bool                        of_adjoint_;
    Buffer<B, T>                left_, part_;
};

/// z ← P A_c⁻¹ Pᴴ r. What it holds is shared; its vectors are its own.
template <Backend B, Scalar T>
class CoarseCorrection final : public Preconditioner<B, T> {
public:
    CoarseCorrection(B& be, std::shared_ptr<const CoarseLevel<B, T>> level, bool adjoinable);
    CoarseCorrection(const CoarseCorrection&) = delete;
    Index size() const override { return level_->P.rows(); }
    void  apply(B& be, ConstSpan<B, T> r, Span<B, T> z) override { correct(be, r, z, false); }
    void  apply_adjoint(B& be, ConstSpan<B, T> r, Span<B, T> z) override { correct(be, r, z, true); }

private:
    void correct(B& be, ConstSpan<B, T> r, Span<B, T> z, bool adjoint);

    std::shared_ptr<const CoarseLevel<B, T>> level_;
    std::unique_ptr<Preconditioner<B, T>>    M_;
    std::unique_ptr<CoarseCorrection>        next_;  // and with it what a cycle needs
    std::optional<SparseOperator<B, T>>      A_;
    std::optional<Corrector<B, T>>           corrector_;
    Buffer<B, T>                             g_, y_;
};

}  // namespace ilux
