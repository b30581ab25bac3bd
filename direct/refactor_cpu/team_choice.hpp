#pragma once
// Whether a team of threads is worth waking for the next refactorization, by the seconds that earlier ones took.

#include <algorithm>

namespace ilux::detail {

/// A team waits for its last member. On processors that other programs hold as well that takes milliseconds, in which
/// the rest spins, while one thread may need a fraction of one for all the work. So after some runs of the team that
/// were slower than one thread, one thread works alone for a while, twice as long each time in which the team is no
/// faster. Results do not depend on it: they have the same bits for any number of threads.
class TeamChoice {
public:
    /// @param alone  what a model expects of one thread, in seconds; it counts until one thread was measured
    explicit TeamChoice(double alone = 0) : alone_(allowance * alone) {}

    bool wants_team() const { return rest_ == 0; }

    void team_took(double seconds)
    {
        if (seconds <= alone_) {
            slow_ = 0;
            next_rest_ = std::max(first_rest, next_rest_ / 2);
        } else if (++slow_ >= patience) {
            slow_ = patience - 1;  // after the rest one slow run is enough
            rest_ = next_rest_;
            next_rest_ = std::min(longest_rest, 2 * next_rest_);
        }
    }

    void one_took(double seconds)
    {
        if (rest_ > 0) --rest_;
        alone_ = measured_ ? alone_ + (seconds - alone_) / 4 : seconds;
        measured_ = true;
    }

private:
    static constexpr double allowance = 2;  // the model does not know the machine
    static constexpr int    patience = 3, first_rest = 8, longest_rest = 1024;

    double alone_;  ///< seconds of one thread
    bool   measured_ = false;
    int    slow_ = 0, rest_ = 0, next_rest_ = first_rest;
};

}  // namespace ilux::detail
