#pragma once
// Vectors that a singular A takes to 0, and an iteration that stays clear of them.

#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/operator.hpp"

namespace ilux {

/// N, orthonormal, with A N = 0. Immutable.
template <Scalar S = double>
class NullSpace {
public:
    /// @param columns  count·n, one vector after another
    /// @throws InvalidInput naming the vector that is 0, depends on those before it, or that A does not take to 0
    static NullSpace of_vectors(const CsrView<S>& A, std::span<const S> columns, Index count);
    /// The constant of each part of A that A takes to 0; parts are what no entry but 0 connects. Each is a vector of n
    /// numbers.
    /// @throws InvalidInput where there is none
    static NullSpace of_constants(const CsrView<S>& A);

    Index              size() const { return n_; }
    Index              count() const { return count_; }
    std::span<const S> columns() const { return columns_; }  ///< count·n
    /// Whether Aᴴ N = 0, too: then A x = b has a solution for every b without a part in N.
    bool left() const { return left_; }
    bool operator==(const NullSpace&) const = default;

    /// v ← v − N Nᴴ v.
    void project(Cpu& be, std::span<S> v) const;

private:
    explicit NullSpace(Index n) : n_(n) {}
    void append(std::span<const S> v, double norm);

    Index          n_, count_ = 0;
    std::vector<S> columns_;
    bool           left_ = true;
};

/// P M⁻¹, where P = I − N Nᴴ: corrections of x have no part in N. Where Aᴴ N = 0, too, it is P M⁻¹ P, symmetric as M
/// is: a singular M may turn the rounding of r into any multiple of N.
template <Backend B, Scalar S = double>
class ProjectedPreconditioner final : public Preconditioner<B, S> {
public:
    /// @param M  must outlive this
    ProjectedPreconditioner(Preconditioner<B, S>& M, Buffer<B, S> columns, Index count, bool left)
        : M_(M), columns_(std::move(columns)), of_N_(static_cast<std::size_t>(count)), left_(left), scratch_(M.size())
    {}
    Index size() const override { return M_.size(); }
    void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        M_.apply(be, left_ ? projected(be, r) : r, z);
        project(be, z);
    }
    void apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        M_.apply_adjoint(be, projected(be, r), z);
        if (left_) project(be, z);
    }

private:
    /// v ← v − N Nᴴ v
    void project(B& be, Span<B, S> v)
    {
        multi_dot<S>(be, columns_, v, of_N_);
        for (S& c : of_N_) c = -c;
        multi_axpy<S>(be, of_N_, columns_, v);
    }
    ConstSpan<B, S> projected(B& be, ConstSpan<B, S> r)
    {
        copy<S>(be, r, scratch_);
        project(be, scratch_);
        return scratch_;
    }

    Preconditioner<B, S>& M_;
    Buffer<B, S>          columns_;
    std::vector<S>        of_N_;
    bool                  left_;
    Buffer<B, S>          scratch_;
};

}  // namespace ilux
