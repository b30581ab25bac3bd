#pragma once
// The border between C++ and C: no exception passes, each becomes a status and words.

#include <new>
#include <string>

#include "ilux/c_api/ilux.h"

namespace ilux::c_api {

/// Words that stay until the next call. Lack of memory is told without any.
class Words {
public:
    void        clear() noexcept;
    void        say(const std::string& text) noexcept;
    void        say_out_of_memory() noexcept { out_of_memory_ = true; }
    const char* text() const noexcept { return out_of_memory_ ? "out of memory" : text_.c_str(); }

private:
    std::string text_;
    bool        out_of_memory_ = false;
};

/// The status of the exception under way, whose words are said.
int status_of_exception(Words& words) noexcept;

/// What `work` returns, or the status of what it throws.
template <class Work>
int guarded(Words& words, Work&& work) noexcept
{
    words.clear();
    try {
        return work();
    } catch (...) {
        return status_of_exception(words);
    }
}

/// Of calls that have no object to ask, for each thread its own.
Words& words_of_thread() noexcept;

}  // namespace ilux::c_api
