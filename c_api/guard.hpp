#pragma once
// The border between C++ and C: no exception passes, each becomes a status and a message.

#include <new>
#include <string>

#include "ilux/c_api/ilux.h"

namespace ilux::c_api {

/// Why the last call failed. Lack of memory is told without any memory.
class Message {
public:
    void        clear() noexcept;
    void        set(const std::string& text) noexcept;
    void        set_out_of_memory() noexcept { out_of_memory_ = true; }
    const char* text() const noexcept { return out_of_memory_ ? "out of memory" : text_.c_str(); }

private:
    std::string text_;
    bool        out_of_memory_ = false;
};

/// Sets the message of the exception under way. @return its status
int status_of_exception(Message& message) noexcept;

/// What `work` returns, or the status of what it throws.
template <class Work>
int guarded(Message& message, Work&& work) noexcept
{
    message.clear();
    try {
        return work();
    } catch (...) {
        return status_of_exception(message);
    }
}

/// The message of calls that have no object to ask; each thread has its own.
Message& message_of_thread() noexcept;

}  // namespace ilux::c_api
