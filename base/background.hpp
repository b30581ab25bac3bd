#pragma once
// Work beside other work.

#include <future>
#include <system_error>

namespace ilux {

/// Runs work() in a thread of its own; where the system gives none, when get() or wait() is called.
template <class Work>
std::future<void> in_background(const Work& work)
{
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
}

}  // namespace ilux
