#pragma once
// What a Krylov method sees of A and of M: two products each, as virtual calls. Beside them only c_api/session.hpp has
// any.

#include <span>
#include <string>
#include <vector>

#include "ilux/base/backend.hpp"
#include "ilux/base/error.hpp"

namespace ilux {

/// y ← A x and y ← Aᴴ x for a square A of order size(), of S as x and y are. The adjoint Aᴴ is the conjugate transpose:
/// what BiCG and least squares need; Aᵀ for real S. Immutable: may serve several threads at once.
template <Backend B, Scalar S = double>
class LinearOperator {
public:
    virtual ~LinearOperator() = default;
    virtual Index size() const = 0;
    virtual void  apply(B& be, ConstSpan<B, S> x, Span<B, S> y) const = 0;
    virtual void  apply_adjoint(B& be, ConstSpan<B, S> x, Span<B, S> y) const = 0;
};

/// z ← M⁻¹ r and z ← M⁻ᴴ r. An object holds its own scratch memory, so it serves one thread or stream at a time;
/// the factors behind it are shared and immutable. r and z do not overlap. Only apply_columns may allocate: room that
/// it keeps.
template <Backend B, Scalar S = double>
class Preconditioner {
public:
    virtual ~Preconditioner() = default;
    virtual Index size() const = 0;
    virtual void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) = 0;
    virtual void  apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) = 0;
    /// Z ← M⁻¹ R for the columns of an n × k matrix, one after another in memory; each as apply() does it, up to
    /// rounding. Takes the time of k calls of apply() unless M has a better way.
    /// @throws InvalidInput unless R and Z have k times size() values each
    virtual void apply_columns(B& be, ConstSpan<B, S> R, Span<B, S> Z)
    {
        const auto n = static_cast<std::size_t>(size()), columns = columns_of(R.size(), Z.size());
        for (std::size_t c = 0; c < columns; ++c) apply(be, R.subspan(c * n, n), Z.subspan(c * n, n));
    }

protected:
    /// k. @throws InvalidInput
    std::size_t columns_of(std::size_t values_of_R, std::size_t values_of_Z) const
    {
        const auto n = static_cast<std::size_t>(size());
        require(values_of_Z == values_of_R && (n == 0 ? values_of_R == 0 : values_of_R % n == 0), [&] {
            return "R has " + std::to_string(values_of_R) + " values and Z " + std::to_string(values_of_Z) +
                   "; the preconditioner is of order " + std::to_string(n);
        });
        return n == 0 ? 0 : values_of_R / n;
    }
};

/// r ← b − A x; returns ‖r‖₂.
template <Backend B, Scalar S = double>
real_of<S> residual(B& be, const LinearOperator<B, S>& A, ConstSpan<B, NotDeduced<S>> x, ConstSpan<B, NotDeduced<S>> b,
                    Span<B, NotDeduced<S>> r)
{
    A.apply(be, x, r);
    axpby<S>(be, 1, b, -1, r);
    return norm2<S>(be, ConstSpan<B, S>(r));
}

/// M = I.
template <Backend B, Scalar S = double>
class Identity final : public Preconditioner<B, S> {
public:
    explicit Identity(Index n) : n_(n) {}
    Index size() const override { return n_; }
    void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) override { copy<S>(be, r, z); }
    void  apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) override { copy<S>(be, r, z); }

private:
    Index n_;
};

/// M turned round, for systems with Aᴴ: z ← M⁻ᴴ r where M has z ← M⁻¹ r, and the other way.
template <Backend B, Scalar S = double>
class AdjointPreconditioner final : public Preconditioner<B, S> {
public:
    /// @param M  must outlive this
    explicit AdjointPreconditioner(Preconditioner<B, S>& M) : M_(M) {}
    Index size() const override { return M_.size(); }
    void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) override { M_.apply_adjoint(be, r, z); }
    void  apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) override { M_.apply(be, r, z); }

private:
    Preconditioner<B, S>& M_;
};

/// 1/d_i; of powers of two without rounding.
inline std::vector<double> inverses_of(std::span<const double> d)
{
    std::vector<double> inverse(d.begin(), d.end());
    for (double& one : inverse) one = 1 / one;
    return inverse;
}

/// D A for a diagonal D: rows of A times numbers.
template <Backend B, Scalar S = double>
class RowScaledOperator final : public LinearOperator<B, S> {
public:
    /// @param d  n, real numbers; it and A must outlive this
    RowScaledOperator(const LinearOperator<B, S>& A, ConstSpan<B, S> d) : A_(A), d_(d), scratch_(d.size()) {}
    Index size() const override { return A_.size(); }
    void  apply(B& be, ConstSpan<B, S> x, Span<B, S> y) const override
    {
        A_.apply(be, x, y);
        multiply<S>(be, d_, ConstSpan<B, S>(y), y);
    }
    void apply_adjoint(B& be, ConstSpan<B, S> x, Span<B, S> y) const override
    {
        multiply<S>(be, d_, x, scratch_);
        A_.apply_adjoint(be, scratch_, y);
    }

private:
    const LinearOperator<B, S>& A_;
    ConstSpan<B, S>             d_;
    mutable Buffer<B, S>        scratch_;
};

/// The preconditioner D M of D A: z ← M⁻¹ D⁻¹ r.
template <Backend B, Scalar S = double>
class RowScaledPreconditioner final : public Preconditioner<B, S> {
public:
    /// @param inverse  n, the diagonal of D⁻¹, real numbers; it and M must outlive this
    RowScaledPreconditioner(Preconditioner<B, S>& M, ConstSpan<B, S> inverse)
        : M_(M), inverse_(inverse), scratch_(inverse.size())
    {}
    Index size() const override { return M_.size(); }
    void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        multiply<S>(be, inverse_, r, scratch_);
        M_.apply(be, scratch_, z);
    }
    void apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        M_.apply_adjoint(be, r, z);
        multiply<S>(be, inverse_, ConstSpan<B, S>(z), z);
    }

private:
    Preconditioner<B, S>& M_;
    ConstSpan<B, S>       inverse_;
    Buffer<B, S>          scratch_;
};

}  // namespace ilux
