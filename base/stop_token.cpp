#include "ilux/base/stop_token.hpp"

#include <cmath>

namespace ilux {

bool StopToken::Link::is_cancelled() const
{
    if (cancelled.load(std::memory_order_relaxed)) return true;
    if (!question || !question()) return false;
    cancelled.store(true, std::memory_order_relaxed);  // whatever the caller answers from now on
    return true;
}

StopToken StopToken::within(double seconds, std::string late) const
{
    if (std::isinf(seconds) && seconds > 0) return *this;
    auto link = std::make_shared<Link>();
    link->seconds = seconds;
    link->late = std::move(late);
    link->rest = link_;
    return StopToken(std::move(link));
}

StopToken StopToken::asking(std::function<bool()> question) const
{
    if (!question) return *this;
    auto link = std::make_shared<Link>();
    link->question = std::move(question);
    link->rest = link_;
    return StopToken(std::move(link));
}

StopReason StopToken::reason() const
{
    bool late = false;
    for (const Link* link = link_.get(); link != nullptr; link = link->rest.get()) {
        if (link->is_cancelled()) return StopReason::cancelled;
        late = late || link->is_late();
    }
    return late ? StopReason::time_limit : StopReason::none;
}

void StopToken::check() const
{
    const StopReason why = reason();
    if (why == StopReason::none) return;
    if (why == StopReason::cancelled) throw Cancelled("stopped on request");
    for (const Link* link = link_.get(); link != nullptr; link = link->rest.get())
        if (link->is_late()) throw OutOfTime(link->late);
}

}  // namespace ilux
