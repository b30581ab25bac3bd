#pragma once
// What a Krylov method sees of A and of M: two products each. These are the library's only virtual calls.

#include <span>
#include <vector>

#include "ilux/base/backend.hpp"

namespace ilux {

/// y ← A x and y ← Aᵀ x for a square A of order size(). Immutable: may serve several threads at once.
template <Backend B>
class LinearOperator {
public:
    virtual ~LinearOperator() = default;
    virtual Index size() const = 0;
    virtual void  apply(B& be, ConstSpan<B> x, Span<B> y) const = 0;
    virtual void  apply_transpose(B& be, ConstSpan<B> x, Span<B> y) const = 0;
};

/// z ← M⁻¹ r and z ← M⁻ᵀ r. An object holds its own scratch memory, so it serves one thread or stream at a time;
/// the factors behind it are shared and immutable. r and z do not overlap. Nothing is allocated in a call.
template <Backend B>
class Preconditioner {
public:
    virtual ~Preconditioner() = default;
    virtual Index size() const = 0;
    virtual void  apply(B& be, ConstSpan<B> r, Span<B> z) = 0;
    virtual void  apply_transpose(B& be, ConstSpan<B> r, Span<B> z) = 0;
};

/// r ← b − A x; returns ‖r‖₂.
template <Backend B>
double residual(B& be, const LinearOperator<B>& A, ConstSpan<B> x, ConstSpan<B> b, Span<B> r)
{
    A.apply(be, x, r);
    axpby(be, 1, b, -1, r);
    return norm2(be, ConstSpan<B>(r));
}

/// M = I.
template <Backend B>
class Identity final : public Preconditioner<B> {
public:
    explicit Identity(Index n) : n_(n) {}
    Index size() const override { return n_; }
    void  apply(B& be, ConstSpan<B> r, Span<B> z) override { copy(be, r, z); }
    void  apply_transpose(B& be, ConstSpan<B> r, Span<B> z) override { copy(be, r, z); }

private:
    Index n_;
};

/// 1/d_i; of powers of two without rounding.
inline std::vector<double> inverses_of(std::span<const double> d)
{
    std::vector<double> inverse(d.begin(), d.end());
    for (double& one : inverse) one = 1 / one;
    return inverse;
}

/// D A for a diagonal D: rows of A times numbers.
template <Backend B>
class RowScaledOperator final : public LinearOperator<B> {
public:
    /// @param d  n; it and A must outlive this
    RowScaledOperator(const LinearOperator<B>& A, ConstSpan<B> d) : A_(A), d_(d), scratch_(d.size()) {}
    Index size() const override { return A_.size(); }
    void  apply(B& be, ConstSpan<B> x, Span<B> y) const override
    {
        A_.apply(be, x, y);
        multiply(be, d_, ConstSpan<B>(y), y);
    }
    void apply_transpose(B& be, ConstSpan<B> x, Span<B> y) const override
    {
        multiply(be, d_, x, scratch_);
        A_.apply_transpose(be, scratch_, y);
    }

private:
    const LinearOperator<B>& A_;
    ConstSpan<B>             d_;
    mutable Buffer<B>        scratch_;
};

/// The preconditioner D M of D A: z ← M⁻¹ D⁻¹ r.
template <Backend B>
class RowScaledPreconditioner final : public Preconditioner<B> {
public:
    /// @param inverse  n, the diagonal of D⁻¹; it and M must outlive this
    RowScaledPreconditioner(Preconditioner<B>& M, ConstSpan<B> inverse)
        : M_(M), inverse_(inverse), scratch_(inverse.size())
    {}
    Index size() const override { return M_.size(); }
    void  apply(B& be, ConstSpan<B> r, Span<B> z) override
    {
        multiply(be, inverse_, r, scratch_);
        M_.apply(be, scratch_, z);
    }
    void apply_transpose(B& be, ConstSpan<B> r, Span<B> z) override
    {
        M_.apply_transpose(be, r, z);
        multiply(be, inverse_, ConstSpan<B>(z), z);
    }

private:
    Preconditioner<B>& M_;
    ConstSpan<B>       inverse_;
    Buffer<B>          scratch_;
};

}  // namespace ilux
