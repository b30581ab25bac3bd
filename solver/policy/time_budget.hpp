#pragma once
// The seconds that one system may take.

#include <algorithm>

#include "ilux/base/wall_clock.hpp"

namespace ilux {

/// Over several calls: time between them does not count.
class TimeBudget {
public:
    void   restart() { spent_ = 0; }
    void   enter() { clock_ = WallClock(); }
    void   leave() { spent_ += clock_.seconds(); }
    void   at_least(double seconds) { spent_ = std::max(spent_, seconds); }
    double elapsed() const { return spent_ + clock_.seconds(); }

private:
    double    spent_ = 0;
    WallClock clock_;
};

}  // namespace ilux
