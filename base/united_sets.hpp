#pragma once
// Sets that threads unite at once (union-find).

#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// Sets of numbers that threads unite at once. The largest of a set is its root.
class UnitedSets {
public:
    explicit UnitedSets(std::size_t count) : up_(count) { std::iota(up_.begin(), up_.end(), 0); }

    /// @return the root of both
    Index unite(Index a, Index b)
    {
        for (;;) {
            a = root(a);
            b = root(b);
            if (a == b) return a;
            if (a > b) std::swap(a, b);
            if (Index expected = a; std::atomic_ref(up_[a]).compare_exchange_weak(expected, b)) return b;
        }
    }
    /// Paths are halved; another thread may have shortened them further.
    Index root(Index a)
    {
        for (Index up = at(a); up != a; up = at(a)) {
            const Index next = at(up);
            std::atomic_ref(up_[a]).store(next, std::memory_order_relaxed);
            a = next;
        }
        return a;
    }
    Index at(Index a) { return std::atomic_ref(up_[a]).load(std::memory_order_relaxed); }
    /// Once all are united: at(a) is the root from now on.
    void flatten()
    {
        for (std::size_t a = up_.size(); a-- > 0;) up_[a] = up_[up_[a]];
    }

private:
    std::vector<Index> up_;
};

}  // namespace ilux
