#pragma once
// How every target here ends where a promise is broken.

#include <cstdio>
#include <cstdlib>

namespace ilux::fuzz {

/// libFuzzer reports the abort as a finding, and keeps the input. @param promise  told before
inline void expect(bool holds, const char* promise = "")
{
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

}  // namespace ilux::fuzz
