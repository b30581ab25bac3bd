#pragma once
// Progress of a long call, told to whoever asked. The library itself never prints.

#include <functional>

#include "ilux/base/types.hpp"

namespace ilux {

/// Where a factorization or an iteration stands.
struct Progress {
    enum class Phase { setup, solve } phase;
    Index  level = 0;      ///< setup: level of the multilevel factorization, from 1
    Index  done = 0;       ///< setup: columns worked through; solve: steps
    Index  total = 0;      ///< setup: columns of this level; solve: the step limit
    double residual = 0;   ///< solve: relative residual; an estimate unless `exact`
    bool   exact = false;  ///< solve: recomputed from A, b and x
};

/// Called on the calling thread, at intervals that are short against a second but for very large or dense steps. In the
/// setup phase it may throw, which breaks the setup off: the exception passes through to the caller. In the solve phase
/// it must not throw. Empty: nobody listens.
using Monitor = std::function<void(const Progress&)>;

/// Asked every few milliseconds by work that may be given up, on any of its threads and by several at once. What it throws
/// ends the work and reaches the caller. Empty: nothing ends it.
using Checkpoint = std::function<void()>;

/// Asks a checkpoint at every 2^14th step of a loop.
class Steps {
public:
    explicit Steps(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
    explicit Steps(Checkpoint&&) = delete;  // it must outlive the loop
    void operator()()
    {
        if ((++count_ & 0x3fff) == 0 && checkpoint_) checkpoint_();
    }

private:
    const Checkpoint& checkpoint_;
    unsigned          count_ = 0;
};

}  // namespace ilux
