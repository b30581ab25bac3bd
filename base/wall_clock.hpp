#pragma once
// Seconds that pass.

#include <chrono>

namespace ilux {

/// Seconds since it was made, or since its last lap.
class WallClock {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    /// seconds(), and from now on counts anew.
    double lap()
    {
        const auto before = start_;
        start_ = Clock::now();
        return std::chrono::duration<double>(start_ - before).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace ilux
