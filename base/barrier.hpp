#pragma once
// Meeting points of a team of threads inside one parallel region.

#include <atomic>
#include <thread>

namespace ilux {

/// Tells the processor that this is a loop that waits.
inline void relax()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Polls ready() `polls` times; then gives the processor away between polls. Where other programs want it, each time
/// costs milliseconds, so `polls` should outlast what is usually waited for.
template <class Ready>
void spin_until(Ready&& ready, int polls = 500)
{
    for (int spins = 0; !ready(); ++spins) {
        if (spins > 50) relax();
        if (spins > polls) std::this_thread::yield();
    }
}

/// A barrier that gives its processor away after a short spin. OpenMP's own spins for milliseconds: where other
/// programs hold the processors that the rest of the team needs, 300 of them took seconds, and these some tens of
/// milliseconds.
class YieldingBarrier {
public:
    void wait(int team)
    {
        const unsigned round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == team) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        spin_until([&] { return round_.load(std::memory_order_acquire) != round; });
    }

private:
    std::atomic<int>      arrived_{0};
    std::atomic<unsigned> round_{0};
};

}  // namespace ilux
