#pragma once
// What either strategy has cost in this very series.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace ilux {

/// What need not be tried rests for 1, 2, 4, … systems after failures in a row.
class Pause {
public:
    /// Counts a system. @return whether it is to be tried for that one
    bool try_next()
    {
        if (left_ == 0) return true;
        --left_;
        return false;
    }
    void after_success()
    {
        left_ = 0;
        next_ = 1;
    }
    void after_failure()
    {
        if (left_ > 0) return;  // tried without asking, as nothing else was left
        left_ = next_;
        next_ *= 2;
    }

private:
    std::int64_t left_ = 0, next_ = 1;  // systems
};

/// One strategy, over the systems so far. One system that the machine has interrupted does not change the picture.
struct StrategyRecord {
    double seconds = std::numeric_limits<double>::quiet_NaN();  ///< a system without its setup; later ones count more
    double with_setup = 0;                                      ///< seconds of the last system that had one
    bool   set_up = false;                                      ///< it has factors of an earlier system
    Pause  pause;  ///< since the other strategy had to solve what this one could not

    bool measured() const { return !std::isnan(seconds); }
    void add(double seconds_of_one)
    {
        constexpr double most = 3;  // times what was measured: where systems do cost more, the next ones say so, too
        if (!std::exchange(set_up, true)) {
            with_setup = seconds_of_one;
            return;  // nor is it a success: its later right-hand sides are to come
        }
        seconds = measured() ? (seconds + std::min(seconds_of_one, most * seconds)) / 2
                             : std::min(seconds_of_one, with_setup);
        pause.after_success();
    }
};

}  // namespace ilux
