#pragma once
// The one way to end long work early: cancelled by another thread or a signal, past a time limit, or asked by a
// callback.

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/wall_clock.hpp"

namespace ilux {

/// Whether work is to go on, and why not.
enum class StopReason { none, cancelled, time_limit };

/// What long work asks every few milliseconds. Cheap to copy; any number of threads may ask at once. The default never
/// stops. Once it says to stop it always does.
class StopToken {
public:
    StopToken() = default;

    /// This token, and a limit of `seconds` from now. Infinite: this token. @param late  what OutOfTime then says
    StopToken within(double seconds, std::string late = "the time limit was reached") const;
    /// This token, and a question to the caller: true means stop. Several threads may ask it at once; it must not
    /// throw.
    StopToken asking(std::function<bool()> question) const;

    /// Whether anything can stop the work.
    bool possible() const { return link_ != nullptr; }
    /// `cancelled` comes before `time_limit`. Cost: an atomic read and a clock reading for each part.
    StopReason reason() const;
    bool       stopped() const { return reason() != StopReason::none; }
    /// @throws Cancelled, OutOfTime
    void check() const;

private:
    friend class StopSource;
    /// One reason to stop, and the token that it was added to.
    struct Link {
        mutable std::atomic<bool>   cancelled = false;
        std::function<bool()>       question = {};
        double                      seconds = std::numeric_limits<double>::infinity();
        std::string                 late = {};
        WallClock                   clock = {};
        std::shared_ptr<const Link> rest = {};

        bool is_cancelled() const;
        bool is_late() const { return clock.seconds() > seconds; }
    };
    explicit StopToken(std::shared_ptr<const Link> link) : link_(std::move(link)) {}

    std::shared_ptr<const Link> link_;
};

/// Cancels what asks its token.
class StopSource {
public:
    StopSource() : link_(std::make_shared<StopToken::Link>()) {}
    StopToken token() const { return StopToken(link_); }
    /// From any thread, and from a signal handler.
    void request_stop() noexcept { link_->cancelled.store(true, std::memory_order_relaxed); }

private:
    std::shared_ptr<StopToken::Link> link_;
};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets one

/// How a report tells it. @param reason  not `none`
inline Outcome outcome_of(StopReason reason)
{
    ILUX_ASSERT(reason != StopReason::none);
    return reason == StopReason::cancelled ? Outcome::cancelled : Outcome::time_limit;
}

/// Asks a token at every 2^14th step of a loop.
class Steps {
public:
    explicit Steps(const StopToken& stop) : stop_(stop) {}
    explicit Steps(StopToken&&) = delete;  // it must outlive the loop
    /// @throws Cancelled, OutOfTime
    void operator()()
    {
        if ((++count_ & 0x3fff) == 0) stop_.check();
    }

private:
    const StopToken& stop_;
    unsigned         count_ = 0;
};

}  // namespace ilux
