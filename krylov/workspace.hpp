#pragma once
// The vectors of a short recurrence.

#include <array>

#include "ilux/base/progress.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/krylov/stopping.hpp"

namespace ilux {

/// `count` vectors of n values. Made once, used by one solve at a time.
template <Backend B, Scalar S, int count>
class VectorWorkspace {
public:
    /// @throws InvalidOption when opt is out of range
    VectorWorkspace(Index n, const KrylovOptions& opt) : n_(n)
    {
        validate(opt);
        for (auto& vector : vectors_) vector = Buffer<B, S>(n);
    }
    Index size() const { return n_; }
    /// All vectors: `auto [r, z, p, q, best] = ws.all();`
    std::array<Span<B, S>, count> all()
    {
        std::array<Span<B, S>, count> spans;
        for (int i = 0; i < count; ++i) spans[i] = vectors_[i];
        return spans;
    }

private:
    Index                           n_;
    std::array<Buffer<B, S>, count> vectors_;
};

}  // namespace ilux
