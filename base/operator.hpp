#pragma once
// What a Krylov method sees of A and of M: two products each. These are the library's only virtual calls.

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

}  // namespace ilux
